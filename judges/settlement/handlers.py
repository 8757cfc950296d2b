"""Calls that ask for no answer of a rater: the code that writes such calls says what their replies mean.

They are sent, paid for and kept as all others. The laboratory registers a handler for each kind that it writes, so that
nothing of the engine imports from it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from judges import parsing
from judges.models import Call, Run
from judges.providers import Completion


@dataclass(frozen=True)
class SettledReply:
    """A reply to a call of a handler's kind, and in which state it ended the call. findings : what was read in it"""

    call: Call
    completion: Completion
    state: Call.State
    findings: dict[str, Any] = field(default_factory=dict)


class CannotFinish(Exception):
    """A run is over, and what was to come of it did not. sentence : in English, with places for the values"""

    def __init__(self, sentence: str, **values: str | int) -> None:
        super().__init__(sentence)
        self.sentence, self.values = sentence, values


class ReplyHandler:
    """What becomes of the replies to calls of one kind. One of each is registered when Django starts."""

    kind: ClassVar[Call.Kind]

    def read(self, call: Call, completion: Completion) -> dict[str, Any] | parsing.Failure:
        """What the reply says; or why it says nothing."""
        raise NotImplementedError

    def follow(self, replies: Sequence[SettledReply]) -> None:
        """Do what follows from replies, in the transaction that keeps them."""

    def finish(self, run: Run, *, at: datetime) -> None:
        """Do what is left when a run is over, of whatever kind its calls are. Raises CannotFinish: then it waits."""


_handlers: dict[str, ReplyHandler] = {}


def register(handler: ReplyHandler) -> None:
    """Have replies to calls of its kind handled by it."""
    _handlers[handler.kind] = handler


def find_handler(kind: str) -> ReplyHandler | None:
    """The handler of calls of this kind; None where replies are answers, or are read by the engine itself."""
    return _handlers.get(kind)


def all_handlers() -> list[ReplyHandler]:
    """Every handler, in the order in which they were registered."""
    return list(_handlers.values())
