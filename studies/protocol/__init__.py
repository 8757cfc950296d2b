"""The protocol of a study: its steps as raters meet them, and the version that freezes them."""

from studies.protocol.findings import Finding, Purpose, collect_findings, select_errors
from studies.protocol.frozen import DamagedProtocol, find_differences, write_document
from studies.protocol.steps import Protocol, cloze_of, items_of, read_rows
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
)

__all__ = [
    "DamagedProtocol",
    "Finding",
    "NotPlannable",
    "Protocol",
    "Purpose",
    "add_metric_step",
    "cloze_of",
    "collect_findings",
    "current",
    "draft",
    "ensure_frozen",
    "find_differences",
    "forget_protocols",
    "freeze",
    "is_frozen",
    "items_of",
    "latest",
    "load_protocol",
    "read_rows",
    "select_errors",
    "write_document",
]
