"""A specification curve: the primary outcome's planned contrasts by every way in which the open choices can be made.

Simonsohn, Simmons & Nelson 2020, Nature Human Behaviour 4, pp. 1208-1214; of their curve the description, no test.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.dataset.exclusions import ALL_RULES, NO_RULE
from reports.dataset.records.reading_times import FASTEST
from reports.document import columns, plots
from reports.document.columns import LEAD, decimals, ends, with_places
from reports.document.model import (
    DocumentSection,
    DrawnPlot,
    Files,
    Head,
    ReportTable,
    RowGroup,
    TableColumn,
    TextBlock,
)
from reports.figures.base import Figure, Listing, Statement
from reports.figures.outcome_titles import outcome_name
from reports.figures.sources.planned_contrasts import list_planned_pairs, primary_outcome
from reports.figures.sources.specification_rows import (
    AS_PLANNED,
    FIXED,
    MOST_PAIRS,
    SHARED,
    STORY_MEANS,
    Specification,
    list_specifications,
)
from studies.protocol.exclusion_words import describe_rule

if TYPE_CHECKING:
    from reports.dataset import Dataset

FEWEST = 4  # specifications of which a sentence is made
POSITION = 16  # among the findings: after the planned contrasts and what exclusions change


class Specifications(Figure[Listing[Specification]]):
    """Of studies with a plan; described, and nothing is tested by it."""

    key = "specifications"
    title = gettext_lazy("Specification curve")
    position = 28
    section = "methods"
    tables = ("specifications",)
    edition = 2
    is_shown_sealed = False

    def compute(self, dataset: Dataset) -> Listing[Specification]:
        table = primary_outcome(dataset)
        if table is None:
            return Listing()
        pairs = list_planned_pairs(dataset, table)[:MOST_PAIRS]
        return Listing(tuple(list_specifications(dataset, table, pairs)))

    def describe(self, result: Listing[Specification], head: Head) -> Iterator[DocumentSection]:
        rows = _ordered(result)
        choices = _(
            "Every combination of: what is left out; the outcome, or the mean of the answered scales of "
            "its score; the mixed model of all answers, or a test on means of stories; raters drawn at "
            "random, or these very raters; and, of means of stories, all stories or those of writing "
            "prompts that hold both sources. A choice that changes nothing is left out. The length of "
            "stories is none: the model has no covariates."
        )
        rules = _(
            "Left out is what the plan’s rules say. Of a plan without rules: raters who failed a check, who read more "
            "than %(words)d words a minute or who gave one answer throughout, and recognised stories."
        ) % {"words": FASTEST}
        limits = _(
            "Of at most %(pairs)d planned pairs. Where raters or answers are very many, fewer choices are computed, "
            "but always the plan’s, so that a report does not take minutes."
        ) % {"pairs": MOST_PAIRS}
        nothing_tested = _(
            "The curve describes how much a result depends on choices. It tests nothing; the plan’s analysis stands."
        )
        yield DocumentSection(
            heading=_("Specification curve"),
            body=[
                *([_curve(rows)] if rows else []),
                _table(rows),
                Files(words=_("All specifications"), table="specifications"),
            ],
            margin=[TextBlock(words=words) for words in (choices, rules, limits, nothing_tested)],
        )

    def statements(self, result: Listing[Specification], head: Head) -> Iterator[Statement]:
        for (first, second), rows in _by_pair(result.rows):
            if len(rows) < FEWEST:
                continue
            n_first = sum(row.is_first_ahead for row in rows)
            n_second = sum(row.value != 0 for row in rows) - n_first
            if not n_first and not n_second:
                continue
            words = {"n": n_first, "ahead": first, "behind": second}
            if n_first < n_second:
                words = {"n": n_second, "ahead": second, "behind": first}
            words |= {"all": len(rows), "clear": sum(row.leaves_out_zero for row in rows)}
            sentence = _(
                "In %(n)d of %(all)d specifications %(ahead)s is ahead of %(behind)s; in %(clear)d the 95 %% interval "
                "leaves out 0."
            )
            yield Statement(sentence=sentence % words, basis=_("specification curve, a description"), position=POSITION)


def _by_pair(rows: tuple[Specification, ...]) -> Iterator[tuple[tuple[str, str], list[Specification]]]:
    pairs = dict.fromkeys((row.first, row.second) for row in rows)
    for pair in pairs:
        yield pair, [row for row in rows if (row.first, row.second) == pair]


def _ordered(result: Listing[Specification]) -> list[Specification]:
    """Pair by pair, the smallest difference first."""
    return [row for _pair, rows in _by_pair(result.rows) for row in sorted(rows, key=lambda row: row.value)]


def _curve(rows: list[Specification]) -> DrawnPlot:
    """A panel for each pair; the plan's specification is a disc, all others are rings."""
    reached = [n for row in rows for n in (row.value, row.interval.low, row.interval.high) if n is not None]
    most = max(len(of_pair) for _pair, of_pair in _by_pair(tuple(rows)))
    panels = [
        plots.Panel(
            f"{first} − {second}",
            curves=(plots.Curve(((0.0, 0.0), (most + 1.0, 0.0)), source=None),),
            points=tuple(
                plots.Point(
                    float(n),
                    row.value,
                    low=row.interval.low,
                    high=row.interval.high,
                    is_weak=row.interval.is_weak,
                    is_open=not row.is_planned,
                )
                for n, row in enumerate(of_pair, start=1)
            ),
        )
        for (first, second), of_pair in _by_pair(tuple(rows))
    ]
    axis = plots.count_axis(most)
    plot = plots.PanelPlot(
        panels,
        [],
        plots.Axis(0.0, most + 1.0, tuple(tick for tick in axis.ticks if tick[0] <= most)),
        plots.difference_axis(reached),
        is_single=len(panels) == 1,
    )
    return DrawnPlot(
        plot=plot,
        title=_("Specification curve"),
        described=_("The table below holds every specification with its interval."),
        caption=_("Each difference with its 95 %% interval, the smallest first. A disc: as planned.") % {},
        label=outcome_name(rows[0].outcome, rows[0].title),
    )


