"""What the analysis plan compares: its outcomes, the pairs of sources that it names, and by which test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports.figures.sources.compared_parts import ContrastTable
from reports.lazy import source_contrasts

if TYPE_CHECKING:
    from reports.dataset import Dataset, OutcomeTable


def named_outcomes(dataset: Dataset) -> list[OutcomeTable]:
    """The outcomes that the plan names, the primary one first, with all of their answers."""
    plan = dataset.plan
    if plan is None:
        return []
    table_by_key = {table.outcome.key: table for table in dataset.outcomes}
    return [table_by_key[key] for key in (plan.outcome, *plan.secondary) if key in table_by_key]


def list_planned_pairs(dataset: Dataset, table: OutcomeTable) -> list[tuple[str, str]]:
    """The pairs of sources of an outcome that the plan names, in the order of sources."""
    names = [name for name, _kind in dataset.sources if table.of_source(name).any()]
    pairs = [(first, second) for n, first in enumerate(names) for second in names[n + 1 :]]
    return [pair for pair in pairs if dataset.plan is not None and dataset.plan.names(*pair)]


def choose_test(dataset: Dataset, table: OutcomeTable) -> str:
    """By what sources are compared: the plan's test on its primary outcome, of all others the model.

    Places and choices within a group sum up to the same for all raters, which the model does not know.
    """
    outcome, plan = table.outcome, dataset.plan
    if plan is not None and plan.outcome == outcome.key and plan.test != source_contrasts.BY_MODEL:
        return plan.test
    return "default" if outcome.kind in ("rank", "preference") else source_contrasts.BY_MODEL


def compare_sources(
    dataset: Dataset, table: OutcomeTable, *, test: str = "", margin: float | None = None
) -> ContrastTable:
    """Every source that has a story with a value. test : "" for that of `choose_test`"""
    units = {name: table.of_source(name) for name, _kind in dataset.sources}
    rated = {name: of_source for name, of_source in units.items() if of_source.any()}
    return ContrastTable(dataset, table, rated, test=test or choose_test(dataset, table), margin=margin)
