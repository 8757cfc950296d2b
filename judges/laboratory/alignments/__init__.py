"""A judge's prompt brought nearer to experts: changed on one part of the groups, judged on the other alone."""

from judges.laboratory.alignments.held_out import check_decided, find_waiting, preview, start
from judges.laboratory.alignments.plans import (
    MOST_PROPOSALS,
    USUAL_SHARE,
    AlignmentOrder,
    AlignmentPlan,
    discard,
    load_proposal_prompt,
    plan,
    write,
)
from judges.laboratory.alignments.proposals import (
    PromptWording,
    UndecidableProposal,
    accept,
    check,
    find_reasons,
    find_shown,
    load_wording,
    refuse,
)

__all__ = [
    "MOST_PROPOSALS",
    "USUAL_SHARE",
    "AlignmentOrder",
    "AlignmentPlan",
    "PromptWording",
    "UndecidableProposal",
    "accept",
    "check",
    "check_decided",
    "discard",
    "find_reasons",
    "find_shown",
    "find_waiting",
    "load_proposal_prompt",
    "load_wording",
    "plan",
    "preview",
    "refuse",
    "start",
    "write",
]
