"""JSON of other tools: tasks with what each rater said of them, as one row a task or one row a judgement."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from studies.incoming_tables.encodings import DecodedWords
from studies.incoming_tables.errors import UnreadableFile
from studies.incoming_tables.formats.base import FileFormat
from studies.incoming_tables.formats.json_lines import read_json_lines
from studies.incoming_tables.formats.tools import Tool, all_tools
from studies.incoming_tables.tables import IncomingTable, TableKind

_DECODER = json.JSONDecoder()


def read_tool_json(name: str, content: bytes, kind: TableKind) -> IncomingTable:
    """The rows in a tool's JSON; of a file that cannot be read as the tool's, what the general reader says."""
    words = DecodedWords().decode(content, name)
    tool = _find_tool(words)
    rows: list[Mapping[str, Any]] = []
    try:
        for entry in _entries(words):
            tasks = tool.unpack(entry) if tool and isinstance(entry, dict) else None
            if tasks is None:
                return read_json_lines(name, content, kind)
            for task in tasks:
                rows += (
                    [task.facts] if kind.has_stories else [{**task.facts, **judgement} for judgement in task.judgements]
                )
    except (ValueError, RecursionError):
        return read_json_lines(name, content, kind)
    if tool is None or not rows:
        raise UnreadableFile(str(kind.no_rows))
    lines = "\n".join(json.dumps(row) for row in rows)
    return tool.tidy(read_json_lines(name, lines.encode(), kind), kind)


def _entries(words: str) -> Iterator[Any]:
    """The objects of a list, of lines, or the one of the file. Raises ValueError, RecursionError."""
    if words.lstrip().startswith("["):
        yield from json.loads(words)
        return
    at, end = 0, len(words)
    while at < end:
        if words[at].isspace():
            at += 1
            continue
        entry, at = _DECODER.raw_decode(words, at)
        yield entry


def _find_tool(words: str) -> type[Tool] | None:
    """The tool that wrote the first object."""
    start = words.find("{")
    if start < 0 or words[:start].strip(" \t\r\n[\ufeff"):
        return None
    with suppress(ValueError, RecursionError):
        first, _end = _DECODER.raw_decode(words, start)
        return next((tool for tool in all_tools().values() if tool.unpack(first) is not None), None)
    return None


class ToolJsonFormat(FileFormat):
    name = "tool-json"
    suffixes = (".jsonl", ".json")
    is_of_one_tool = True
    read = staticmethod(read_tool_json)

    @staticmethod
    def recognises(content: bytes) -> bool:
        with suppress(UnreadableFile):
            return _find_tool(DecodedWords().decode(content, "")) is not None
        return False
