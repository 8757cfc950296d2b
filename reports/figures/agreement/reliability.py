"""Agreement where kappa misleads, and how reliable means are: Gwet's AC1 and AC2, intraclass correlations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.dataset.blocks import ItemBlock, choice_ratings, item_blocks
from reports.document import columns, notes
from reports.document.columns import LEAD, decimals
from reports.document.model import (
    Block,
    DocumentSection,
    Files,
    Head,
    ReportTable,
    RowGroup,
    TableCell,
    TableColumn,
    TextBlock,
)
from reports.document.phrases import BREAK, joined, phrase
from reports.document.values import Estimate, Floor, Interval, Reason
from reports.figures.base import N_RESAMPLES, Figure, ItemRow, estimate, interval, item_fields, note_of, without_value
from reports.lazy import agreement, np, rates, reliability, resamples
from reports.numbers import coefficient, coefficients, measured, whole
from reports.reasons import to_english
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset, OutcomeTable, StepItem
    from stats.arrays import FloatArray
    from stats.reliability import Weights
    from stats.resamples import Resamples

N_SHUFFLES = 200


@dataclass(frozen=True, kw_only=True)
class GwetRow(ItemRow):
    """Gwet's coefficient of one item, with what stands beside it."""

    coefficient: Estimate
    interval: Interval
    floor: Floor
    percent_agreement: Estimate


@dataclass(frozen=True, kw_only=True)
class IntraclassForm:
    """One form: of a single rating ("ICC(A,1)", "ICC(1,1)"), or of a mean ("ICC(A,k)", "ICC(1,k)")."""

    coefficient: Estimate
    interval: Interval
    floor: Floor


@dataclass(frozen=True, kw_only=True)
class IntraclassRow:
    """The intraclass correlations of one number of each story.

    kind : "score" that an instrument declares, "total" of tests passed, "mean" of the scales with one pair of ends, of
        which none is in a declared score, or "rating" on one item
    design : "two-way" or "one-way"; k : ratings that a mean is of
    forms : single and average, none without a value
    """

    kind: str
    title: str
    n_items: int
    design: str = ""
    k: float | None = None
    forms: tuple[IntraclassForm, ...] = ()
    why: Reason | None = None


@dataclass(frozen=True, kw_only=True)
class ReliabilityResult:
    items: tuple[GwetRow, ...]
    numbers: tuple[IntraclassRow, ...]


class Reliability(Figure[ReliabilityResult]):
    key = "reliability"
    title = gettext_lazy("Agreement on skewed answers; reliability of means")
    position = 52
    section = "agreement"
    tables = ("gwet", "intraclass")
    edition = 5

    def compute(self, dataset: Dataset) -> ReliabilityResult | None:
        blocks = item_blocks(dataset)
        choices = [item for item in dataset.items if item.is_choice and len(item.item.options) > 1]
        if (not dataset.raters and len(dataset.judges)) or not (blocks or choices):
            return None
        # All of these are about the stories of all groups, so one draw of clusters serves them all.
        clusters = dataset.clusters_of_units(dataset.units)
        drawn = resamples.Resamples(clusters, rng=dataset.resampling(), n_resamples=N_RESAMPLES)
        rows = [row for block in blocks for row in _of_block(dataset, block, drawn)]
        for item in choices:
            values = tuple(float(n) for n in range(len(item.item.options)))
            ratings = choice_ratings(dataset, item)[np.newaxis]
            rows += _gwet_rows(dataset, [item], ratings, values, drawn, "identity")
        scores = [table for table in dataset.outcomes if table.outcome.kind == "score"]
        numbers = [_of_score(dataset, table, drawn) for table in scores]
        counted = {key for table in scores for key in table.outcome.items}
        numbers += [row for block in blocks for row in _intraclass_rows(dataset, block, drawn, counted)]
        return ReliabilityResult(items=tuple(rows), numbers=tuple(numbers))

    def is_empty(self, result: ReliabilityResult) -> bool:
        return not result.items and not result.numbers

    def describe(self, result: ReliabilityResult, head: Head) -> Iterator[DocumentSection]:
        kappa = _(
            "Kappa falls when nearly all answers are the same, AC1 does not; so it stands beside, never instead. AC2 "
            "takes near answers for part agreement; its “ordinal” weights are Gwet’s, not Krippendorff’s."
        )
        forms = _(
            "ICC(A,1) and ICC(A,k), absolute agreement, where the same raters rated all stories; ICC(1,1) and ICC(1,k) "
            "where raters differ by story. A reported mean is as reliable as the k form says."
        )
        floors = _("Chance floors here are of %(n)s shuffles.") % {"n": N_SHUFFLES}
        ends = [form.interval for row in result.numbers for form in row.forms]
        of_items: list[Block] = [_gwet_table(result, head), Files(words=_("Gwet’s AC1, on scales AC2"), table="gwet")]
        of_numbers: list[Block] = [
            _intraclass_table(result, head),
            Files(words=_("One rating, and the mean of k"), table="intraclass"),
        ]
        yield DocumentSection(
            heading=_("Agreement on skewed answers; reliability of means"),
            body=[*(of_items if result.items else []), *(of_numbers if result.numbers else [])],
            margin=[
                *(TextBlock(words=words) for words in (kappa, forms, floors)),
                *notes.weakest([*(row.interval for row in result.items), *ends]),
            ],
        )


