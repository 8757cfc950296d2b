"""The protocol of a study: its steps as raters meet them, and the version that freezes them."""

from studies.protocol.analysis_plans import (
    PlanFrozen,
    drafted_plan,
    find_misfits,
    find_plan_faults,
    frozen_plan,
    list_sources,
    plan_of,
    save_plan,
)
from studies.protocol.findings import collect_findings
from studies.protocol.frozen import DamagedProtocol, fill_names, find_differences, hash_rows, write_document
from studies.protocol.groups import read_story_codes, words_of_a_group
from studies.protocol.minutes import PathSegment, estimate_groups, estimate_path, minutes_in_all, minutes_of_group
from studies.protocol.outcomes import Outcome, describe_score, is_undeclared, list_outcomes
from studies.protocol.purposes import PARTS, Finding, Purpose, select_errors
from studies.protocol.sources import source_by_story
from studies.protocol.steps import DEBRIEFING, Protocol, cloze_of, has_right_answers, items_of, name_of, read_rows
from studies.protocol.versions import (
    NotPlannable,
    add_metric_step,
    current,
    draft,
    ensure_frozen,
    forget_protocols,
    freeze,
    is_frozen,
    latest,
    load_protocol,
    read_plannable,
)
from studies.protocol.warnings import check_deadline

__all__ = [
    "DEBRIEFING",
    "PARTS",
    "DamagedProtocol",
    "Finding",
    "NotPlannable",
    "Outcome",
    "PathSegment",
    "PlanFrozen",
    "Protocol",
    "Purpose",
    "add_metric_step",
    "check_deadline",
    "cloze_of",
    "collect_findings",
    "current",
    "describe_score",
    "draft",
    "drafted_plan",
    "ensure_frozen",
    "estimate_groups",
    "estimate_path",
    "fill_names",
    "find_differences",
    "find_misfits",
    "find_plan_faults",
    "forget_protocols",
    "freeze",
    "frozen_plan",
    "has_right_answers",
    "hash_rows",
    "is_frozen",
    "is_undeclared",
    "items_of",
    "latest",
    "list_outcomes",
    "list_sources",
    "load_protocol",
    "minutes_in_all",
    "minutes_of_group",
    "name_of",
    "plan_of",
    "read_plannable",
    "read_rows",
    "read_story_codes",
    "save_plan",
    "select_errors",
    "source_by_story",
    "words_of_a_group",
    "write_document",
]
