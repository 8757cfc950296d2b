"""Whether judges choose as most people do where they explain at length (after LitBench, section 5.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports.dataset.explained_choices import ExplainedChoice, list_explained_choices
from reports.document import columns, notes, plots
from reports.document.columns import LEAD, decimals
from reports.document.model import DocumentSection, DrawnPlot, Files, Head, ReportTable, TextBlock
from reports.document.phrases import in_language, joined, phrase
from reports.document.values import IntervalEstimate
from reports.figures.base import Figure, ItemFigure, ItemRow, Listing, item_fields, note_of, share_fields
from reports.lazy import np
from reports.numbers import whole

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem

SALT = 69  # of the seed
CHANCE = 50.0
N_BINS = 4


@dataclass(frozen=True, kw_only=True)
class BinAccuracy(IntervalEstimate):
    """In percent of n choices in n_pairs pairs that a judge explained in least_words to most_words, over clusters."""

    judge: str
    least_words: int
    most_words: int
    mean_words: float
    n: int
    n_pairs: int


@dataclass(frozen=True, kw_only=True)
class ItemExplainedChoices(ItemRow):
    n: int
    bins: tuple[BinAccuracy, ...]


class ExplainedChoices(ItemFigure[ItemExplainedChoices], Figure[Listing[ItemExplainedChoices]]):
    key = "explained_choices"
    title = gettext_lazy("Judges’ choices by length of explanation")
    position = 75
    section = "pairs"
    tables = ("explained-choices",)

    def is_about(self, item: StepItem) -> bool:
        return item.is_preference

    def of_item(self, dataset: Dataset, item: StepItem, *, salt: int) -> ItemExplainedChoices | None:
        choices = list_explained_choices(dataset, item)
        if not choices:
            return None
        return ItemExplainedChoices(**item_fields(item), n=len(choices), bins=tuple(_bins(dataset, choices, salt=salt)))

    def describe(self, result: Listing[ItemExplainedChoices], head: Head) -> Iterator[DocumentSection]:
        method = _(
            "The bins are quarters of all explained choices by words, the same for every judge. A choice is right if "
            "more than half of the pair’s people made it; each order of a pair counts as one choice. Judges that "
            "explain more may differ in other ways: this is no effect of length."
        )
        for row in result.rows:
            counted = ngettext("%(shown)s explained choice", "%(shown)s explained choices", row.n)
            yield DocumentSection(
                heading=joined(
                    _("Do judges choose better where they explain more?"),
                    in_language(row.title, head.language) if len(result.rows) > 1 else "",
                ),
                body=[
                    DrawnPlot(
                        plot=_plot(row),
                        title=_("Agreement with most people by words of explanation, in percent"),
                        described=notes.table_below_plot(),
                        caption=_(
                            "Percent right, from the shortest to the longest explanations; the dotted line is chance"
                        ),
                        label=row.title,
                    ),
                    Files(words=counted % {"shown": whole(row.n)}, table="explained-choices", is_count=True),
                    _table(row),
                ],
                margin=[
                    TextBlock(words=method),
                    notes.clusters_of_pairs(),
                    *notes.weakest(part.interval for part in row.bins),
                ],
            )


def _bins(dataset: Dataset, choices: Sequence[ExplainedChoice], *, salt: int) -> Iterator[BinAccuracy]:
    """Of every judge each bin of words that has choices of it."""
    bounds = find_bounds([choice.n_words for choice in choices])
    for place, judge in enumerate(sorted({choice.judge for choice in choices})):
        own = [choice for choice in choices if choice.judge == judge]
        for n, (least, most) in enumerate(bounds):
            part = [choice for choice in own if least <= choice.n_words <= most]
            if part:
                groups = [choice.group for choice in part]
                is_right = [float(choice.is_right) for choice in part]
                rng = dataset.rng(SALT, salt, place, n)
                yield BinAccuracy(
                    judge=judge,
                    least_words=least,
                    most_words=most,
                    mean_words=sum(choice.n_words for choice in part) / len(part),
                    n=len(part),
                    n_pairs=len(set(groups)),
                    **share_fields(is_right, dataset.clusters_of(groups), rng=rng),
                )


def find_bounds(n_words: Sequence[int]) -> list[tuple[int, int]]:
    """The fewest and the most words of each bin: quarters of all, fewer where many are of one length."""
    quartiles = np.quantile(n_words, np.arange(1, N_BINS) / N_BINS, method="lower").astype(int).tolist()
    ends = sorted({*quartiles, max(n_words)})
    return list(zip([min(n_words), *(end + 1 for end in ends[:-1])], ends, strict=True))


def _table(row: ItemExplainedChoices) -> ReportTable[BinAccuracy]:
    return ReportTable(
        name="explained-choices",
        label=_("Agreement with most people by words of explanation"),
        caption=_("In percent; by chance 50."),
        rows=row.bins,
        columns=[
            columns.item_in_file(lambda part: row),
            columns.words("judge", _("Judge"), is_head=True),
            columns.number("least_words", _("Words, from"), write=whole),
            columns.number("most_words", _("to"), write=whole),
            columns.number("mean_words", _("Mean"), write=decimals(1)),
            *columns.with_interval("percent", phrase(_("Right, %%")), places=1, css=LEAD),
            columns.number("n", "n"),
            columns.number("n_pairs", _("Pairs")),
            columns.note(lambda part: note_of(part, part.interval)),
        ],
        summary=_("Table"),
    )


def _plot(row: ItemExplainedChoices) -> plots.PanelPlot:
    x = plots.value_axis([0.0, *(part.mean_words for part in row.bins)], most=4)
    chance = plots.Curve(((x.low, CHANCE), (x.high, CHANCE)), source=None)
    panels = []
    for judge in dict.fromkeys(part.judge for part in row.bins):
        drawn = [part for part in row.bins if part.judge == judge and part.value is not None]
        points = tuple(
            plots.Point(
                part.mean_words,
                part.value or 0.0,
                low=part.interval.low,
                high=part.interval.high,
                is_weak=part.interval.is_weak,
            )
            for part in drawn
        )
        line = plots.Curve(tuple((point.x, point.y) for point in points))
        panels.append(plots.Panel(judge, curves=(chance, line), points=points))
    return plots.PanelPlot(panels, [], x, plots.PERCENT, is_small=len(panels) > 2, is_single=len(panels) == 1)
