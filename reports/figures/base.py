"""What a figure of the report is, and the values that figures share.

A figure is one thing that a report says. Its file holds the dataclasses of its result, how it is computed, and its
description, from which `reports.document` writes page, CSV files and text. Files, `manage.py report`, the page, the
fingerprint and the docs loop over what is discovered, so nothing here is imported before it is used: see
`reports.lazy`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, SupportsFloat, TypeVar, get_args, get_origin

from django.utils.functional import Promise

from reports import reasons
from reports.document import files as document_files
from reports.document import text as document_text
from reports.document.leaderboard import Gauge, Leaderboard
from reports.document.model import DocumentSection, Head, TextBlock
from reports.document.values import Estimate, Floor, Interval, Mean, Reason
from reports.lazy import agreement, intervals, np, rates
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset, OutcomeTable, StepItem
    from stats.arrays import BoolArray, FloatArray
    from stats.intervals import Interval as StatisticInterval

N_RESAMPLES = 1000
FEW = 30
NO_HEAD = Head()  # where nothing depends on what the report is about
Row = dict[str, Any]
T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, kw_only=True)
class ItemRow:
    """Which item a row is about."""

    step: str
    item: str
    title: str
    dimension: str
    type: str


ALL_ITEMS = ItemRow(step="", item="all", title="", dimension="", type="")


@dataclass(frozen=True)
class Listing(Generic[T]):
    """A result that is nothing but its rows; in the document a list."""

    rows: tuple[T, ...] = ()


@dataclass(frozen=True)
class Highlight:
    """A key figure at the head of the page: what it is, how much, and where it stands among the others."""

    words: str
    number: str
    position: int


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What a finding states as shown, so that it can be compared with a known truth.

    kind : "difference", "difference of raters" (for these raters alone), "equivalence", "agreement" (beyond chance),
        "authorship" (told), "judge" (may stand in)
    better, worse : the two sources of a difference or an equivalence
    """

    kind: str
    better: str = ""
    worse: str = ""


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A finding at the head of the page: one sentence, made by rule from the result.

    basis : what it rests on, in a few words
    value, interval : drawn beside it, on one axis with all statements of the same unit; both ends None for none
    is_coefficient : whether its unit is that of a coefficient, of which 1 is full agreement
    position : among the others; those that were planned come first
    is_of_neighbours : whether it compares a source with the next below it, since no plan says which to compare
    claims : what it states as shown; none where it only says how things stand
    """

    sentence: str
    basis: str
    is_planned: bool = False
    value: float | None = None
    interval: Interval | None = None
    unit: str = ""
    is_coefficient: bool = False
    position: int = 50
    is_of_neighbours: bool = False
    claims: tuple[Claim, ...] = ()


class Figure(Generic[R]):
    """One thing that a report says. Subclasses are discovered; one instance of each serves all studies.

    A subclass says of what, as in `Figure[Listing[Bias]]`, gives `key`, `title`, `section`, `position`, `tables`,
    `compute` and `describe`, and overrides what differs.
    """

    key: ClassVar[str]  # in the document
    title: ClassVar[str | Promise]  # in the contents
    section: ClassVar[str]  # in which it stands, by its key in `reports.page.sections`
    position: ClassVar[int]  # in the section, from the top
    result: ClassVar[Any]  # what it is of: the dataclass that `compute` returns, or a `Listing` of one
    tables: ClassVar[tuple[str, ...]]  # names of its CSV files
    edition: ClassVar[int] = 1  # counts up when the result changes for the same inputs: reports are computed anew
    lead: ClassVar[int] = 100  # of several leaderboards the summary shows that of the lowest, which is most particular
    is_shown_sealed: ClassVar[bool] = True  # while nothing may be told by source
    needs_answers: ClassVar[bool] = True  # whether it says nothing before anybody has answered
    pages_of: ClassVar[str] = ""  # what has pages of its own to which the page leads: "stories" or "raters"
    nothing: ClassVar[Any] = None  # the result where it is sealed: of a listing an empty one

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for base in getattr(cls, "__orig_bases__", ()):
            if get_origin(base) is Figure:
                (cls.result,) = get_args(base)
                if get_origin(cls.result) is Listing:
                    cls.nothing = Listing()

    @property
    def slug(self) -> str:
        """Its name in addresses."""
        return self.key.replace("_", "-")

    def compute(self, dataset: Dataset) -> R | None:
        """The result; None if the study asks nothing that it is about. Only called while it may be shown."""
        raise NotImplementedError(self.key)

    def describe(self, result: R, head: Head) -> Iterator[DocumentSection]:
        """What it says, for every medium."""
        raise NotImplementedError(self.key)

    def rows(self, result: R) -> Mapping[str, Iterable[Row]]:
        """The rows of each of its tables, unrounded. All rows of a table have the same columns."""
        return dict.fromkeys(self.tables, ()) | document_files.write_rows(self.describe(result, NO_HEAD))

    def lines(self, result: R, head: Head = NO_HEAD) -> Iterator[str]:
        """What it says as text, in the language that is active."""
        return document_text.write_lines(self.describe(result, head))

    def is_empty(self, result: R) -> bool:
        """Whether there is nothing to show."""
        return isinstance(result, Listing) and not result.rows

    def is_first_headline(self, result: R) -> bool:
        """Whether its headline goes before those of others, since it is about what the plan calls primary."""
        return False

    def headline(self, result: R, head: Head) -> str:
        """The main finding in a sentence; "" if it is not for this figure to say."""
        return ""

    def leaderboard(self, result: R, head: Head) -> Leaderboard | None:
        """What the study is about, the best first; None if it is not for this figure to say."""
        return None

    def lead_difference(self, result: R) -> str:
        """How far what its headline names first is ahead of the next, with the interval and whether that is shown, or
        what it depends on; "" if it is not for this figure to say."""
        return ""

    def gauges(self, result: R) -> Iterator[Gauge]:
        """How far raters agree, the most telling first."""
        yield from ()

    def gauge_words(self, result: R) -> Iterator[str]:
        """Whether they do, beyond chance, each in a short sentence."""
        yield from ()

    def statements(self, result: R, head: Head) -> Iterator[Statement]:
        """What it finds, each in a sentence for the head of the page."""
        yield from ()

    def notices(self, result: R) -> list[str]:
        """What must be read before anything else."""
        return []

    def head_notes(self, result: R) -> list[TextBlock]:
        """What is said of it at the head of the page, below the findings."""
        return []

    def highlights(self, result: R) -> list[Highlight]:
        """Key figures for the head of the page."""
        return []

    def has_answers(self, result: R) -> bool:
        """Whether it shows that somebody has answered."""
        return False


class ItemFigure(Generic[T]):
    """What a figure does that says the same of every item of a kind, and nothing while nothing may be told by source.

    No figure itself, so that none is found here; a figure inherits from it first, and gives `is_about` and `of_item`.
    """

    key: ClassVar[str]
    is_shown_sealed: ClassVar[bool] = False

    def is_about(self, item: StepItem) -> bool:
        raise NotImplementedError(self.key)

    def of_item(self, dataset: Dataset, item: StepItem, *, salt: int) -> T | None:
        """The row of an item; None if there is nothing to say of it. salt : of the seed, the item's number"""
        raise NotImplementedError(self.key)

    def compute(self, dataset: Dataset) -> Listing[T]:
        items = [item for item in dataset.items if self.is_about(item)]
        rows = (self.of_item(dataset, item, salt=salt) for salt, item in enumerate(items))
        return Listing(tuple(row for row in rows if row is not None))


