"""How the items of one scale go together: which of them say the same, and which have little in common with the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports.dataset.blocks import ItemBlock, item_blocks
from reports.dataset.outcomes import counted_values
from reports.document import columns, notes
from reports.document.columns import LEAD
from reports.document.files import file_only
from reports.document.model import (
    Block,
    DocumentSection,
    Files,
    Head,
    Phrase,
    ReportTable,
    Subsection,
    TableColumn,
    TextBlock,
)
from reports.document.phrases import joined, phrase, reason_words
from reports.document.values import Estimate, Floor, Interval, Reason
from reports.figures.base import N_RESAMPLES, Figure, ItemRow, Listing, item_fields, note_of, without_value
from reports.figures.block_titles import block_title
from reports.lazy import item_analysis, np, one_factor
from reports.numbers import coefficient, coefficients, whole
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from stats.agreement import Floor as StatisticFloor
    from stats.arrays import FloatArray
    from stats.intervals import Interval as StatisticInterval
    from stats.item_analysis import ItemMaterial


@dataclass(frozen=True, kw_only=True)
class ItemCorrelation:
    """Pearson's r, Cronbach's alpha or McDonald's omega, with its interval over clusters and its chance floor."""

    coefficient: Estimate
    interval: Interval
    floor: Floor


@dataclass(frozen=True, kw_only=True)
class ItemTogether(ItemRow):
    """with_rest : with the sum of all other items; with_others : the mean of its correlations with each of them"""

    with_rest: ItemCorrelation
    with_others: ItemCorrelation


@dataclass(frozen=True, kw_only=True)
class ItemPair:
    first: str
    second: str
    correlation: ItemCorrelation


@dataclass(frozen=True, kw_only=True)
class ItemOverlap:
    """The items of one scale, or of a score, each as it counts there.

    alpha : Cronbach's; None where some of the items are in a declared score
    omega : McDonald's, of a declared score
    n : raters' readings of a story that answer all items; n_left_out : those that leave one out
    why : too little was answered
    """

    kind: str
    title: str
    n: int
    n_left_out: int
    n_raters: int
    alpha: ItemCorrelation | None = None
    omega: ItemCorrelation | None = None
    items: tuple[ItemTogether, ...] = ()
    pairs: tuple[ItemPair, ...] = ()
    why: Reason | None = None

    @property
    def closest(self) -> ItemPair | None:
        rows = [pair for pair in self.pairs if pair.correlation.coefficient.value is not None]
        return max(rows, key=lambda pair: pair.correlation.coefficient.value or 0.0, default=None)

    @property
    def loosest(self) -> ItemTogether | None:
        """The item that has least in common with the rest; of two items each is the other's rest, so none."""
        if len(self.items) < 3:
            return None
        rows = [row for row in self.items if row.with_rest.coefficient.value is not None]
        return min(rows, key=lambda row: row.with_rest.coefficient.value or 0.0, default=None)


NO_OMEGA = ItemCorrelation(
    coefficient=Estimate(value=None), interval=Interval(low=None, high=None), floor=Floor(mean=None, upper=None)
)


class ItemAnalysis(Figure[Listing[ItemOverlap]]):
    key = "item_analysis"
    title = gettext_lazy("Item analysis")
    position = 58
    section = "items"
    tables = ("internal-consistency", "item-rest", "item-correlations")
    edition = 4

    def compute(self, dataset: Dataset) -> Listing[ItemOverlap]:
        blocks = [block for block in item_blocks(dataset) if len(block.items) > 1]
        scores = list(_scores(dataset))
        counted = {item.key for score in scores for item in score.items}
        overlaps = [_overlap(dataset, block) for block in blocks]
        # Of a scale of which a score takes some items, or turns them round, all together make nothing.
        are_free = [counted.isdisjoint(item.key for item in block.items) for block in blocks]
        of_blocks = [row if free else replace(row, alpha=None) for row, free in zip(overlaps, are_free, strict=True)]
        return Listing((*(_overlap(dataset, score) for score in scores), *of_blocks))

    def describe(self, result: Listing[ItemOverlap], head: Head) -> Iterator[DocumentSection]:
        high = _(
            "A high correlation with the rest can mean that items measure one thing, or that a reader who likes a "
            "story says Yes to all. These are correlations in one head, so they hold both."
        )
        counted = _(
            "Only complete sets of answers count: one rater’s answers to all items of a scale about one "
            "story. Intervals are over clusters, raters held fixed."
        )
        yield DocumentSection(
            heading=_("Item analysis"),
            body=[
                Subsection(heading=block_title(block, head), blocks=_blocks(block, n, head))
                for n, block in enumerate(result.rows, start=1)
            ],
            margin=[
                TextBlock(words=high),
                TextBlock(words=counted),
                *notes.weakest(row.with_rest.interval for block in result.rows for row in block.items),
            ],
        )


