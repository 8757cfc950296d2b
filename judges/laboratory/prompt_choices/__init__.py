"""Choosing a prompt for pairs: tried on some of them, decided by agreement with people, used on the others."""

from judges.laboratory.prompt_choices.choices import (
    PRESELECTED,
    USUAL_SHARE,
    TrialsPreview,
    add_up,
    approve,
    compare,
    decide,
    discard,
    divide_budget,
    find_due,
    find_same,
    load_accuracy,
    plan,
    preview,
    preview_chosen,
    start_chosen,
)

__all__ = [
    "PRESELECTED",
    "USUAL_SHARE",
    "TrialsPreview",
    "add_up",
    "approve",
    "compare",
    "decide",
    "discard",
    "divide_budget",
    "find_due",
    "find_same",
    "load_accuracy",
    "plan",
    "preview",
    "preview_chosen",
    "start_chosen",
]