def item_fields(item: StepItem) -> dict[str, Any]:
    """The fields of `ItemRow`."""
    return {
        "step": item.step.key,
        "item": item.item.key,
        "title": item.item.title or item.item.key,
        "dimension": item.item.dimension,
        "type": item.item.type,
    }


def without_value(code: str, **values: str | int | float) -> Reason:
    return Reason(code=code, values=values)


def estimate(statistic: Callable[..., SupportsFloat], *arguments: Any, **options: Any) -> Estimate:
    """A statistic's value with what stands beside it, or the reason why there is none."""
    try:
        value = statistic(*arguments, **options)
    except Incomputable as error:
        return Estimate(value=None, why=Reason.of(error))
    if not isinstance(value, agreement.Coefficient):
        return Estimate(value=float(value))
    few = f"only {value.n_units} unit{'s' * (value.n_units != 1)}" if value.n_units < FEW else ""
    note = "; ".join(filter(None, [value.note, few]))
    return Estimate(
        value=float(value), name=value.name, n_units=int(value.n_units), n_raters=int(value.n_raters), note=note
    )


def interval(compute: Callable[..., StatisticInterval], *arguments: Any, **options: Any) -> Interval:
    """A 95 % interval, or the reason why there is none."""
    try:
        return Interval.of(compute(*arguments, **options))
    except Incomputable as error:
        return Interval.of(error)


