"""JSON of other tools: tasks with what each rater said of them, as one row a task or one row a judgement."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from studies.incoming_tables.encodings import DecodedWords
from studies.incoming_tables.errors import UnreadableFile
from studies.incoming_tables.formats.base import FileFormat
from studies.incoming_tables.formats.json_lines import as_plain, read_json_lines
from studies.incoming_tables.formats.json_values import JsonWords
from studies.incoming_tables.formats.tools import Tool, all_tools
from studies.incoming_tables.formats.tools.base import AnnotatedTask
from studies.incoming_tables.readings import GUESSED, FileReading, ReadingChoices
from studies.incoming_tables.tables import IncomingTable, TableKind, check_length

LONGEST_FACT = 1_000  # characters of what is said of a story in each row of several judgements


def read_tool_json(name: str, content: bytes, kind: TableKind, choices: ReadingChoices = GUESSED) -> IncomingTable:
    """The rows in a tool's JSON; of a file that cannot be read as the tool's, what the general reader says."""
    decoded = DecodedWords(choices.encoding)
    words = decoded.decode(content, name)
    tool = _find_tool(words)
    rows: list[tuple[Mapping[str, Any], Mapping[str, Any]]] = []
    try:
        for entry in _entries(words, kind):
            tasks = tool.unpack(entry) if tool and isinstance(entry, dict) else None
            if tasks is None:
                return read_json_lines(name, content, kind, choices)
            for task in tasks:
                rows += [(task.facts, {})] if kind.has_stories else _pair_with_facts(task)
                check_length(len(rows), kind)
    except UnreadableFile:
        raise
    except (ValueError, RecursionError):
        return read_json_lines(name, content, kind, choices)
    if tool is None or not rows:
        raise UnreadableFile(str(kind.no_rows))
    answered = {column for _facts, judgement in rows for column in judgement}
    lines = "\n".join(
        json.dumps({column: fact for column, fact in facts.items() if column not in answered} | {**judgement})
        for facts, judgement in rows
    )
    table = tool.tidy(read_json_lines(name, lines.encode(), kind), kind)
    unsure = ("encoding",) if decoded.guessed else ()
    reading = FileReading(ReadingChoices(encoding=decoded.encoding), choices, unsure=unsure)
    return replace(table, encoding=decoded.doubtful_encoding, reading=reading)


def _pair_with_facts(task: AnnotatedTask) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Each judgement with the facts, without long ones such as the text itself if they would be there again."""
    facts = task.facts
    if len(task.judgements) > 1:
        facts = {column: fact for column, fact in facts.items() if len(str(fact)) <= LONGEST_FACT}
    return [(facts, judgement) for judgement in task.judgements]


def _entries(words: str, kind: TableKind) -> Iterator[Any]:
    """The objects of a list, of lines, or the one of the file. Raises InvalidValue, RecursionError."""
    values = JsonWords(words, most_values=kind.most_rows)
    at = values.skip_blanks(0)
    if values.sign_at(at) == "[":
        for value, end in values.list_values(at):
            yield as_plain(value)
            at = end
        at = values.skip_blanks(values.skip_blanks(at) + 1)
        if at < len(words):
            raise values.fault("Extra data", at)
        return
    while at < len(words):
        value, end = values.read_value(at)
        yield as_plain(value)
        at = values.skip_blanks(end)


def _find_tool(words: str) -> type[Tool] | None:
    """The tool that wrote the first object."""
    start = words.find("{")
    if start < 0 or words[:start].strip(" \t\r\n[\ufeff"):
        return None
    with suppress(ValueError, RecursionError):
        first = as_plain(JsonWords(words, most_values=1).read_value(start)[0])
        return next((tool for tool in all_tools().values() if tool.unpack(first) is not None), None)
    return None


class ToolJsonFormat(FileFormat):
    name = "tool-json"
    suffixes = (".jsonl", ".json")
    is_of_one_tool = True
    read = staticmethod(read_tool_json)
    read_as = staticmethod(read_tool_json)

    @staticmethod
    def recognises(content: bytes) -> bool:
        with suppress(UnreadableFile):
            return _find_tool(DecodedWords().decode(content, "")) is not None
        return False