def _blocks(block: ItemOverlap, n: int, head: Head) -> list[Block]:
    """What is said of the n-th scale."""
    if block.why:
        return [TextBlock(words=reason_words(block.why), css="off")]
    readings = ngettext(
        "%(n)s sets of answers by %(raters)s rater", "%(n)s sets of answers by %(raters)s raters", block.n_raters
    )
    pairs = ngettext("%(n)s pair of items", "%(n)s pairs of items", len(block.pairs))
    counted = {"n": whole(block.n), "raters": whole(block.n_raters)}
    return [
        *_consistency(block),
        *_least_in_common(block),
        _item_table(block, n, head),
        Files(words=readings % counted, table="item-rest", is_count=True),
        _pair_file(block),
        Files(words=pairs % {"n": len(block.pairs)}, table="item-correlations"),
    ]


def _consistency(block: ItemOverlap) -> list[Block]:
    alpha = block.alpha
    if alpha is None or alpha.coefficient.value is None:
        return []
    sentence = _(
        "Cronbach’s alpha of the %(n)s items is %(alpha)s; their answers shuffled within raters reach %(floor)s."
    )
    numbers = {
        "n": len(block.items),
        "alpha": coefficient(alpha.coefficient.value),
        "floor": coefficient(alpha.floor.upper),
    }
    file = file_only(
        "internal-consistency",
        [block],
        columns.fields("kind", "title", "n", "n_left_out", "n_raters"),
        columns.in_file("n_items", lambda row: len(row.items)),
        *(column.at(lambda row: row.alpha) for column in _columns("cronbach_alpha", None)),
        *(column.at(lambda row: row.omega or NO_OMEGA) for column in _columns("mcdonald_omega", None)),
        columns.note(_consistency_note),
    )
    ends = phrase(_("95 %% interval %(ends)s."), ends=coefficients(alpha.interval))
    of_alpha = joined(sentence % numbers, "" if alpha.interval.low is None else ends)
    link = Files(words=_("Cronbach’s alpha"), table="internal-consistency")
    return [TextBlock(words=of_alpha), *_omega(block.omega), file, link]


def _omega(omega: ItemCorrelation | None) -> list[TextBlock]:
    if omega is None:
        return []
    if omega.coefficient.why:
        return [TextBlock(words=joined(_("McDonald’s omega is not given."), reason_words(omega.coefficient.why)))]
    sentence = _(
        "McDonald’s omega, by one factor that need not weigh in all items alike, is %(omega)s; their answers shuffled "
        "within raters reach %(floor)s."
    )
    numbers = {"omega": coefficient(omega.coefficient.value), "floor": coefficient(omega.floor.upper)}
    why = omega.interval.why
    return [TextBlock(words=joined(sentence % numbers, reason_words(why) if why else ""))]


def _consistency_note(block: ItemOverlap) -> str:
    """What must be read beside both coefficients."""
    pairs = [(name, row) for name, row in (("alpha", block.alpha), ("omega", block.omega)) if row]
    notes_by_name = {name: note_of(row.coefficient, row.interval) for name, row in pairs}
    return "; ".join(f"{name}: {note}" for name, note in notes_by_name.items() if note)


def _least_in_common(block: ItemOverlap) -> list[TextBlock]:
    row = block.loosest
    if not row:
        return []
    sentence = _("%(title)s has least in common with the other items: r = %(r)s with their sum.")
    return [TextBlock(words=sentence % {"title": row.title, "r": coefficient(row.with_rest.coefficient.value)})]


def _item_table(block: ItemOverlap, n: int, head: Head) -> ReportTable[ItemTogether]:
    with_rest = _columns("with_rest", phrase(_("With the<br>rest")), css=LEAD)
    with_others = _columns("mean_with_others", phrase(_("Mean with<br>each other")))
    return ReportTable(
        name="item-rest",
        label=_("Items, table %(n)s") % {"n": n},
        caption=_(
            "Pearson’s r over sets of answers (one rater, one story); by chance is what an item’s "
            "answers shuffled within each rater would reach."
        ),
        rows=block.items,
        why=lambda row: row.with_rest.coefficient.why,
        columns=[
            columns.item(head),
            *(column.at(lambda row: row.with_rest) for column in with_rest),
            *(column.at(lambda row: row.with_others) for column in with_others),
            columns.fields("n", "n_left_out", "n_raters", of=lambda row: block),
            columns.note(lambda row: note_of(row.with_rest.coefficient, row.with_rest.interval)),
        ],
    )