def _left_out(row: Specification) -> str:
    if row.rule == NO_RULE:
        return _("nothing")
    return _("all of that together") if row.rule == ALL_RULES else describe_rule(row.rule, row.detail)


def _analysis(row: Specification) -> str:
    words = _("means of stories") if row.analysis == STORY_MEANS else _("mixed model")
    if row.stories == SHARED:
        words = _("means of stories on shared prompts")
    return ", ".join([capfirst(words), *([_("as planned")] if row.is_planned else [])])


def _table(rows: list[Specification]) -> ReportTable[Specification]:
    groups = [
        RowGroup(heading=f"{first} − {second}", rows=list(of_pair))
        for (first, second), of_pair in groupby(rows, key=lambda row: (row.first, row.second))
    ]
    measure: TableColumn[Specification] = columns.words(
        *("measure", _("Measure")),
        shown=lambda row: _("the outcome") if row.measure == AS_PLANNED else _("mean of answered scales"),
    )
    return ReportTable(
        name="specifications",
        label=_("Specification curve"),
        rows=rows,
        groups=groups,
        css="ruled stacks",
        summary=_("Every specification, as a table"),
        columns=[
            columns.fields("outcome", "title", "first", "second"),
            columns.words("analysis", _("Analysis"), shown=_analysis, is_head=True),
            columns.words("exclusion_rule", _("Left out"), of=lambda row: row.rule, shown=_left_out, css="statement"),
            columns.in_file("exclusion_detail", lambda row: row.detail),
            measure if any(row.measure != AS_PLANNED for row in rows) else columns.in_file("measure"),
            columns.words(
                *("raters_as", _("Raters")),
                of=lambda row: row.raters,
                shown=lambda row: _("these") if row.raters == FIXED else _("drawn"),
            ),
            columns.in_file("stories_as", lambda row: row.stories),
            columns.in_file("planned", lambda row: row.is_planned),
            columns.number("n_ratings", _("Ratings"), lambda row: row.n),
            with_places(
                lambda places: columns.number(
                    "difference", _("Difference"), lambda row: row.value, write=decimals(places), css=LEAD
                ),
                lambda row: row.places,
            ),
            with_places(
                lambda places: columns.interval(lambda row: row.interval, write=ends(places)), lambda row: row.places
            ),
        ],
    )
