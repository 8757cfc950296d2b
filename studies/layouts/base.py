"""What a layout is. No models here: a step is anything that has these attributes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol


class LaidOut(Protocol):
    """What a layout reads of a step. `studies.models.Step` has it."""

    @property
    def key(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def scope(self) -> str: ...
    @property
    def options(self) -> Any: ...
    @property
    def instrument(self) -> Any: ...


class Layout:
    """One way to lay out a step. Subclasses are discovered; one instance of each serves all steps.

    A subclass gives `key`, and overrides what differs.
    """

    key: ClassVar[str]  # what `Step.layout` says; `studies.vocabulary.StepLayout` has its label
    fills_text: ClassVar[bool] = False  # its answers are blanks of one text, which is all that a group holds
    has_own_page: ClassVar[bool] = False  # a rater meets the step on a page of its own kind, named by the key
    answers_at_once: ClassVar[bool] = False  # a model answers the whole step in one reply

    def find_fault(self, options: Mapping[str, Any], *, scope: str) -> str:
        """Why these cannot be the options of a step so laid out, asked in that scope; "" if they can."""
        return ""

    def findings(self, step: LaidOut, groups: Sequence[Any]) -> Iterator[str]:
        """What keeps the step from being asked of these groups (`GroupShape`), as sentences."""
        yield from ()
