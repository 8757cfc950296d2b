"""How far the sources are apart, on story means: every two of them, on every outcome."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy

from reports.figures import plots
from reports.figures.base import (
    Figure,
    Head,
    Row,
    Statement,
    weakest_note,
)
from reports.figures.contrast_rows import (
    ContrastRow,
    OutcomeContrasts,
    SourceLevel,
    adjust_family,
    contrast_row,
)
from reports.figures.contrast_words import contrast_statements, unit_words
from reports.figures.headline_words import headline
from reports.lazy import contrasts, variance_components
from reports.numbers import decimal, with_interval
from reports.numbers import interval as between
from reports.reasons import to_english

if TYPE_CHECKING:
    from reports.dataset import Dataset, OutcomeTable


@dataclass(frozen=True, kw_only=True)
class ComparisonResult:
    """is_planned : whether a plan was frozen with the protocol; without one all is exploratory

    has_reference : whether it names the source against which the others stand
    """

    is_planned: bool
    has_reference: bool
    outcomes: tuple[OutcomeContrasts, ...]

    @property
    def whole(self) -> list[OutcomeContrasts]:
        """The outcomes that are no part of another, the primary one first."""
        whole = [outcome for outcome in self.outcomes if not outcome.is_part or outcome.is_primary]
        return sorted(whole, key=lambda outcome: not outcome.is_primary)

    @property
    def parts(self) -> list[OutcomeContrasts]:
        whole = self.whole
        return [outcome for outcome in self.outcomes if outcome not in whole]


class Comparisons(Figure[ComparisonResult]):
    key = "comparisons"
    title = gettext_lazy("How far the sources are apart")
    position = 25
    result = ComparisonResult
    tables = ("comparisons",)
    edition = 8
    is_shown_sealed = False

    def compute(self, dataset: Dataset) -> ComparisonResult | None:
        tables = [table for table in dataset.outcomes if len(_levels(dataset, table)) > 1]
        if not tables:
            return None
        outcomes = [_contrasts(dataset, table) for table in tables]
        return ComparisonResult(
            is_planned=dataset.plan is not None,
            has_reference=dataset.plan is not None and bool(dataset.plan.reference),
            outcomes=tuple(correct(outcomes)),
        )

    def rows(self, result: ComparisonResult) -> dict[str, Iterator[Row]]:
        return {"comparisons": _rows(result)}

    def lines(self, result: ComparisonResult) -> Iterator[str]:
        yield "\nDifferences between sources, on story means" + ("" if result.is_planned else " (exploratory)")
        for outcome in result.whole:
            yield f"  {outcome.title or 'all tests'}" + (" (planned)" if outcome.is_primary else "")
            for row in outcome.contrasts:
                if row.why:
                    yield f"    {row.first} less {row.second}: {to_english(row.why)}"
                    continue
                places = outcome.places
                wide = f"{between(row.wide, places)} for other raters, too"
                p = f"p {decimal(row.p_adjusted, 4)}, adjusted" if not row.is_not_tested else "not tested"
                ends = f"95 % {between(row.interval, places)} ({wide}); {p}; {row.test}"
                yield f"    {row.first} less {row.second}: {decimal(row.value, places)}, {ends}"

    def context(self, result: ComparisonResult) -> dict[str, Any]:
        rows = [row for outcome in result.whole for row in outcome.contrasts]
        tested = [row for row in rows if row.test]
        return {
            "drawn": [
                (
                    *(outcome, _plot(outcome, outcome.reference), unit_words(outcome)),
                    *(_measured_against_others(outcome), _plot_of_pairs(outcome)),
                )
                for outcome in result.whole
            ],
            "parts": [(outcome, unit_words(outcome)) for outcome in result.parts],
            "note": weakest_note(row.interval for row in rows),
            "tests": list(dict.fromkeys(row.test for row in tested)),
            "is_paired": bool(tested) and all(row.is_paired and not row.n_left_out for row in tested),
            "is_within_some": any(row.is_paired and row.n_left_out for row in tested),
            "is_out_of_reach": any(row.is_not_tested for row in rows),
        }

    def is_first_headline(self, result: ComparisonResult) -> bool:
        """Of all tests together the pass rates are headed with the same in better words."""
        return any(outcome.is_primary and outcome.kind != "verdicts" for outcome in result.whole)

    def headline(self, result: ComparisonResult, head: Head) -> str:
        return headline(result.whole)

    def statements(self, result: ComparisonResult, head: Head) -> Iterator[Statement]:
        for n, outcome in enumerate(result.whole):
            yield from contrast_statements(outcome, n_outcomes=len(result.whole), is_first=n == 0)


def _levels(dataset: Dataset, table: OutcomeTable) -> list[SourceLevel]:
    """Every source that has a story with a value, in the order of sources."""
    masks = [(name, table.of_source(name)) for name, _kind in dataset.sources]
    return [
        SourceLevel(
            source=name,
            value=float(table.values[mask].mean()),
            n_stories=table.n_stories(mask),
        )
        for name, mask in masks
        if mask.any()
    ]


def _contrasts(dataset: Dataset, table: OutcomeTable) -> OutcomeContrasts:
    outcome, plan, levels = table.outcome, dataset.plan, _levels(dataset, table)
    names = [level.source for level in levels]
    is_primary = plan is not None and plan.outcome == outcome.key
    reference = plan.reference if plan and plan.reference in names else names[0]
    margin = plan.margin if plan and is_primary else None
    means = {name: contrasts.cluster_means(table.values, table.clusters, table.of_source(name)) for name in names}
    by_rater = {
        name: variance_components.cell_means(table.ratings, table.clusters, table.of_source(name)) for name in names
    }
    rows = []
    for first, second in combinations(names, 2):
        is_named = plan is not None and plan.names(first, second)
        row = contrast_row(
            dataset,
            means[first],
            means[second],
            most=table.width,
            by_rater=(by_rater[first], by_rater[second]),
        )
        is_equivalent = None
        if margin is not None and is_named and row.low_90 is not None and row.high_90 is not None:
            is_equivalent = contrasts.is_equivalent((row.low_90, row.high_90), margin)
        is_planned = is_primary and is_named
        rows.append(replace(row, first=first, second=second, is_planned=is_planned, is_equivalent=is_equivalent))
    return OutcomeContrasts(
        key=outcome.key,
        kind=outcome.kind,
        title=outcome.title,
        is_percent=outcome.is_percent,
        is_lower_better=outcome.is_lower_better,
        is_part=outcome.is_part,
        is_primary=is_primary,
        reference=reference,
        correction="fdr_bh" if outcome.kind == "verdict" and outcome.is_part and not is_primary else "holm",
        margin=margin,
        sources=tuple(levels),
        contrasts=tuple(rows),
    )


def correct(outcomes: Sequence[OutcomeContrasts]) -> Iterator[OutcomeContrasts]:
    """The outcomes with p values for all that was compared.

    Holm over the planned contrasts, over all others of all whole outcomes, and over those of their parts, which are
    looked at after the whole; of single verdicts all together Benjamini and Hochberg.
    """
    families: dict[tuple[str, bool, bool], list[tuple[int, int]]] = defaultdict(list)
    for n, outcome in enumerate(outcomes):
        for place, row in enumerate(outcome.contrasts):
            is_part = outcome.is_part and not outcome.is_primary
            families[outcome.correction, is_part, row.is_planned].append((n, place))
    row_by_place: dict[tuple[int, int], ContrastRow] = {}
    for (correction, _is_part, _is_planned), places in families.items():
        rows = adjust_family([outcomes[n].contrasts[place] for n, place in places], correction)
        row_by_place |= dict(zip(places, rows, strict=True))
    for n, outcome in enumerate(outcomes):
        yield replace(outcome, contrasts=tuple(row_by_place[n, place] for place in range(len(outcome.contrasts))))


@dataclass(frozen=True)
class MeasuredAgainst:
    """A source that is not the reference, and all others drawn against it. number : which of them, for ids"""

    number: str
    source: str
    plot: plots.DifferencePlot


def _measured_against_others(outcome: OutcomeContrasts) -> list[MeasuredAgainst]:
    """What a reader may choose instead of the reference; it changes what is drawn, not what is tested."""
    others = [level.source for level in outcome.sources if level.source != outcome.reference]
    drawn = [(source, _plot(outcome, source)) for source in others]
    return [
        MeasuredAgainst(str(n), source, plot) for n, (source, plot) in enumerate(drawn, start=1) if plot is not None
    ]


def _plot(outcome: OutcomeContrasts, reference: str) -> plots.DifferencePlot | None:
    """The other sources against that one."""
    return _plot_of(outcome, [(row.first, row) for row in outcome.against(reference)])


def _plot_of_pairs(outcome: OutcomeContrasts) -> plots.DifferencePlot | None:
    """What is planned beside the contrasts with the reference."""
    return _plot_of(outcome, [(f"{row.first} − {row.second}", row) for row in outcome.planned_pairs])


def _plot_of(outcome: OutcomeContrasts, labelled: list[tuple[str, ContrastRow]]) -> plots.DifferencePlot | None:
    """Differences by their labels, on an axis that holds all of their intervals and 0; None without any."""
    rows = [(label, row) for label, row in labelled if row.value is not None]
    if not rows:
        return None
    marks = [
        plots.DifferenceMark(
            label,
            row.value or 0.0,
            row.interval.low if row.interval else None,
            row.interval.high if row.interval else None,
            is_clear=row.is_clear,
            is_weak=row.interval is None or row.interval.is_weak,
            text=with_interval(row.value, row.interval, outcome.places),
        )
        for label, row in rows
    ]
    ends = plots.ends_of(marks)
    return plots.DifferencePlot(marks, plots.difference_axis(ends), outcome.margin)


def _note(row: ContrastRow) -> str:
    if row.why:
        return to_english(row.why)
    note = (row.interval.note if row.interval else "") or ""
    return "; ".join(part for part in ("not tested" if row.is_not_tested else "", note) if part)


def _rows(result: ComparisonResult) -> Iterator[Row]:
    for outcome in result.outcomes:
        for row in outcome.contrasts:
            yield {
                "outcome": outcome.key,
                "kind": outcome.kind,
                "title": outcome.title,
                "first": row.first,
                "second": row.second,
                "difference": row.value,
                "low": row.interval and row.interval.low,
                "high": row.interval and row.interval.high,
                "low_other_raters": row.wide and row.wide.low,
                "high_other_raters": row.wide and row.wide.high,
                "low_90": row.low_90,
                "high_90": row.high_90,
                "test": row.test,
                "p": row.p,
                "p_adjusted": None if row.is_not_tested else row.p_adjusted,
                "correction": outcome.correction,
                "paired": row.is_paired,
                "n": row.n,
                "n_second": row.n_second,
                "n_left_out": row.n_left_out,
                "effect": row.effect,
                "effect_name": row.effect_name,
                "planned": row.is_planned,
                "margin": outcome.margin if row.is_planned else None,
                "equivalent": row.is_equivalent,
                "note": _note(row),
            }
