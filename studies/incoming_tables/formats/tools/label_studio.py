"""Label Studio: JSON, JSON-MIN and CSV, with a task for each story and an annotation for each rater."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from studies.incoming_tables.formats.tools.base import LEAVE_OUT, AnnotatedTask, Tool
from studies.incoming_tables.formats.tools.options import flatten, spell
from studies.incoming_tables.tables import IncomingTable, TableKind

FACTS = ("annotation_id", "created_at", "updated_at", "lead_time")
SKIPPED = "was_cancelled"
UNREAD = ("annotation_id", "updated_at", "lead_time", SKIPPED)


class LabelStudio(Tool):
    name = "label-studio"
    title = "Label Studio"
    roles = {
        "annotator": "rater",
        "id": "story",
        "created_at": "time",
        **dict.fromkeys(UNREAD, LEAVE_OUT),
    }
    story_roles = {"id": "code", **dict.fromkeys(("annotator", "created_at", *UNREAD), LEAVE_OUT)}
    left_out = {SKIPPED: ("yes",)}
    task_column = "id"
    prefixes = ("meta.",)

    @classmethod
    def wrote(cls, table: IncomingTable) -> bool:
        return {"annotator", *FACTS} <= {*table.columns}

    @classmethod
    def unpack(cls, entry: Mapping[str, Any]) -> list[AnnotatedTask] | None:
        if {"annotator", *FACTS} <= entry.keys():  # JSON-MIN
            return [AnnotatedTask({name: _take_content(value) for name, value in entry.items()}, [{}])]
        data, annotations = entry.get("data"), entry.get("annotations")
        if not isinstance(data, dict) or not isinstance(annotations, list) or "id" not in entry:
            return None
        if not all(isinstance(part, dict) and isinstance(part.get("result"), list) for part in annotations):
            return None
        facts = {"id": entry["id"], **flatten(data)}
        return [AnnotatedTask(facts, [_judge(part) for part in annotations])]

    @classmethod
    def reshape(cls, table: IncomingTable, kind: TableKind) -> IncomingTable:
        """With what was chosen in place of the JSON around it, as CSV has it where there is more than one."""
        rows = tuple((n, tuple(_read_cell(cell) for cell in cells)) for n, cells in table.rows)
        return replace(table, rows=rows)


def _judge(annotation: Mapping[str, Any]) -> dict[str, Any]:
    rater = annotation.get("completed_by", "")
    if isinstance(rater, dict):
        rater = rater.get("email") or rater.get("id", "")
    values: dict[str, list[Any]] = {}
    for region in annotation["result"]:
        if isinstance(region, dict) and isinstance(region.get("value"), dict) and "from_name" in region:
            values.setdefault(str(region["from_name"]), []).append(_take_value(region["value"]))
    facts = {name: annotation.get(name) for name in (*FACTS, SKIPPED) if name in annotation}
    answers = {name: _one(parts) for name, parts in values.items()}
    return {"annotator": rater, **facts, "annotation_id": annotation.get("id"), **answers}


def _take_value(value: Mapping[str, Any]) -> Any:
    """What was said: choices, a rating, a number, a text; of a passage all that is known."""
    contents = [part for name, part in value.items() if name not in ("start", "end")]
    is_passage = len(contents) != len(value)
    return json.dumps(value, ensure_ascii=False) if is_passage or len(contents) != 1 else spell(contents[0])


def _take_content(content: Any) -> Any:
    """A value of JSON-MIN, which has what was said in an object of one entry where it is no single choice or text."""
    parts = content if isinstance(content, list) else [content]
    if parts and all(isinstance(part, dict) and len(part) == 1 for part in parts):
        return _one([_take_value(part) for part in parts])
    return spell(content)


def _one(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else spell(values)


def _read_cell(cell: str) -> str:
    if cell.startswith(("{", "[{")):
        with suppress(ValueError, RecursionError):
            return str(_take_content(json.loads(cell)))
    return cell
