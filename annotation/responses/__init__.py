"""What raters answered: recorded by one function, kept with its history, ended with a receipt, proved, brought in."""

from annotation.responses.holds import ENDED, TOO_FAST, AssignmentEnded, TooManySaves
from annotation.responses.recording import (
    LETTERS,
    UNANSWERED,
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
    "TOO_FAST",
    "UNANSWERED",
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
