"""Prodigy: the JSONL of `db-out`, an answer of one annotator in each line."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from studies.incoming_tables.formats.tools.base import LEAVE_OUT, AnnotatedTask, Tool
from studies.incoming_tables.formats.tools.options import flatten, spell
from studies.incoming_tables.tables import IncomingTable

HASH = "_input_hash"
JUDGEMENTS = ("_task_hash", "_session_id", "_view_id", "_annotator_id", "_timestamp", "accept", "answer", "options")
KEPT = ("_annotator_id", "accept", "answer")


class Prodigy(Tool):
    name = "prodigy"
    title = "Prodigy"
    roles = {
        **dict.fromkeys(("_annotator_id", "_session_id"), "rater"),
        **dict.fromkeys(("meta.story", "meta.story_id", "meta.id", HASH), "story"),
        **dict.fromkeys(("accept", "answer"), "value"),
        "_timestamp": "time",
        "text": LEAVE_OUT,
    }
    story_roles = {
        **dict.fromkeys(("meta.story", "meta.story_id", "meta.id", HASH), "code"),
        "text": "text",
    }
    left_out = {"answer": ("ignore",)}
    task_column = "text"
    prefixes = ("meta.",)

    @classmethod
    def wrote(cls, table: IncomingTable) -> bool:
        return {HASH, "answer"} <= {*table.columns}

    @classmethod
    def unpack(cls, entry: Mapping[str, Any]) -> list[AnnotatedTask] | None:
        if not {HASH, "_task_hash", "answer"} <= entry.keys():
            return None
        skipped = ("tokens", "spans", "html", "image", "config")
        facts = {name: entry[name] for name in entry if name not in JUDGEMENTS and name not in skipped}
        judgement = {name: entry[name] for name in KEPT if name in entry}
        if isinstance(entry.get("accept"), list):
            judgement["accept"] = spell(_name_options(entry["accept"], entry.get("options")))
        judgement |= {"_session_id": entry.get("_session_id"), "_timestamp": _read_time(entry.get("_timestamp"))}
        return [AnnotatedTask(flatten(facts), [judgement])]


def _name_options(accepted: list[Any], options: Any) -> list[Any]:
    """What was accepted, in the words that annotators saw where the options say them."""
    choices = [option for option in options if isinstance(option, dict)] if isinstance(options, list) else []
    text_by_id = {str(option.get("id")): option["text"] for option in choices if isinstance(option.get("text"), str)}
    return [text_by_id.get(str(name), name) for name in accepted]


def _read_time(seconds: Any) -> str:
    """The time since 1970 as importers read it; "" for what is no time."""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    except (TypeError, ValueError, OverflowError, OSError):
        return ""