def _pair_file(block: ItemOverlap) -> ReportTable[ItemPair]:
    return file_only(
        "item-correlations",
        block.pairs,
        columns.fields("kind", "n", of=lambda pair: block),
        columns.fields("first", "second"),
        *(column.at(lambda pair: pair.correlation) for column in _columns("r", None)),
        columns.note(lambda pair: note_of(pair.correlation.coefficient, pair.correlation.interval)),
    )


def _columns(name: str, heading: Phrase | None, *, css: str = "") -> Sequence[TableColumn[ItemCorrelation]]:
    """The value, interval and floor of a correlation."""
    by_chance = phrase(_("Chance floor<br>mean, 97.5th"))
    return [
        columns.number(name, heading, lambda row: row.coefficient.value, write=coefficient, css=css),
        columns.interval(lambda row: row.interval, write=coefficients, low=f"{name}_low", high=f"{name}_high"),
        columns.floor(by_chance, lambda row: row.floor, write=coefficient, prefix=f"{name}_"),
    ]


def _scores(dataset: Dataset) -> Iterator[ItemBlock]:
    """The items of each declared score, turned and weighted as they count in it."""
    item_by_key = {item.key: item for item in dataset.items}
    for table in dataset.outcomes:
        if table.outcome.kind == "score" and table.outcome.score:
            items = [item_by_key[key] for key in table.outcome.items]
            cube = dataset.cube(items)
            counted = counted_values(table.outcome.score, items, cube.values)
            yield ItemBlock("score", table.outcome.title, tuple(items), None, replace(cube, values=counted))


def _overlap(dataset: Dataset, block: ItemBlock) -> ItemOverlap:
    try:
        material = item_analysis.read_rows(block.cube.values, dataset.clusters(block.cube))
    except Incomputable as error:
        return ItemOverlap(kind=block.kind, title=block.title, n=0, n_left_out=0, n_raters=0, why=Reason.of(error))
    covariance = item_analysis.covariance_of(material)
    matrix, rest = item_analysis.correlations(covariance), item_analysis.item_rest(covariance)
    means = item_analysis.mean_correlations(covariance)
    ends = item_analysis.item_intervals(material, rng=dataset.resampling(), n_resamples=N_RESAMPLES)
    rest_floors, mean_floors = item_analysis.item_floors(material)
    pair_floors = item_analysis.pair_floors(material)
    n_raters = len(np.unique(material.raters))
    omega = _mcdonald_omega(dataset, material, covariance) if block.kind == "score" else None
    keys = [item.item.key for item in block.items]
    return ItemOverlap(
        kind=block.kind,
        title=block.title,
        n=len(material.answers),
        n_left_out=material.n_left_out,
        n_raters=n_raters,
        alpha=_correlation(
            float(item_analysis.cronbach_alpha(covariance)),
            ends.alpha,
            item_analysis.alpha_floor(material),
            name="Cronbach's alpha",
        ),
        omega=omega,
        items=tuple(
            ItemTogether(
                **item_fields(item),
                with_rest=_correlation(float(rest[n]), ends.rest[n], rest_floors[n]),
                with_others=_correlation(float(means[n]), ends.means[n], mean_floors[n]),
            )
            for n, item in enumerate(block.items)
        ),
        pairs=tuple(
            ItemPair(
                first=keys[i],
                second=keys[j],
                correlation=_correlation(float(matrix[i, j]), ends.pairs[i, j], pair_floors[i, j]),
            )
            for i, j in sorted(pair_floors)
        ),
    )


def _mcdonald_omega(dataset: Dataset, material: ItemMaterial, covariance: FloatArray) -> ItemCorrelation:
    try:
        factor = one_factor.fit_one_factor(covariance)
    except Incomputable as error:
        why = Reason.of(error)
        return ItemCorrelation(
            coefficient=Estimate(value=None, why=why),
            interval=Interval(low=None, high=None, why=why),
            floor=Floor(mean=None, upper=None, why=why),
        )
    floor = one_factor.omega_floor(material, rng=dataset.shuffling())
    return _correlation(factor.omega, Incomputable("no_interval_of_omega"), floor, name="McDonald's omega, total")


def _correlation(
    value: float, ends: StatisticInterval | Incomputable, floor: StatisticFloor, *, name: str = "Pearson's r"
) -> ItemCorrelation:
    if value != value:
        why = without_value("item_constant")
        return ItemCorrelation(
            coefficient=Estimate(value=None, why=why),
            interval=Interval(low=None, high=None, why=why),
            floor=Floor(mean=None, upper=None, why=why),
        )
    return ItemCorrelation(
        coefficient=Estimate(value=float(value), name=name),
        interval=Interval.of(ends),
        floor=Floor(mean=floor.mean, upper=floor.upper),
    )
