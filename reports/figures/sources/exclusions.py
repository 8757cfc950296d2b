"""What the plan's exclusion rules change: its contrasts with all answers, without each rule's, and as planned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.dataset.exclusions import ALL_RULES, NO_RULE, join, leave_out
from reports.document import columns
from reports.document.columns import LEAD, decimals, ends, with_places
from reports.document.model import DocumentSection, Files, Head, Phrase, ReportTable, RowGroup, TableColumn, TextBlock
from reports.document.phrases import joined
from reports.document.values import Interval, Reason
from reports.figures.base import Figure, Listing, Statement, without_value
from reports.figures.outcome_titles import outcome_title
from reports.figures.sources.compared_parts import ContrastTable
from reports.figures.sources.contrast_rows import SURE, ContrastRow
from reports.figures.sources.planned_contrasts import (
    compare_planned,
    compare_without,
    count_fits,
    list_planned_pairs,
    named_outcomes,
)
from reports.lazy import np
from reports.numbers import p_value, whole
from studies.protocol.exclusion_words import describe_rule

if TYPE_CHECKING:
    from reports.dataset import Dataset, OutcomeTable
    from stats.arrays import BoolArray

POSITION = 14  # among the findings: after the planned contrasts


@dataclass(frozen=True, kw_only=True)
class ExcludedContrast:
    """One planned contrast without what one rule leaves out, or all of them, or with all answers.

    rule : as in a plan; NO_RULE for all answers, ALL_RULES for the planned analysis
    detail : what a rule says beside its name, as a pace
    n_left_out, n_raters_left_out, n_stories_left_out : ratings of the outcome, and raters and stories with none left
    n : ratings that are left
    value : the first source less the second; interval : for other stories and, where it can be, other raters; p : of
        no difference, for the same, not corrected
    """

    outcome: str
    title: str
    is_percent: bool
    is_primary: bool
    rule: str
    detail: str
    n: int
    n_left_out: int
    n_raters_left_out: int
    n_stories_left_out: int
    first: str
    second: str
    first_value: float | None
    second_value: float | None
    value: float | None
    interval: Interval | None
    p: float | None
    why: Reason | None

    @property
    def places(self) -> int:
        return 1 if self.is_percent else 2

    @property
    def is_planned(self) -> bool:
        return self.rule == ALL_RULES

    @property
    def contrast(self) -> tuple[str, str, str]:
        """What is compared on what."""
        return self.outcome, self.first, self.second


class Exclusions(Figure[Listing[ExcludedContrast]]):
    """Of plans with exclusion rules."""

    key = "exclusions"
    title = gettext_lazy("Sensitivity to exclusions")
    position = 27
    section = "methods"
    tables = ("exclusions",)
    edition = 2
    is_shown_sealed = False

    def compute(self, dataset: Dataset) -> Listing[ExcludedContrast]:
        if dataset.plan is None or not dataset.plan.rules:
            return Listing()
        rows = [row for table in named_outcomes(dataset) for row in _of_outcome(dataset, table)]
        return Listing(tuple(sorted(rows, key=lambda row: not row.is_primary)))

    def describe(self, result: Listing[ExcludedContrast], head: Head) -> Iterator[DocumentSection]:
        note = _(
            "The planned analysis is the one without all that the rules leave out; it is what the findings and the "
            "comparisons above say of planned outcomes. The other rows are for comparison. All other sections but "
            "the specification curve count all answers."
        )
        of_groups = _(
            "What a rater said of a group as a whole, as a choice or an order, goes with any of its stories. p is not "
            "corrected here."
        )
        yield DocumentSection(
            heading=_("Sensitivity to exclusions"),
            body=[*_tables(result, head), Files(words=_("Planned contrasts by exclusion rule"), table="exclusions")],
            margin=[TextBlock(words=note), TextBlock(words=of_groups)],
        )

    def statements(self, result: Listing[ExcludedContrast], head: Head) -> Iterator[Statement]:
        """Of the primary outcome, the contrasts that exclusions turn round, or tell apart or no more."""
        rows = sorted((row for row in result.rows if row.is_primary), key=lambda row: row.contrast)
        for _contrast, of_contrast in groupby(rows, key=lambda row: row.contrast):
            by_rule = {row.rule: row for row in of_contrast}
            if sentence := _change(by_rule[NO_RULE], by_rule[ALL_RULES]):
                yield Statement(sentence=sentence, basis=_("before correction"), position=POSITION)


def _change(without: ExcludedContrast, planned: ExcludedContrast) -> str:
    """What the exclusions change of a contrast; "" if nothing that a reader would conclude."""
    if without.value is None or planned.value is None or without.p is None or planned.p is None:
        return ""
    words = {"first": planned.first, "second": planned.second}
    is_clear, was_clear = planned.p < SURE, without.p < SURE
    if is_clear and was_clear and without.value * planned.value < 0:
        return _("With all answers, the difference between %(first)s and %(second)s has the other sign.") % words
    if is_clear and not was_clear:
        return (
            _(
                "Without correction, the 95 %% interval of the difference between %(first)s and %(second)s leaves out "
                "0 after the exclusions, and holds it with all answers."
            )
            % words
        )
    if was_clear and not is_clear:
        return (
            _(
                "Without correction, the 95 %% interval of the difference between %(first)s and %(second)s holds 0 "
                "after the exclusions, and leaves it out with all answers."
            )
            % words
        )
    return ""


def _of_outcome(dataset: Dataset, table: OutcomeTable) -> Iterator[ExcludedContrast]:
    exclusions = dataset.exclusions
    nothing = np.zeros((len(dataset.raters), len(dataset.units)), dtype=np.bool_)
    # What a single rule changes is for comparison alone: of very many raters it would take minutes.
    may_part = len(exclusions) > 1 and len(exclusions) <= count_fits(table, dataset)
    single = exclusions if may_part else []
    variants = [
        (NO_RULE, "", nothing),
        *((exclusion.rule, exclusion.detail, exclusion.readings) for exclusion in single),
        (ALL_RULES, "", join(dataset, exclusions)),
    ]
    for rule, detail, readings in variants:
        remaining = leave_out(dataset, table, readings)
        if rule == ALL_RULES:
            compared = compare_planned(dataset, remaining)
        else:
            compared = compare_without(dataset, table, rule, readings)
        for contrast in _contrasts(dataset, table, compared):
            yield ExcludedContrast(
                outcome=table.outcome.key,
                title=table.outcome.title,
                is_percent=table.outcome.is_percent,
                is_primary=dataset.plan is not None and dataset.plan.outcome == table.outcome.key,
                rule=rule,
                detail=detail,
                **_counts(table, remaining),
                first=contrast.first,
                second=contrast.second,
                first_value=contrast.first_value,
                second_value=contrast.second_value,
                value=contrast.value,
                interval=contrast.ends,
                p=contrast.p,
                why=contrast.why,
            )


def _contrasts(dataset: Dataset, table: OutcomeTable, compared: ContrastTable) -> Iterator[ContrastRow]:
    """The planned contrasts of what is left, also those of a source that is left out as a whole."""
    for first, second in list_planned_pairs(dataset, table):
        if {first, second} <= set(compared.names):
            yield compared.row(first, second)
        else:
            yield ContrastRow(first=first, second=second, why=without_value("too_few_stories"))


def _counts(table: OutcomeTable, remaining: OutcomeTable) -> dict[str, int]:
    before, after = np.isfinite(table.ratings), np.isfinite(remaining.ratings)
    return {
        "n": int(after.sum()),
        "n_left_out": int(before.sum() - after.sum()),
        "n_raters_left_out": int((before.any(axis=1) & ~after.any(axis=1)).sum()),
        "n_stories_left_out": table.n_stories(_has_any(before)) - remaining.n_stories(_has_any(after)),
    }


def _has_any(is_rated: BoolArray) -> BoolArray:
    return np.asarray(is_rated.any(axis=0), dtype=np.bool_)


def _rule(row: ExcludedContrast) -> Phrase:
    if row.rule == NO_RULE:
        return _("All answers")
    if row.is_planned:
        return format_html("<strong>{}</strong>", _("As planned: all rules together"))
    return _("Without %(what)s") % {"what": describe_rule(row.rule, row.detail)}


def _left_out(row: ExcludedContrast) -> Phrase:
    return _("%(n)s of %(all)s") % {"n": whole(row.n_left_out), "all": whole(row.n + row.n_left_out)}


def _mean(name: str, heading: Phrase) -> TableColumn[ExcludedContrast]:
    return with_places(lambda places: columns.number(name, heading, write=decimals(places)), lambda row: row.places)


def _tables(result: Listing[ExcludedContrast], head: Head) -> Iterator[ReportTable[ExcludedContrast]]:
    """The primary outcome, and folded away the secondary ones."""
    rows = sorted(result.rows, key=lambda row: _order(result, row))
    primary, secondary = ([row for row in rows if row.is_primary == is_primary] for is_primary in (True, False))
    if primary:
        yield _table(primary, head, summary=None)
    if secondary:
        yield _table(secondary, head, summary=_("Secondary outcomes"))


def _table(rows: list[ExcludedContrast], head: Head, *, summary: str | None) -> ReportTable[ExcludedContrast]:
    groups = [
        RowGroup(
            heading=joined(outcome_title(key, of_group[0].title, head), f"{first} − {second}", by=", "),
            rows=of_group,
        )
        for (key, first, second), of_contrast in groupby(rows, key=lambda row: row.contrast)
        if (of_group := list(of_contrast))
    ]
    return ReportTable(
        name="exclusions",
        label=_("Sensitivity to exclusions"),
        rows=rows,
        groups=groups,
        why=lambda row: row.why,
        summary=summary,
        css="ruled stacks",
        columns=[
            columns.fields("outcome", "title", "first", "second"),
            columns.words(
                "exclusion_rule", _("Answers"), of=lambda row: row.rule, shown=_rule, is_head=True, css="statement"
            ),
            columns.in_file("exclusion_detail", lambda row: row.detail),
            columns.in_file("planned", lambda row: row.is_planned),
            columns.number("n_left_out", _("Ratings left out"), shown=_left_out),
            columns.in_file("n_ratings", lambda row: row.n),
            columns.number("n_raters_left_out", _("Raters left out")),
            columns.number("n_stories_left_out", _("Stories left out")),
            _mean("first_value", _("First")),
            _mean("second_value", _("Second")),
            with_places(
                lambda places: columns.number(
                    "difference", _("Difference"), lambda row: row.value, write=decimals(places), css=LEAD
                ),
                lambda row: row.places,
            ),
            with_places(
                lambda places: columns.interval(lambda row: row.interval, write=ends(places)), lambda row: row.places
            ),
            columns.number("p", format_html("<i>{}</i>", "p"), shown=lambda row: p_value(row.p)),
        ],
    )


def _order(result: Listing[ExcludedContrast], row: ExcludedContrast) -> int:
    """The place of the row's contrast among all, so that rows of one stand together."""
    return list(dict.fromkeys(other.contrast for other in result.rows)).index(row.contrast)
