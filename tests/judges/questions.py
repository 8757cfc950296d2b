"""Items as prompts and parsers read them, without a database."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Asking:
    """An item as prompts read it."""

    key: str = "ending"
    type: str = "binary"
    title: str = ""
    question: str = "Is the end earned?"
    background: str = "An end can be abrupt."
    instruction: str = "List what the end resolves."
    options: list[dict[str, Any]] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    is_skippable: bool = False
