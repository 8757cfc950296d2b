"""Potato: annotated instances as JSONL, JSON, CSV or TSV, a row for each annotator and instance."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from studies.incoming_tables.formats.tools.base import LEAVE_OUT, AnnotatedTask, Tool
from studies.incoming_tables.formats.tools.options import flatten, join_options, merge_columns
from studies.incoming_tables.tables import IncomingTable, TableKind

PART = re.compile(r"(.+?):::(.+)", re.DOTALL)
SCALE = re.compile(r"text_box|scale_[0-9]+|.*_text")  # whose cell is what was said; of others the label is


class Potato(Tool):
    name = "potato"
    title = "Potato"
    roles = {
        **dict.fromkeys(("user", "user_id"), "rater"),
        "instance_id": "story",
        "displayed_text": LEAVE_OUT,
    }
    story_roles = {
        "instance_id": "code",
        "displayed_text": "text",
        "user": LEAVE_OUT,
        "user_id": LEAVE_OUT,
    }
    task_column = "instance_id"

    @classmethod
    def wrote(cls, table: IncomingTable) -> bool:
        has_labels = any(map(PART.fullmatch, table.columns)) or "displayed_text" in table.columns
        return "instance_id" in table.columns and bool({"user", "user_id"} & {*table.columns}) and has_labels

    @classmethod
    def unpack(cls, entry: Mapping[str, Any]) -> list[AnnotatedTask] | None:
        labels = entry.get("label_annotations")
        if "instance_id" not in entry or not isinstance(labels, dict):
            return None
        facts = {"instance_id": entry["instance_id"], "displayed_text": entry.get("displayed_text")}
        facts |= flatten(entry["meta"]) if isinstance(entry.get("meta"), dict) else {}
        judgement = {"user": entry.get("user", entry.get("user_id"))}
        for question, chosen in labels.items():
            judgement[question] = _join(chosen if isinstance(chosen, dict) else {"text_box": chosen})
        return [AnnotatedTask({name: value for name, value in facts.items() if value is not None}, [judgement])]

    @classmethod
    def reshape(cls, table: IncomingTable, kind: TableKind) -> IncomingTable:
        """With one column a question, in place of one for each of its labels."""
        parts = {at: match for at, column in enumerate(table.columns) if (match := PART.fullmatch(column))}
        questions = list(dict.fromkeys(match[1] for match in parts.values()))

        def answer(cells: tuple[str, ...]) -> list[str]:
            chosen: dict[str, dict[str, str]] = {question: {} for question in questions}
            for at, match in parts.items():
                if cells[at].strip():
                    chosen[match[1]][match[2]] = cells[at].strip()
            return [_join(labels) for labels in chosen.values()]

        return merge_columns(table, {*parts}, questions, answer)


def _join(chosen: Mapping[str, Any]) -> str:
    """What was said to a question, by label: the labels that were chosen, or the words and the point of a scale."""
    return join_options(str(value) if SCALE.fullmatch(label) else label for label, value in chosen.items() if value)
