"""What metrics and scores from elsewhere say of stories and pairs, beside what people say of the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Rater
from judges.models import ScoreCard
from reports.dataset.choices import choices_of
from reports.dataset.metric_scores import is_about_pairs, list_measures, score_right, scores_of
from reports.dataset.pairs import list_pairs
from reports.document.model import DocumentSection, Head, TextBlock
from reports.document.values import Floor, IntervalEstimate
from reports.figures.base import (
    N_RESAMPLES,
    Figure,
    ItemRow,
    chance_floor,
    estimate,
    interval,
    item_fields,
    share_fields,
)
from reports.figures.texts.measures_beside_people_tables import beside_people, margin_notes
from reports.lazy import judge_scores, np, score_pairs

if TYPE_CHECKING:
    import pandas as pd

    from reports.dataset import Dataset, OutcomeTable, StepItem
    from reports.dataset.cubes import Pair
    from stats.arrays import FloatArray

SALT = 71  # of the seed
COEFFICIENTS = ("spearman", "kendall_tau")


@dataclass(frozen=True, kw_only=True)
class MeasureCoefficient(IntervalEstimate):
    """One coefficient over stories, more being better on both sides. statistic : "spearman" or "kendall_tau" (tau-b)"""

    statistic: str
    floor: Floor


@dataclass(frozen=True, kw_only=True)
class MeasureCorrelation:
    """A measure beside one outcome of people.

    outcome, title : of people, as in the comparison of sources
    n : stories in their groups that have both
    n_tied, n_tied_people : of these, how many share their score, or people's mean, with another
    """

    outcome: str
    title: str
    n: int
    n_tied: int
    n_tied_people: int
    coefficients: tuple[MeasureCoefficient, ...]


@dataclass(frozen=True, kw_only=True)
class MeasureAccuracy(IntervalEstimate):
    """In percent of n pairs that most people agree on, how often the better-scored story is the one they prefer.

    n_tied : pairs whose stories have one score, each half right
    n_missing : pairs that most people agree on, without a score
    """

    title: str
    n: int
    n_tied: int
    n_missing: int
    floor: Floor


@dataclass(frozen=True, kw_only=True)
class MeasureBesidePeople(ItemRow):
    """One item of a metric. better : "higher" or "lower"; "" where nothing says which way is better"""

    metric: str
    better: str
    scored_by: str
    about: str
    correlations: tuple[MeasureCorrelation, ...]
    accuracies: tuple[MeasureAccuracy, ...]


@dataclass(frozen=True, kw_only=True)
class MeasuresResult:
    """has_people : whether people have answered anything that a measure can stand beside"""

    measures: tuple[MeasureBesidePeople, ...]
    has_people: bool


class MeasuresBesidePeople(Figure[MeasuresResult]):
    key = "measures_beside_people"
    title = gettext_lazy("Text measures and ratings")
    position = 141
    section = "texts"
    tables = ("measures-beside-people", "measures-on-pairs")
    edition = 2
    is_shown_sealed = False

    def compute(self, dataset: Dataset) -> MeasuresResult | None:
        answers = dataset.judges[dataset.judges["rater_kind"] == Rater.Kind.METRIC]
        if answers.empty:
            return None
        card_by_rater = {card.rater.code: card for card in dataset.records.score_cards}
        rows_by_measure = list(list_measures(dataset, answers))
        measures = tuple(
            _compare(dataset, item, metric, card_by_rater.get(metric), rows, salt=n)
            for n, (item, metric, rows) in enumerate(rows_by_measure)
        )
        return MeasuresResult(
            measures=measures, has_people=any(measure.correlations or measure.accuracies for measure in measures)
        )

    def is_empty(self, result: MeasuresResult) -> bool:
        return not result.measures

    def describe(self, result: MeasuresResult, head: Head) -> Iterator[DocumentSection]:
        nobody = _(
            "No person has answered anything about these stories yet, so there is nothing to set the measures beside."
        )
        yield DocumentSection(
            heading=self.title,
            body=beside_people(result, head) if result.has_people else [TextBlock(words=nobody)],
            margin=margin_notes(result),
        )


def _compare(
    dataset: Dataset, item: StepItem, metric: str, card: ScoreCard | None, rows: pd.DataFrame, *, salt: int
) -> MeasureBesidePeople:
    score_by_unit, is_of_pairs = scores_of(card, rows), is_about_pairs(card)
    tables = [] if is_of_pairs else _list_outcomes(dataset)
    correlations = (_correlate(dataset, table, score_by_unit, salt=(salt, n)) for n, table in enumerate(tables))
    chosen = [item for item in dataset.items if item.is_preference]
    accuracies = (
        _accuracy(dataset, item, score_by_unit, is_of_pairs=is_of_pairs, salt=(salt, 100 + n))
        for n, item in enumerate(chosen)
    )
    return MeasureBesidePeople(
        **item_fields(item) | {"title": item.item.title or item.item.question},
        metric=metric,
        better=card.better if card else "",
        scored_by=card.scored_by if card else "",
        about=card.about if card else ScoreCard.About.STORIES,
        correlations=tuple(correlations),
        accuracies=tuple(row for row in accuracies if row.n or row.n_missing),
    )


def _list_outcomes(dataset: Dataset) -> list[OutcomeTable]:
    """The outcomes that are no part of another; of a single test its verdicts."""
    has_tests = any(table.outcome.kind == "verdicts" for table in dataset.outcomes)
    return [table for table in dataset.outcomes if not (has_tests and table.outcome.is_part)]


def _correlate(
    dataset: Dataset, table: OutcomeTable, score_by_unit: dict[Pair, float], *, salt: tuple[int, int]
) -> MeasureCorrelation:
    """Over the stories of a group, and all groups: units as people's outcome has them, clusters of their groups."""
    scores = np.array([score_by_unit.get(unit, np.nan) for unit in table.units], dtype=np.float64)
    people = -table.values if table.outcome.is_lower_better else table.values
    has_both = np.isfinite(scores) & np.isfinite(people)
    sides = scores[has_both][np.newaxis], people[has_both][np.newaxis]
    return MeasureCorrelation(
        outcome=table.outcome.key,
        title=table.outcome.title,
        n=int(has_both.sum()),
        n_tied=_count_tied(sides[0]),
        n_tied_people=_count_tied(sides[1]),
        coefficients=tuple(
            _coefficient(dataset, name, *sides, table.clusters[has_both], salt=(*salt, n))
            for n, name in enumerate(COEFFICIENTS)
        ),
    )


