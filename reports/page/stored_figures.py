"""One figure of a stored report, without reading all the others."""

from __future__ import annotations

from typing import Any

from reports.figures import all_figures
from reports.figures.codec import decode
from reports.models import Report


def read_stored_figure(report: Report, key: str) -> Any:
    """The result of that figure; None where the report has nothing of it. Raises Undecodable."""
    return decode(all_figures()[key].result | None, report.result.get(key), key)
