"""What a run will ask, before anything is written: its calls and readings, what they take, what they cost."""

from judges.planning.altered_readings import can_show
from judges.planning.plans import (
    OnSeat,
    Plan,
    PlannedSeat,
    can_ask,
    check_sendable,
    estimate,
    find_usual_steps,
    keep,
    plan_run,
    select_steps,
)
from judges.planning.readings import draw_reading_orders
from judges.planning.scopes import MOST_EXAMPLES, CannotRun, Scope

__all__ = [
    "MOST_EXAMPLES",
    "CannotRun",
    "OnSeat",
    "Plan",
    "PlannedSeat",
    "Scope",
    "can_ask",
    "can_show",
    "check_sendable",
    "draw_reading_orders",
    "estimate",
    "find_usual_steps",
    "keep",
    "plan_run",
    "select_steps",
]
