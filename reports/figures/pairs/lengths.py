"""Whether the longer of two stories is preferred: words of chosen and rejected ones (LitBench, figure 2)."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports.dataset.choices import choices_of
from reports.dataset.pairs import list_pairs
from reports.document import columns, notes, plots
from reports.document.columns import LEAD
from reports.document.files import file_only
from reports.document.model import Block, DocumentSection, DrawnPlot, Files, Head, ReportTable, TableColumn, TextBlock
from reports.document.phrases import in_language, joined, phrase
from reports.document.values import IntervalEstimate
from reports.figures.base import (
    Figure,
    ItemFigure,
    ItemRow,
    Listing,
    ends_of_mean,
    item_fields,
    note_of,
    share_fields,
    without_value,
)
from reports.lazy import np
from reports.numbers import decimal, measured, whole
from reports.numbers import interval as between

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from stats.arrays import IntArray

SALT = 67  # of the seed
MOST_BINS = 20


@dataclass(frozen=True, kw_only=True)
class LengthEstimate(IntervalEstimate):
    """Over n pairs."""

    n: int


@dataclass(frozen=True, kw_only=True)
class LengthBin:
    """Pairs whose chosen story has so many words more than the other: from start up to, not including, end."""

    start: float
    end: float
    n: int


@dataclass(frozen=True, kw_only=True)
class PairLengths(ItemRow):
    """Of the pairs in which more than half preferred one story, and whose words are known.

    n_undecided : pairs without such a story; n_withheld : pairs of which a text is not here; n_alike : of equal length
    longer : how often the longer one is preferred, in percent of the pairs whose lengths differ
    difference : words of the preferred story less those of the other
    """

    n_pairs: int
    n_undecided: int
    n_withheld: int
    n_alike: int
    median_chosen: float | None
    median_rejected: float | None
    mean_chosen: float | None
    mean_rejected: float | None
    longer: LengthEstimate
    difference: LengthEstimate
    bins: tuple[LengthBin, ...]


class LengthsOfPairs(ItemFigure[PairLengths], Figure[Listing[PairLengths]]):
    key = "pair_lengths"
    title = gettext_lazy("Length and preference")
    position = 72
    section = "pairs"
    tables = ("pair-lengths", "length-differences")

    def is_about(self, item: StepItem) -> bool:
        return item.is_preference

    def of_item(self, dataset: Dataset, item: StepItem, *, salt: int) -> PairLengths | None:
        lengths = _lengths(dataset, item, salt=salt)
        return lengths if lengths.n_pairs else None

    def describe(self, result: Listing[PairLengths], head: Head) -> Iterator[DocumentSection]:
        weakest = notes.weakest(part.interval for row in result.rows for part in (row.longer, row.difference))
        left_out = _(
            "Preferred is what more than half of a pair’s raters chose. Not here: %(n_undecided)s pairs without such "
            "a story and %(n_withheld)s of which a text is withheld; %(n_alike)s pairs are of equal length."
        )
        for row in result.rows:
            counts = {name: whole(getattr(row, name)) for name in ("n_undecided", "n_withheld", "n_alike")}
            about = in_language(row.title, head.language) if len(result.rows) > 1 else ""
            yield DocumentSection(
                heading=joined(_("Is the longer story preferred?"), about),
                body=list(_blocks(row)),
                margin=[TextBlock(words=phrase(left_out, **counts)), notes.clusters_of_pairs(), *weakest],
            )


def _lengths(dataset: Dataset, item: StepItem, *, salt: int) -> PairLengths:
    pairs = list_pairs(dataset, choices_of(dataset, item))
    decided = [pair for pair in pairs if pair.preferred is not None]
    known = [pair for pair in decided if all(map(math.isfinite, pair.n_words))]
    words = [(pair.n_words[pair.preferred or 0], pair.n_words[1 - (pair.preferred or 0)]) for pair in known]
    differences = np.array([chosen - rejected for chosen, rejected in words], dtype=np.float64)
    is_longer = np.where(differences == 0, np.nan, differences > 0)
    clusters = dataset.clusters_of(pair.group for pair in known)
    return PairLengths(
        **item_fields(item),
        n_pairs=len(known),
        n_undecided=len(pairs) - len(decided),
        n_withheld=len(decided) - len(known),
        n_alike=int((differences == 0).sum()),
        **_summary(words),
        longer=LengthEstimate(
            n=int(np.isfinite(is_longer).sum()),
            **share_fields(is_longer, clusters, rng=dataset.rng(SALT, salt, 0)),
        ),
        difference=_difference(dataset, differences, clusters, salt=salt),
        bins=tuple(_bins(differences.tolist())),
    )


def _summary(words: Sequence[tuple[float, float]]) -> dict[str, Any]:
    chosen, rejected = [pair[0] for pair in words], [pair[1] for pair in words]
    return {
        "median_chosen": statistics.median(chosen) if chosen else None,
        "median_rejected": statistics.median(rejected) if rejected else None,
        "mean_chosen": statistics.fmean(chosen) if chosen else None,
        "mean_rejected": statistics.fmean(rejected) if rejected else None,
    }


def _difference(dataset: Dataset, differences: Any, clusters: IntArray, *, salt: int) -> LengthEstimate:
    return LengthEstimate(
        value=float(differences.mean()) if differences.size else None,
        why=None if differences.size else without_value("no_choices"),
        n=int(differences.size),
        interval=ends_of_mean(differences, clusters, rng=dataset.rng(SALT, salt, 1)),
    )


def _bins(differences: Sequence[float]) -> Iterator[LengthBin]:
    """Bins of one round width, the same to both sides of 0, that hold all differences."""
    farthest = max(map(abs, differences), default=0.0) or 1.0
    size = 10.0 ** math.floor(math.log10(farthest))
    width = next(size * part for part in (0.1, 0.2, 0.5, 1.0, 2.0) if 2 * farthest / (size * part) <= MOST_BINS)
    n_sides = math.floor(farthest / width) + 1
    for n in range(-n_sides, n_sides):
        start, end = n * width, (n + 1) * width
        yield LengthBin(start=start, end=end, n=sum(start <= value < end for value in differences))


def _plot(row: PairLengths) -> plots.PanelPlot:
    bars = tuple(plots.HistogramBar(part.start, part.end, float(part.n)) for part in row.bins)
    ends = [row.bins[0].start, row.bins[-1].end]
    most = plots.count_axis(max(part.n for part in row.bins))
    return plots.PanelPlot([plots.Panel("", bars=bars)], [], plots.difference_axis(ends), most, is_single=True)


def _blocks(row: PairLengths) -> Iterator[Block]:
    longer = row.longer
    if longer.value is not None:
        sentence = _(
            "The longer of two stories is preferred in <strong>%(percent)s %%</strong> of %(n)s pairs (95 %% interval "
            "%(ends)s)."
        )
        values = {"percent": decimal(longer.value, 0), "n": whole(longer.n), "ends": between(longer.interval, 0)}
        yield TextBlock(words=phrase(sentence, **values))
    yield DrawnPlot(
        plot=_plot(row),
        title=_("Differences in length between preferred and other stories"),
        described=_("The table below the plot holds every bar."),
        caption=_("Pairs by words of the preferred story less those of the other"),
        label=row.title,
    )
    counted = ngettext("%(shown)s pair", "%(shown)s pairs", row.n_pairs) % {"shown": whole(row.n_pairs)}
    yield Files(words=counted, table="length-differences", is_count=True)
    yield _summary_table(row)
    yield _file_table(row)
    yield Files(words=_("Words of preferred and other stories"), table="pair-lengths")
    yield ReportTable(
        name="length-differences",
        label=_("Differences in length"),
        rows=row.bins,
        columns=[
            columns.item_in_file(lambda part: row),
            columns.number("start", _("Words more, from"), write=measured, is_head=True),
            columns.number("end", _("to below"), write=measured),
            columns.number("n_pairs", _("Pairs"), lambda part: part.n, css=LEAD),
        ],
        summary=_("Table"),
    )


@dataclass(frozen=True)
class _Average:
    name: str
    chosen: float | None
    rejected: float | None
    difference: LengthEstimate | None


def _summary_table(row: PairLengths) -> ReportTable[_Average]:
    def words(name: str, heading: str) -> TableColumn[_Average]:
        return columns.shown(heading, lambda average: measured(getattr(average, name)))

    return ReportTable(
        label=_("Words of preferred and other stories"),
        rows=[
            _Average(_("Mean"), row.mean_chosen, row.mean_rejected, row.difference),
            _Average(_("Median"), row.median_chosen, row.median_rejected, None),
        ],
        columns=[
            columns.shown(_("Words"), lambda average: average.name, is_head=True),
            words("chosen", _("Preferred")),
            words("rejected", _("Other")),
            columns.shown(
                _("Difference"), lambda part: measured(part.difference.value) if part.difference else "", css=LEAD
            ),
            columns.interval(
                lambda average: average.difference.interval if average.difference else None,
                write=lambda ends: between(ends) if ends else "",
            ),
        ],
    )


def _file_table(row: PairLengths) -> ReportTable[PairLengths]:
    return file_only(
        "pair-lengths",
        [row],
        columns.item_in_file(),
        columns.fields("n_pairs", "n_undecided", "n_withheld", "n_alike"),
        columns.fields("median_chosen", "median_rejected", "mean_chosen", "mean_rejected"),
        columns.fields(longer_percent="longer.value", longer_low="longer.interval.low"),
        columns.fields(longer_high="longer.interval.high", difference="difference.value"),
        columns.fields(difference_low="difference.interval.low", difference_high="difference.interval.high"),
        columns.note(lambda row: note_of(row.longer, row.longer.interval)),
    )