def _coefficient(
    dataset: Dataset, name: str, scores: FloatArray, people: FloatArray, clusters: Any, *, salt: tuple[int, ...]
) -> MeasureCoefficient:
    statistic = {"spearman": judge_scores.SPEARMAN, "kendall_tau": judge_scores.KENDALL_TAU}[name]
    value = estimate(judge_scores.score, statistic, scores, people)
    return MeasureCoefficient(
        value=value.value,
        why=value.why,
        n_units=scores.size,
        statistic=name,
        interval=interval(
            *(judge_scores.score_interval, statistic, scores, people, clusters),
            rng=dataset.rng(SALT, *salt),
            n_resamples=N_RESAMPLES,
        ),
        floor=chance_floor(judge_scores.score_floor, statistic, scores, people, rng=dataset.rng(SALT, *salt, 1)),
    )


def _count_tied(values: FloatArray) -> int:
    """How many values stand there more than once."""
    _different, counts = np.unique(values, return_counts=True)
    return int(counts[counts > 1].sum())


def _accuracy(
    dataset: Dataset,
    item: StepItem,
    score_by_unit: dict[Pair, float],
    *,
    is_of_pairs: bool,
    salt: tuple[int, int],
) -> MeasureAccuracy:
    pairs = [pair for pair in list_pairs(dataset, choices_of(dataset, item)) if pair.preferred is not None]
    right = score_right(pairs, score_by_unit, is_of_pairs=is_of_pairs)
    has_score = np.isfinite(right)
    values = right[has_score]
    clusters = dataset.clusters_of(pair.group for pair, is_scored in zip(pairs, has_score, strict=True) if is_scored)
    return MeasureAccuracy(
        title=item.item.title or item.item.key,
        n=len(values),
        n_tied=int((values == 0.5).sum()),
        n_missing=int((~has_score).sum()),
        **share_fields(values, clusters, rng=dataset.rng(SALT, *salt)),
        floor=chance_floor(score_pairs.flip_floor, values, rng=dataset.rng(SALT, *salt, 1)),
    )