def _gwet_table(result: ReliabilityResult, head: Head) -> ReportTable[GwetRow]:
    value, ends, floor, rests_on = _columns()
    return ReportTable(
        name="gwet",
        label=_("Gwet’s coefficients by item"),
        caption=_(
            "Agreement that does not fall where nearly all answers are the same. Grey band: what the same answers "
            "shuffled within each rater would reach (97.5th percentile)."
        ),
        rows=result.items,
        groups=[
            RowGroup(heading=name or "", language="en", rows=list(rows))
            for name, rows in groupby(result.items, lambda row: row.coefficient.name)
        ],
        why=lambda row: row.coefficient.why,
        columns=[
            columns.item(head),
            columns.in_file("coefficient", lambda row: row.coefficient.name or ""),
            value,
            ends,
            columns.strip(result.items, lambda row: (row.coefficient, row.interval, row.floor)),
            floor,
            columns.number(
                "agreement_percent",
                joined(_("Agree"), "%", by=BREAK),
                lambda row: row.percent_agreement.value,
                write=decimals(0),
            ),
            rests_on,
            columns.note(lambda row: note_of(row.coefficient, row.interval)),
        ],
    )


def _intraclass_table(result: ReliabilityResult, head: Head) -> ReportTable[tuple[IntraclassRow, IntraclassForm]]:
    nothing = IntraclassForm(
        coefficient=Estimate(value=None), interval=Interval(low=None, high=None), floor=Floor(mean=None, upper=None)
    )
    value, ends, floor, rests_on = (column.at(itemgetter(1)) for column in _columns())

    def k(pair: tuple[IntraclassRow, IntraclassForm]) -> str:
        row, form = pair
        return measured(1 if row.forms[:1] == (form,) else row.k)

    return ReportTable(
        name="intraclass",
        label=_("Intraclass correlations"),
        caption=_(
            "Intraclass correlations: the share of variance that lies between stories, of one rating and of the mean "
            "of all that a story has."
        ),
        rows=[(row, form) for row in result.numbers for form in row.forms or (nothing,)],
        why=lambda pair: pair[0].why,
        columns=[
            columns.fields("kind", "n_items", "design", of=itemgetter(0)),
            TableColumn(
                heading=_("Number"),
                cell=lambda pair: _number(pair[0], head),
                files={"title": lambda pair: pair[0].title},
                is_number=False,
                is_head=True,
            ),
            columns.words("coefficient", _("Form"), lambda pair: pair[1].coefficient.name or "", css="kept-whole"),
            value,
            ends,
            floor,
            columns.number("k", _("k"), lambda pair: pair[0].k, shown=k),
            rests_on,
            columns.note(
                lambda pair: to_english(pair[0].why) if pair[0].why else note_of(pair[1].coefficient, pair[1].interval)
            ),
        ],
    )


def _number(row: IntraclassRow, head: Head) -> TableCell:
    """What is told of each story."""
    if row.kind == "total":
        return TableCell(words=_("Tests passed"))
    if row.kind == "mean":
        return TableCell(words=_("Mean of the %(ends)s scales") % {"ends": row.title})
    return TableCell(words=row.title, language=head.language)


def _columns() -> Sequence[TableColumn[Any]]:
    """The value, the interval and the floor of a coefficient, and what it rests on, of the rows of either table."""

    def rests_on(row: GwetRow | IntraclassForm) -> TableCell:
        return TableCell(words=f"{whole(row.coefficient.n_units)}, {whole(row.coefficient.n_raters)}")

    return [
        columns.number("value", _("Value"), lambda row: row.coefficient.value, write=coefficient, css=LEAD),
        columns.interval(lambda row: row.interval, write=coefficients),
        columns.floor(phrase(_("Chance floor<br>mean, 97.5th")), lambda row: row.floor, write=coefficient),
        replace(
            columns.fields("n_units", "n_raters", of=attrgetter("coefficient")),
            heading=phrase(_("Units,<br>raters")),
            cell=rests_on,
        ),
    ]


