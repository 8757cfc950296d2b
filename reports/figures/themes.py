"""What reasons are about: how far two people agree theme by theme, and in which share of the stories each stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy

from reports import reasons
from reports.figures.base import (
    N_RESAMPLES,
    Estimate,
    Figure,
    Floor,
    Interval,
    Listing,
    Mean,
    Row,
    chance_floor,
    estimate,
    interval,
    mean,
    note_of,
)
from reports.lazy import agreement, intervals, np
from reports.models import Coder
from reports.numbers import coefficient, coefficients, decimal, whole
from reports.rationales import codings
from reports.rationales.codings import CodedReason, CodedSample

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from stats.arrays import FloatArray
    from stats.intervals import Interval as StatisticInterval

SALT = 90  # of the seed


@dataclass(frozen=True, kw_only=True)
class ThemeShare:
    """Of 100 stories, in how many the theme stands: the mean of what the two coders found.

    source : "" for all
    """

    source: str
    n_stories: int
    share: Mean
    interval: Interval


@dataclass(frozen=True, kw_only=True)
class ThemeRow:
    """One theme. n_first, n_second : reasons in which each coder found it

    alpha : Krippendorff's, nominal, with its interval over clusters and its chance floor
    judge_kappa : the mean of a judge's Cohen's kappa with each of the two; None if no judge coded
    """

    theme: str
    n_first: int
    n_second: int
    percent: Estimate
    kappa: Estimate
    alpha: Estimate
    interval: Interval
    floor: Floor
    judge_kappa: Mean | None
    shares: tuple[ThemeShare, ...]


@dataclass(frozen=True, kw_only=True)
class SampleThemes:
    """A sample that two people coded. item : its title, "" for all; judge : who suggested afterwards"""

    item: str
    n_reasons: int
    n_stories: int
    judge: str
    rows: tuple[ThemeRow, ...]


class Themes(Figure[Listing[SampleThemes]]):
    key = "themes"
    title = gettext_lazy("What reasons are about")
    position = 93
    result = Listing[SampleThemes]
    tables = ("themes", "theme-shares")
    nothing = Listing[SampleThemes]()

    def compute(self, dataset: Dataset) -> Listing[SampleThemes]:
        samples = codings.read_done(dataset.study)
        if not samples:
            return Listing()
        themes = list(dataset.study.themes.order_by("position").values_list("pk", "name"))
        return Listing(tuple(_sample(dataset, sample, themes, salt=n) for n, sample in enumerate(samples)))

    def rows(self, result: Listing[SampleThemes]) -> dict[str, Iterator[Row]]:
        return {"themes": _agreement_rows(result), "theme-shares": _share_rows(result)}

    def lines(self, result: Listing[SampleThemes]) -> Iterator[str]:
        for sample in result.rows:
            yield f"\nThemes of {whole(sample.n_reasons)} reasons on {whole(sample.n_stories)} stories"
            for row in sample.rows:
                alpha = reasons.to_english(row.alpha.why) if row.alpha.why else coefficient(row.alpha.value)
                ends = f" ({coefficients(row.interval)})" if row.interval.low is not None else ""
                shares = "; ".join(f"{s.source or 'all'} {decimal(s.share.value, 0)} %" for s in row.shares)
                yield f"  {row.theme[:34]:<34} alpha {alpha}{ends}; stories: {shares}"


def _sample(dataset: Dataset, sample: CodedSample, themes: Sequence[tuple[int, str]], *, salt: int) -> SampleThemes:
    title_by_key = {".".join(item.key): item.item.title or item.item.key for item in dataset.items}
    return SampleThemes(
        item=title_by_key.get(sample.item, sample.item),
        n_reasons=len(sample.reasons),
        n_stories=len({reason.story for reason in sample.reasons if reason.story}),
        judge=sample.judge,
        rows=tuple(
            _theme(dataset, sample, theme, name, salt=(salt, position)) for position, (theme, name) in enumerate(themes)
        ),
    )


def _theme(dataset: Dataset, sample: CodedSample, theme: int, name: str, *, salt: tuple[int, int]) -> ThemeRow:
    ratings = _ratings(sample.reasons, theme, codings.PEOPLE)
    clusters = dataset.clusters_of_units((reason.group, reason.story) for reason in sample.reasons)
    judge = _ratings(sample.reasons, theme, (Coder.JUDGE,))[0] if sample.judge else None
    return ThemeRow(
        theme=name,
        n_first=int(ratings[0].sum()),
        n_second=int(ratings[1].sum()),
        percent=estimate(agreement.percent_agreement, ratings),
        kappa=estimate(agreement.cohen_kappa, ratings[0], ratings[1]),
        alpha=estimate(agreement.krippendorff_alpha, ratings, "nominal"),
        interval=interval(
            intervals.alpha_interval,
            ratings,
            "nominal",
            clusters,
            rng=dataset.rng(SALT, *salt, 0),
            n_resamples=N_RESAMPLES,
        ),
        floor=chance_floor(agreement.alpha_chance_floor, ratings, "nominal", rng=dataset.rng(SALT, *salt, 1)),
        judge_kappa=None if judge is None else mean(estimate(agreement.cohen_kappa, judge, one) for one in ratings),
        shares=tuple(_shares(dataset, sample.reasons, theme, salt=salt)),
    )


def _ratings(rows: Sequence[CodedReason], theme: int, coders: Sequence[int]) -> FloatArray:
    """1 where a coder found the theme in a reason, 0 where not, nan where not coded; shape (coders, reasons)."""
    return np.array(
        [[float(theme in row.themes[coder]) if coder in row.themes else np.nan for row in rows] for coder in coders]
    )


def _shares(
    dataset: Dataset, rows: Sequence[CodedReason], theme: int, *, salt: tuple[int, int]
) -> Iterator[ThemeShare]:
    """Over all stories, and of each source that any of them is of, unless sealed."""
    found_by_story: dict[str, FloatArray] = {}
    group_by_story: dict[str, str] = {}
    for row in rows:
        if row.story:
            coded = np.array([float(theme in row.themes[coder]) for coder in codings.PEOPLE])
            found_by_story[row.story] = np.maximum(found_by_story.get(row.story, coded), coded)
            group_by_story.setdefault(row.story, row.group)
    for n, source in enumerate(("", *(name for name, _kind in dataset.sources))):
        stories = [story for story in sorted(found_by_story) if not source or dataset.source_of(story) == source]
        if not stories:
            continue
        values = np.array([100 * found_by_story[story].mean() for story in stories])
        yield ThemeShare(
            source=source,
            n_stories=len(stories),
            share=mean(Estimate(value=float(value)) for value in values),
            interval=interval(
                _share_interval,
                values,
                dataset.clusters_of_units((group_by_story[story], story) for story in stories),
                rng=dataset.rng(SALT, *salt, 2 + n),
                n_resamples=N_RESAMPLES,
            ),
        )


def _share_interval(*arguments: Any, **options: Any) -> StatisticInterval:
    """`intervals.mean_interval` within what a share can be."""
    return intervals.mean_interval(*arguments, **options).clipped(0.0, 100.0)


def _agreement_rows(result: Listing[SampleThemes]) -> Iterator[Row]:
    for n, sample in enumerate(result.rows, start=1):
        for row in sample.rows:
            yield {
                "sample": n,
                "item": sample.item,
                "theme": row.theme,
                "n_reasons": sample.n_reasons,
                "n_first": row.n_first,
                "n_second": row.n_second,
                "percent_agreement": row.percent.value,
                "cohen_kappa": row.kappa.value,
                "alpha": row.alpha.value,
                "low": row.interval.low,
                "high": row.interval.high,
                "floor_mean": row.floor.mean,
                "floor_upper": row.floor.upper,
                "judge": sample.judge,
                "judge_kappa": row.judge_kappa.value if row.judge_kappa else None,
                "note": note_of(row.alpha, row.interval),
            }


def _share_rows(result: Listing[SampleThemes]) -> Iterator[Row]:
    for n, sample in enumerate(result.rows, start=1):
        for row in sample.rows:
            for share in row.shares:
                yield {
                    "sample": n,
                    "item": sample.item,
                    "theme": row.theme,
                    "source": share.source or "all",
                    "n_stories": share.n_stories,
                    "percent_of_stories": share.share.value,
                    "low": share.interval.low,
                    "high": share.interval.high,
                    "note": note_of(share.share, share.interval),
                }
