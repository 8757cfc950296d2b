"""What reading a reply comes to: a verdict for each item, or one failure with its name and its reason."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

State = Literal["refused", "blocked", "truncated", "unreadable", "out_of_range"]
# In which form a verdict stood, from the one that was asked for to the freest.
FORMS = ("", "json", "courtesy", "extra", "names", "boolean", "box", "option", "sentence", "last_word")


@dataclass(frozen=True)
class Verdict:
    """An answer that the item allows, as the model gave it (not yet cleaned), and what was said around it.

    is_marked : whether it stands in an object or after a label, so that no number of the reasons is taken for it
    form : one of `FORMS`
    """

    value: Any
    rationale: str
    is_marked: bool = field(default=False, compare=False)
    form: str = field(default="", compare=False)


@dataclass(frozen=True)
class Verdicts:
    """The verdict of each item by its key, in the order of the items. An item that may be skipped can be left out.

    failures : of the items that have none and need one, why, by key
    """

    by_key: Mapping[str, Verdict]
    failures: Mapping[str, "Failure"] = field(default_factory=dict)

    def __getitem__(self, key: str) -> Verdict:
        return self.by_key[key]

    @property
    def values(self) -> dict[str, Any]:
        """What was answered, by the item's key."""
        return {key: verdict.value for key, verdict in self.by_key.items()}

    @property
    def form(self) -> str:
        """The freest form in which a verdict stood."""
        return freest(verdict.form for verdict in self.by_key.values())


@dataclass(frozen=True)
class Failure:
    """A reply without a usable answer, by the name of what went wrong, with the reason in words."""

    state: State
    reason: str


class Contradiction(ValueError):
    """A reply that says two things of one item; the message says which."""


def freest(forms: Iterable[str]) -> str:
    """The form that is farthest from what was asked for."""
    return max(forms, key=FORMS.index, default="")
