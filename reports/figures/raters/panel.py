"""What each rater does to the results: how strict they are beside their co-raters, and agreement without them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.dataset.blocks import ItemBlock, choice_ratings, item_blocks
from reports.dataset.choices import choice_table, choices_of
from reports.dataset.step_items import widest
from reports.document import notes
from reports.document.model import (
    DocumentSection,
    Head,
    Subsection,
    TextBlock,
)
from reports.document.values import Interval
from reports.figures.base import Figure, ItemRow, interval, item_fields
from reports.figures.block_titles import block_title
from reports.figures.coverage import Coverage
from reports.figures.raters.panel_tables import item_by_item, rater_blocks
from reports.lazy import agreement, intervals, np, panel
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from stats.agreement import Coefficient
    from stats.arrays import FloatArray
    from stats.intervals import Interval as StatisticInterval


@dataclass(frozen=True, kw_only=True)
class RaterRow:
    """One rater beside the others on the same stories.

    value : own mean less the co-raters', below 0 the stricter; in points of percent for verdicts
    n_stories : stories that somebody else rated, too
    without : mean agreement over the items of the block when the rater is left out, or None; change : less that of all
    """

    rater: str
    value: float
    interval: Interval
    n_stories: int
    without: float | None
    change: float | None

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves out 0."""
        low, high = self.interval.low, self.interval.high
        return low is not None and high is not None and (low > 0 or high < 0)


@dataclass(frozen=True, kw_only=True)
class PanelBlock:
    """The raters on items of one scale.

    agreement : the mean over items of what the agreement section shows; n_items : those that have one
    coverage : what it rests on, of each of these
    """

    kind: str
    title: str
    n_items: int
    name: str
    agreement: float | None
    coverage: tuple[Coverage, ...]
    raters: tuple[RaterRow, ...]

    @property
    def is_percent(self) -> bool:
        return self.kind == "verdicts"

    @property
    def places(self) -> int:
        return 1 if self.is_percent else 2

    @property
    def strictest(self) -> RaterRow:
        return min(self.raters, key=lambda row: row.value)

    @property
    def has_strictest(self) -> bool:
        """Whether somebody is stricter than the others, and nobody as strict, by as much as is shown."""
        least, *others = sorted(round(row.value, self.places) for row in self.raters)
        return least < min([0.0, *others])

    @property
    def mildest(self) -> RaterRow:
        return max(self.raters, key=lambda row: row.value)

    @property
    def heaviest(self) -> RaterRow | None:
        """Whose absence moves the mean agreement most."""
        rows = [row for row in self.raters if row.change is not None]
        return max(rows, key=lambda row: abs(row.change or 0.0), default=None)

    @property
    def span(self) -> tuple[float, float] | None:
        """The lowest and highest mean agreement without one of them."""
        values = [row.without for row in self.raters if row.without is not None]
        return (min(values), max(values)) if values else None


@dataclass(frozen=True, kw_only=True)
class ItemWithout(ItemRow):
    """One item's agreement, and its range when each rater is left out in turn.

    rater : whose absence moves it most; without : what it then is
    n_without_value : raters without whom it has none
    """

    name: str
    value: float
    low: float | None
    high: float | None
    rater: str
    without: float | None
    n_raters: int
    n_without_value: int


@dataclass(frozen=True, kw_only=True)
class PanelResult:
    blocks: tuple[PanelBlock, ...]
    items: tuple[ItemWithout, ...]


class RaterPanel(Figure[PanelResult]):
    """Raters are named by their codes; nothing here is told by source."""

    key = "panel"
    title = gettext_lazy("Rater severity")
    position = 54
    section = "raters"
    tables = ("severity", "leave-one-rater-out")
    pages_of = "raters"
    edition = 4

    def compute(self, dataset: Dataset) -> PanelResult | None:
        asked = [item for item in dataset.items if item.level != "none" and item.step.scope != "once"]
        if not asked:
            return None
        without_by_item: dict[tuple[str, str], tuple[Coefficient, FloatArray]] = {}
        rows = []
        blocks = item_blocks(dataset)
        ratings = {
            item.key: part for block in blocks for item, part in zip(block.items, block.cube.values, strict=True)
        }
        for item in asked:
            try:
                whole, without, raters = _without_each(dataset, item, ratings)
            except Incomputable:
                continue  # the agreement section says why
            without_by_item[item.key] = whole, without
            rows.append(_item_row(item, whole, without, raters))
        results = [_panel_block(dataset, block, without_by_item) for block in blocks]
        return PanelResult(blocks=tuple(filter(None, results)), items=tuple(rows))

    def is_empty(self, result: PanelResult) -> bool:
        return not result.blocks and not result.items

    def describe(self, result: PanelResult, head: Head) -> Iterator[DocumentSection]:
        margin = [
            _(
                "Below 0 a rater is stricter than the others were on the same stories. The interval says how far that "
                "would go on other stories; it holds the others fixed."
            ),
            _(
                "Agreement without a rater answers whether one person makes or breaks it. Raters are never resampled: "
                "one drawn twice would agree with themself."
            ),
            _("These are questions to ask, not verdicts."),
        ]
        all_intervals = [row.interval for block in result.blocks for row in block.raters]
        yield DocumentSection(
            heading=_("Rater severity"),
            body=[
                *(
                    Subsection(heading=block_title(block, head), blocks=list(rater_blocks(block, n)))
                    for n, block in enumerate(result.blocks, start=1)
                ),
                *([item_by_item(result, head)] if result.items else []),
            ],
            margin=[*(TextBlock(words=words) for words in margin), *notes.weakest(all_intervals)],
        )