def share_fields(is_so: Any, clusters: Any, *, rng: np.random.Generator) -> dict[str, Any]:
    """The fields of `IntervalEstimate` of a share in percent. is_so : 1, 0, or part of one; nan where nothing is"""
    values = np.asarray(is_so, dtype=np.float64)
    has_value = bool(np.isfinite(values).any())
    return {
        "value": float(100 * np.nanmean(values)) if has_value else None,
        "why": None if has_value else without_value("no_choices"),
        "interval": interval(rates.pass_rate_interval, values, clusters, rng=rng, n_resamples=N_RESAMPLES),
    }


def ends_of_mean(
    values: FloatArray, clusters: Any, *, rng: np.random.Generator, low: float = -math.inf, high: float = math.inf
) -> Interval:
    """The interval over clusters of the mean of values that lie between low and high, or why there is none."""

    def ends() -> StatisticInterval:
        return intervals.mean_interval(values, clusters, rng=rng, n_resamples=N_RESAMPLES).clipped(low, high)

    return interval(ends)


def mean_interval(table: OutcomeTable, units: BoolArray, *, rng: np.random.Generator) -> Interval:
    """The interval over clusters of an outcome's mean over these units, shape (U,)."""
    values, clusters, (low, high) = table.values[units], table.clusters[units], table.bounds
    if table.outcome.is_percent:
        return interval(rates.percent_interval, values, clusters, rng=rng, n_resamples=N_RESAMPLES)
    return ends_of_mean(values, clusters, rng=rng, low=low, high=high)


def alpha_fields(dataset: Dataset, ratings: FloatArray, level: str, clusters: Any, *salt: int) -> dict[str, Any]:
    """Krippendorff's alpha with what belongs to it: the fields `coefficient`, `interval` and `floor`.

    ratings : shape (R, U); clusters : of the units
    salt : of the seed; resamples and shuffles go on from there each by a number of its own, so that neither follows
        from how much the other drew
    """
    return {
        "coefficient": estimate(agreement.krippendorff_alpha, ratings, level),
        "interval": interval(intervals.alpha_interval, ratings, level, clusters, rng=dataset.rng(*salt, 0)),
        "floor": chance_floor(agreement.alpha_chance_floor, ratings, level, rng=dataset.rng(*salt, 1)),
    }


def chance_floor(compute: Callable[..., agreement.Floor], *arguments: Any, **options: Any) -> Floor:
    """A chance floor, or the reason why there is none."""
    try:
        floor = compute(*arguments, **options)
    except Incomputable as error:
        return Floor(mean=None, upper=None, why=Reason.of(error))
    return Floor(mean=floor.mean, upper=floor.upper)


def mean(estimates: Iterable[Estimate]) -> Mean:
    """The mean of those that have a value, with how many have none."""
    parts = list(estimates)
    values = [part.value for part in parts if part.value is not None]
    if not values:
        return Mean(value=None, why=without_value("nothing_to_average"))
    return Mean(value=float(np.mean(values)), n=len(values), n_left_out=len(parts) - len(values))


def select_labels(labels: Iterable[str], mask: Any) -> list[str]:
    """The labels where the mask is true."""
    return [label for label, is_kept in zip(labels, mask, strict=True) if is_kept]


def note_of(estimate: Estimate, ends: Interval | None = None) -> str:
    """What must be read beside an estimate and its interval, in English as files have it."""
    return reasons.to_english(estimate.why) if estimate.why else ends_note(ends)


def ends_note(ends: Interval | None) -> str:
    """What must be read beside an interval, or why it has no ends, in English as files have it."""
    if ends is None:
        return ""
    return reasons.to_english(ends.why) if ends.why else ends.note or ""