def _of_block(dataset: Dataset, block: ItemBlock, drawn: Resamples) -> list[GwetRow]:
    if block.values is None:
        return []
    weights: Weights = "identity" if block.kind == "verdicts" else "ordinal"
    return _gwet_rows(dataset, list(block.items), block.cube.values, block.values, drawn, weights)


def _gwet_rows(
    dataset: Dataset,
    items: list[StepItem],
    ratings: FloatArray,
    values: tuple[float, ...],
    drawn: Resamples,
    weights: Weights,
) -> list[GwetRow]:
    """A row for each item that has a value. The shuffles of the chance floors are the same for all of them."""
    estimates = [estimate(reliability.gwet_ac, part, values, weights) for part in ratings]
    has_value = np.array([row.value is not None for row in estimates], dtype=np.bool_)
    floor_by_item: dict[int, Floor] = {}
    if has_value.any():
        own = reliability.gwet_floors(
            ratings if has_value.all() else ratings[has_value],
            values,
            weights=weights,
            rng=dataset.shuffling(),
            n_shuffles=N_SHUFFLES,
        )
        floors = [Floor(mean=floor.mean, upper=floor.upper) for floor in own]
        floor_by_item = dict(zip(np.flatnonzero(has_value).tolist(), floors, strict=True))
    rows = []
    for n, (item, value, part) in enumerate(zip(items, estimates, ratings, strict=True)):
        ends = Interval(low=None, high=None, why=value.why)
        if value.value is not None:
            ends = interval(reliability.gwet_interval, part, values, drawn, weights=weights)
        rows.append(
            GwetRow(
                **item_fields(item),
                coefficient=value,
                interval=ends,
                floor=floor_by_item.get(n, Floor(mean=None, upper=None, why=value.why)),
                percent_agreement=estimate(agreement.percent_agreement, part),
            )
        )
    return rows


def _of_score(dataset: Dataset, table: OutcomeTable, drawn: Resamples) -> IntraclassRow:
    outcome = table.outcome
    return _intraclass(dataset, table.ratings, drawn, ("score", outcome.title), len(outcome.items))


def _intraclass_rows(
    dataset: Dataset, block: ItemBlock, drawn: Resamples, counted: set[tuple[str, str]]
) -> Iterator[IntraclassRow]:
    """counted : the items of declared scores"""
    n_items = len(block.items)
    if block.kind == "verdicts":
        if n_items > 1:
            totals = rates.totals(block.cube.values)
            yield _intraclass(dataset, totals, drawn, ("total", ""), n_items)
        return
    for n, item in enumerate(block.items):
        title = item.item.title or item.item.key
        yield _intraclass(dataset, block.cube.values[n], drawn, ("rating", title), 1)
    if n_items > 1 and not counted & {item.key for item in block.items}:
        means = rates.totals(block.cube.values) / n_items
        yield _intraclass(dataset, means, drawn, ("mean", block.title), n_items)


def _intraclass(
    dataset: Dataset,
    ratings: FloatArray,
    drawn: Resamples,
    about: tuple[str, str],
    n_items: int,
) -> IntraclassRow:
    kind, title = about
    try:
        value = reliability.intraclass(ratings)
    except Incomputable as error:
        return IntraclassRow(kind=kind, title=title, n_items=n_items, why=Reason.of(error))
    try:
        ends = [Interval.of(part) for part in reliability.intraclass_intervals(ratings, drawn)]
    except Incomputable as error:
        ends = [Interval.of(error)] * 2
    try:
        floors = [
            Floor(mean=floor.mean, upper=floor.upper)
            for floor in reliability.intraclass_floors(ratings, rng=dataset.shuffling(), n_shuffles=N_SHUFFLES)
        ]
    except Incomputable:
        floors = [Floor(mean=None, upper=None, why=without_value("no_shuffle_with_value"))] * 2
    forms = (value.single, value.average)
    return IntraclassRow(
        kind=kind,
        title=title,
        n_items=n_items,
        design=value.design,
        k=value.k,
        forms=tuple(
            IntraclassForm(coefficient=estimate(lambda form=form: form), interval=own_ends, floor=floor)
            for form, own_ends, floor in zip(forms, ends, floors, strict=True)
        ),
    )