def _without_each(
    dataset: Dataset, item: StepItem, ratings_by_item: dict[tuple[str, str], FloatArray]
) -> tuple[Coefficient, FloatArray, Sequence[str]]:
    """The item's agreement as its section has it, the same without each rater, and who these are."""
    if item.is_preference:
        choices = choices_of(dataset, item)
        groups = sorted({choice.group for choice in choices})
        n_stories = {choice.group: len(choice.order) for choice in choices}
        n_values = np.array([n_stories[group] + ("no_difference" in item.item.settings) for group in groups])
        chosen = choice_table(choices, groups).chosen
        whole = agreement.brennan_prediger(chosen, n_values)
        return whole, panel.brennan_prediger_without_each(chosen, n_values), sorted({c.rater for c in choices})
    if item.level == "nominal" and not item.type.is_verdict:
        ratings = choice_ratings(dataset, item)
    else:
        ratings = ratings_by_item[item.key] if item.key in ratings_by_item else dataset.cube([item]).values[0]
    if item.level == "nominal":
        return agreement.fleiss_kappa(ratings), panel.fleiss_without_each(ratings), dataset.raters
    level: Any = item.level
    return agreement.krippendorff_alpha(ratings, level), panel.alpha_without_each(ratings, level), dataset.raters


def _item_row(item: StepItem, whole: Coefficient, without: FloatArray, raters: Sequence[str]) -> ItemWithout:
    value = float(whole)
    has_value = np.isfinite(without)
    heaviest = int(np.nanargmax(np.abs(without - value))) if has_value.any() else None
    return ItemWithout(
        **item_fields(item),
        name=whole.name,
        value=value,
        low=float(np.nanmin(without)) if has_value.any() else None,
        high=float(np.nanmax(without)) if has_value.any() else None,
        rater="" if heaviest is None else raters[heaviest],
        without=None if heaviest is None else float(without[heaviest]),
        n_raters=whole.n_raters,
        n_without_value=int((~has_value).sum()),
    )


def _panel_block(
    dataset: Dataset,
    block: ItemBlock,
    without_by_item: dict[tuple[str, str], tuple[Coefficient, FloatArray]],
) -> PanelBlock | None:
    try:
        material = panel.differences(block.cube.values)
    except Incomputable:
        return None
    scale = 100.0 if block.kind == "verdicts" else 1.0
    most = scale * widest(block.items)
    pairs = [without_by_item[item.key] for item in block.items if item.key in without_by_item]
    coverage = [
        Coverage.of_ratings(ratings, are_stories=item.is_about_a_story)
        for item, ratings in zip(block.items, block.cube.values, strict=True)
        if item.key in without_by_item
    ]
    mean = float(np.mean([float(whole) for whole, _without in pairs])) if pairs else None
    # A mean over fewer items than that of all would not be beside it.
    without = (
        np.mean([values for _whole, values in pairs], axis=0) if pairs else np.full(len(block.cube.raters), np.nan)
    )
    clusters = np.unique(dataset.clusters(block.cube), return_inverse=True)[1]
    rows = []
    for rater in np.unique(material.raters).tolist():
        is_own = material.raters == rater
        values, own_clusters = scale * material.values[is_own], clusters[material.units[is_own]]

        def ends(values: FloatArray = values, own_clusters: Any = own_clusters) -> StatisticInterval:
            rng = dataset.resampling()
            return intervals.mean_interval(values, own_clusters, rng=rng).clipped(-most, most)

        alone = float(without[rater]) if np.isfinite(without[rater]) else None
        rows.append(
            RaterRow(
                rater=block.cube.raters[rater],
                value=float(values.mean()),
                interval=interval(ends),
                n_stories=int(is_own.sum()),
                without=alone,
                change=None if alone is None or mean is None else alone - mean,
            )
        )
    name = pairs[0][0].name if pairs else ""
    return PanelBlock(
        kind=block.kind,
        title=block.title,
        n_items=len(pairs),
        name=name,
        agreement=mean,
        coverage=tuple(coverage),
        raters=tuple(rows),
    )
