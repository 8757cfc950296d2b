"""What raters answered: recorded by one function, kept with its history, ended with a receipt, proved, brought in."""

from annotation.responses.holds import ENDED, AssignmentEnded, TooManySaves
from annotation.responses.recording import (
    LETTERS,
    Answer,
    Entry,
    Rejection,
    Stale,
    find_shortfall,
    is_untouched,
    letters,
    record,
    record_many,
)

__all__ = [
    "ENDED",
    "LETTERS",
    "Answer",
    "AssignmentEnded",
    "Entry",
    "Rejection",
    "Stale",
    "TooManySaves",
    "find_shortfall",
    "is_untouched",
    "letters",
    "record",
    "record_many",
]
