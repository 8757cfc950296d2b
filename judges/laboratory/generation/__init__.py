"""Texts that a model writes for a study: planned as rows, approved and sent as runs are, and accepted by a person."""

from judges.laboratory.generation.acceptance import CannotAccept, Terms, accept, approve_measures
from judges.laboratory.generation.plans import GenerationOrder, GenerationPlan, plan, write
from judges.laboratory.generation.separation import SharedFamily, find_shared_families

__all__ = [
    "CannotAccept",
    "GenerationOrder",
    "GenerationPlan",
    "SharedFamily",
    "Terms",
    "accept",
    "approve_measures",
    "find_shared_families",
    "plan",
    "write",
]
