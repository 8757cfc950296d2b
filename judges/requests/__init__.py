"""What one call asks: an item, a step, a cloze, or whether a text is known; and how it is stored."""

from judges.requests.planned_calls import CallWords, PlannedCall

__all__ = ["CallWords", "PlannedCall"]
