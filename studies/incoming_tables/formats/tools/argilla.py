"""Argilla: records as JSON or JSONL, nested or flat, with the responses of each user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from studies.incoming_tables.formats.tools.base import LEAVE_OUT, AnnotatedTask, Tool
from studies.incoming_tables.formats.tools.options import flatten, spell
from studies.incoming_tables.tables import IncomingTable

USER, STATUS = "user_id", "response_status"


class Argilla(Tool):
    name = "argilla"
    title = "Argilla"
    roles = {USER: "rater", "id": "story", **dict.fromkeys((STATUS, "status"), LEAVE_OUT)}
    story_roles = {"id": "code", "status": LEAVE_OUT}
    left_out = {STATUS: ("discarded", "draft")}
    prefixes = ("metadata.",)

    @classmethod
    def wrote(cls, table: IncomingTable) -> bool:
        return False  # tables of it have lists of responses in their cells, and only JSON keeps those

    @classmethod
    def unpack(cls, entry: Mapping[str, Any]) -> list[AnnotatedTask] | None:
        if isinstance(entry.get("fields"), dict) and isinstance(entry.get("responses"), dict):
            metadata = entry.get("metadata") or {}
            facts = {"id": entry.get("id"), **flatten(entry["fields"]), **flatten({"metadata": metadata})}
            return [AnnotatedTask(facts, _by_user(entry["responses"]))]
        questions = [name.removesuffix(".users") for name in entry if name.endswith(".responses.users")]
        if not questions:
            return None
        facts = {name: spell(entry[name]) for name in entry if ".responses" not in name and ".suggestion" not in name}
        responses = {name.removesuffix(".responses"): _pair_up(entry, name) for name in questions}
        return [AnnotatedTask({name: facts[name] for name in facts if not name.startswith("_")}, _by_user(responses))]


def _pair_up(entry: Mapping[str, Any], column: str) -> list[dict[str, Any]]:
    """The responses to a question that a flat record spreads over lists."""
    lists = (entry.get(f"{column}{end}") for end in (".users", "", ".status"))
    users, values, states = (part if isinstance(part, list) else [] for part in lists)
    states = states or [None] * len(users)
    return [
        {"user_id": user, "value": value, "status": state}
        for user, value, state in zip(users, values, states, strict=False)
    ]


def _by_user(responses: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What each user said, a value for each question; of users who are not named, each response apart."""
    row_by_user: dict[Any, dict[str, Any]] = {}
    for question, answers in responses.items():
        for response in answers if isinstance(answers, list) else []:
            if isinstance(response, dict):
                user = str(response.get("user_id") or "")
                row = row_by_user.setdefault(user or len(row_by_user), {USER: user})
                row[question] = spell(response.get("value"))
                if response.get("status"):
                    row[STATUS] = response["status"]
    return list(row_by_user.values())
