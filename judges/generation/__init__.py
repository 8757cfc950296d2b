"""Texts that a model writes for a study: planned as rows, approved and sent as runs are, and taken in by a person."""

from judges.generation.acceptance import CannotAccept, Terms, accept, approve_measures
from judges.generation.plans import GenerationOrder, GenerationPlan, plan, write
from judges.generation.separation import SharedFamily, find_shared_families

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
