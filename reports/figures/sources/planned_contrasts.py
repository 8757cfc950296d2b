"""What the analysis plan compares: its outcomes, the pairs of sources that it names, and by which test.

A fit of the mixed model to the answers of hundreds of raters takes seconds. So what several figures say of the same
answers is fitted once, and what is only there for comparison is fitted as often as `count_fits` allows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports.dataset.exclusions import ALL_RULES, NO_RULE, leave_out
from reports.figures.sources.compared_parts import ContrastTable
from reports.lazy import np, source_contrasts

if TYPE_CHECKING:
    from reports.dataset import Dataset, OutcomeTable
    from stats.arrays import BoolArray

# A fit takes about 5 ms and 2.5 microseconds for every two columns of what a rater makes of a source; .25 s in all.
MOST_WORK, WORK_OF_A_FIT = 100_000, 2_000


def named_outcomes(dataset: Dataset) -> list[OutcomeTable]:
    """The outcomes that the plan names, the primary one first, with all of their answers."""
    plan = dataset.plan
    if plan is None:
        return []
    table_by_key = {table.outcome.key: table for table in dataset.outcomes}
    return [table_by_key[key] for key in (plan.outcome, *plan.secondary) if key in table_by_key]


def primary_outcome(dataset: Dataset) -> OutcomeTable | None:
    """The primary outcome with all of its answers; None without a plan, or if nobody has answered."""
    plan = dataset.plan
    tables = [table for table in dataset.outcomes if plan is not None and plan.outcome == table.outcome.key]
    return tables[0] if tables else None


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


def count_fits(table: OutcomeTable, dataset: Dataset) -> int:
    """How many fits of the model to the outcome's answers may be made for comparison alone."""
    n_raters = int(np.isfinite(table.ratings).any(axis=1).sum())
    return MOST_WORK // ((n_raters * len(dataset.sources)) ** 2 + WORK_OF_A_FIT)


def compare_sources(
    dataset: Dataset, table: OutcomeTable, *, test: str = "", margin: float | None = None
) -> ContrastTable:
    """Every source that has a story with a value. test : "" for that of `choose_test`"""
    units = {name: table.of_source(name) for name, _kind in dataset.sources}
    rated = {name: of_source for name, of_source in units.items() if of_source.any()}
    return ContrastTable(dataset, table, rated, test=test or choose_test(dataset, table), margin=margin)


def compare_planned(dataset: Dataset, table: OutcomeTable) -> ContrastTable:
    """The outcome as the plan has it compared, fitted once. table : as `Dataset.as_planned` gives it"""
    plan = dataset.plan
    margin = plan.margin if plan is not None and plan.outcome == table.outcome.key else None
    key = table.outcome.key, ALL_RULES if plan is not None and plan.rules else NO_RULE
    if key not in dataset.compared:
        dataset.compared[key] = compare_sources(dataset, table, margin=margin)
    compared: ContrastTable = dataset.compared[key]
    return compared


def compare_without(dataset: Dataset, table: OutcomeTable, rule: str, readings: BoolArray) -> ContrastTable:
    """The outcome without these readings, fitted once. table : with all of its answers; rule : what leaves them out"""
    key = table.outcome.key, rule
    if key not in dataset.compared:
        dataset.compared[key] = compare_sources(dataset, leave_out(dataset, table, readings))
    compared: ContrastTable = dataset.compared[key]
    return compared
