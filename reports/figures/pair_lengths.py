"""Whether the longer of two stories is preferred: words of chosen and rejected ones (LitBench, figure 2)."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy

from reports.dataset.choices import choices_of
from reports.dataset.pairs import list_pairs
from reports.figures import plots
from reports.figures.base import (
    N_RESAMPLES,
    Figure,
    IntervalEstimate,
    ItemFigure,
    ItemRow,
    Listing,
    Row,
    interval,
    item_cells,
    item_fields,
    note_of,
    share_fields,
    weakest_note,
    without_value,
)
from reports.lazy import intervals, np
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
    result = Listing[PairLengths]
    tables = ("pair-lengths", "length-differences")

    def is_about(self, item: StepItem) -> bool:
        return item.is_preference

    def of_item(self, dataset: Dataset, item: StepItem, *, salt: int) -> PairLengths | None:
        lengths = _lengths(dataset, item, salt=salt)
        return lengths if lengths.n_pairs else None

    def rows(self, result: Listing[PairLengths]) -> dict[str, Iterator[Row]]:
        return {"pair-lengths": _rows(result), "length-differences": _bin_rows(result)}

    def lines(self, result: Listing[PairLengths]) -> Iterator[str]:
        for row in result.rows:
            yield f"\n{row.title}: words of the preferred story and of the other, of {whole(row.n_pairs)} pairs"
            medians = f"median {measured(row.median_chosen)} and {measured(row.median_rejected)}"
            yield f"  {medians}, mean {decimal(row.mean_chosen)} and {decimal(row.mean_rejected)}"
            longer, difference = row.longer, row.difference
            yield f"  the longer is preferred in {decimal(longer.value)} %, 95 % {between(longer.interval)}"
            yield f"  difference {decimal(difference.value)} words, 95 % {between(difference.interval)}"

    def context(self, result: Listing[PairLengths]) -> dict[str, Any]:
        note = weakest_note(part.interval for row in result.rows for part in (row.longer, row.difference))
        return {"rows": [(row, _plot(row)) for row in result.rows], "note": note}


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
        interval=interval(
            intervals.mean_interval, differences, clusters, rng=dataset.rng(SALT, salt, 1), n_resamples=N_RESAMPLES
        ),
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


def _rows(result: Listing[PairLengths]) -> Iterator[Row]:
    for row in result.rows:
        yield item_cells(row) | {
            "n_pairs": row.n_pairs,
            "n_undecided": row.n_undecided,
            "n_withheld": row.n_withheld,
            "n_alike": row.n_alike,
            "median_chosen": row.median_chosen,
            "median_rejected": row.median_rejected,
            "mean_chosen": row.mean_chosen,
            "mean_rejected": row.mean_rejected,
            "longer_percent": row.longer.value,
            "longer_low": row.longer.interval.low,
            "longer_high": row.longer.interval.high,
            "difference": row.difference.value,
            "difference_low": row.difference.interval.low,
            "difference_high": row.difference.interval.high,
            "note": note_of(row.longer, row.longer.interval),
        }


def _bin_rows(result: Listing[PairLengths]) -> Iterator[Row]:
    for row in result.rows:
        for part in row.bins:
            yield item_cells(row) | {"start": part.start, "end": part.end, "n_pairs": part.n}


def _plot(row: PairLengths) -> plots.PanelPlot:
    bars = tuple(plots.HistogramBar(part.start, part.end, float(part.n)) for part in row.bins)
    ends = [row.bins[0].start, row.bins[-1].end]
    most = plots.count_axis(max(part.n for part in row.bins))
    return plots.PanelPlot([plots.Panel("", bars=bars)], [], plots.difference_axis(ends), most, is_single=True)
