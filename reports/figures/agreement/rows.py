"""Agreement on an item with its interval, floor and coverage, and the mean over items."""

from __future__ import annotations

from dataclasses import dataclass

from reports.document.values import Estimate, Floor, Interval, Mean
from reports.figures.base import ItemRow
from reports.figures.coverage import Coverage

ALPHA = 0.05


@dataclass(frozen=True, kw_only=True)
class SourceAgreement(Estimate):
    source: str


@dataclass(frozen=True, kw_only=True)
class ItemAgreement(ItemRow):
    """The coefficient of one item.

    yes_percent : of items answered Yes or No
    alpha : nominal, beside a kappa
    p_above_chance : of a scale, that alpha lies above 0 and above what shuffled answers reach; p_holm : over all scales
    within_source, among_models : of items about a story, unless sealed
    """

    level: str
    coefficient: Estimate
    percent_agreement: Estimate
    yes_percent: Estimate | None
    alpha: Estimate | None
    interval: Interval
    floor: Floor
    coverage: Coverage
    p_above_chance: float | None = None
    p_holm: float | None = None
    within_source: tuple[SourceAgreement, ...] | None = None
    among_models: Estimate | None = None

    @property
    def is_on_a_scale(self) -> bool:
        return self.coefficient.name == "Krippendorff's alpha, ordinal"

    @property
    def is_beyond_chance(self) -> bool:
        """Whether the interval of a scale's alpha lies above 0 and above what shuffled answers reach, and still does
        when it is widened for all scales."""
        low, upper = self.interval.low, self.floor.upper
        if low is None or upper is None or self.p_holm is None:
            return False
        return low > max(upper, 0.0) and self.p_holm < ALPHA


@dataclass(frozen=True, kw_only=True)
class MeanAgreement:
    """The mean over items answered Yes or No that have a kappa.

    above_models : the interval of the mean less that among models' stories, over the items that have both
    """

    coefficient: Mean
    interval: Interval
    floor: Floor
    percent_agreement: Mean
    yes_percent: Mean
    coverage: tuple[Coverage, ...]
    among_models: Mean | None = None
    above_models: Interval | None = None

    def as_item(self, title: str) -> ItemAgreement:
        """The mean as the last row of the table of items."""
        return ItemAgreement(
            step="",
            item="",
            title=title,
            dimension="",
            type="",
            level="",
            coefficient=self.coefficient,
            percent_agreement=self.percent_agreement,
            yes_percent=self.yes_percent,
            alpha=None,
            interval=self.interval,
            floor=self.floor,
            coverage=Coverage(n_units=0, n_all=0, least=0, most=0),
            among_models=self.among_models,
        )

    @property
    def rests_on_sources(self) -> bool:
        """Whether agreement is shown to be above chance over all stories, and larger than among those of models: then
        it comes, at least in part, from telling people from models."""
        low, upper = self.interval.low, self.floor.upper
        above_models = self.above_models.low if self.above_models else None
        if low is None or above_models is None or low <= max(upper or 0.0, 0.0):
            return False
        return above_models > 0


@dataclass(frozen=True, kw_only=True)
class AgreementResult:
    items: tuple[ItemAgreement, ...]
    mean: MeanAgreement | None
    n_resamples: int
    seed: int
