"""What reading a reply comes to: a verdict for each item, or one failure with its name and its reason."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

State = Literal["refused", "blocked", "truncated", "unreadable", "out_of_range"]


@dataclass(frozen=True)
class Verdict:
    """An answer that the item allows, as the model gave it (not yet cleaned), and what was said around it.

    is_marked : whether it stands in an object or after a label, so that no number of the reasons is taken for it
    """

    value: Any
    rationale: str
    is_marked: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Verdicts:
    """The verdict of each item by its key, in the order of the items. An item that may be skipped can be left out."""

    by_key: Mapping[str, Verdict]

    def __getitem__(self, key: str) -> Verdict:
        return self.by_key[key]

    @property
    def values(self) -> dict[str, Any]:
        """What was answered, by the item's key."""
        return {key: verdict.value for key, verdict in self.by_key.items()}


@dataclass(frozen=True)
class Failure:
    """A reply without a usable answer, by the name of what went wrong, with the reason in words."""

    state: State
    reason: str


class Contradiction(ValueError):
    """A reply that says two things of one item; the message says which."""
