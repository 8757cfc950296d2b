"""Judges, metrics and preference models against a standard that is no person, such as votes or gold labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from django.utils.translation import gettext_lazy

from annotation.models import Rater
from reports.dataset.choices import choices_of
from reports.dataset.judged_groups import judged_pairs
from reports.dataset.metric_scores import is_about_pairs, list_measures, score_right, scores_of
from reports.dataset.pairs import JudgedPair, list_pairs
from reports.dataset.standard import ItemLabels, judged_by_standard, read_labels, without_answers
from reports.document.model import DocumentSection, Head
from reports.document.values import Reason
from reports.figures.base import Figure, ItemRow, item_fields, without_value
from reports.figures.judges.group_scores import GroupScores, group_outcomes
from reports.figures.judges.on_standard_tables import describe
from reports.figures.judges.pair_scores import score_choices
from reports.figures.judges.scores import JudgeScores, Score, compare_judges, score_parts
from reports.figures.named_accuracies import NamedAccuracy, share_right, take_longer
from reports.lazy import judge_orders, judge_scores, np, table_scores

if TYPE_CHECKING:
    import pandas as pd

    from judges.models import ScoreCard
    from reports.dataset import Dataset
    from reports.figures.judges.scores import AnyStatistic

SALT, PAIRS_SALT, MEASURES = 158, 159, 1000  # of the seed; the last before the number of an item
PARTS = ("all", "models")
KINDS = ("verdicts", "choices", "scales")  # of items about stories
# Reasons that speak of people, and what they are where labels stand in their place.
OF_LABELS = {
    "no_unit_with_judge_and_people": "no_unit_with_judge_and_label",
    "judge_or_people_constant": "judge_or_labels_constant",
}


@dataclass(frozen=True, kw_only=True)
class LabelCount(ItemRow):
    """How much the standard says of an item.

    kind : one of KINDS, or "pairs"
    factor : of the stories, that has the labels; "" where they were imported as answers
    n, n_missing : stories in their groups, or pairs, with and without a label; a pair whose stories are even has none
    n_unreadable : stories whose property has a value that is no answer to the item
    yes_percent : of labels of a verdict
    """

    kind: str
    factor: str
    n: int
    n_missing: int
    n_unreadable: int
    yes_percent: float | None


@dataclass(frozen=True, kw_only=True)
class PairStandard(ItemRow):
    """A question about pairs. others : people's choices, metrics, and whoever always takes the longer story"""

    judges: tuple[GroupScores, ...]
    others: tuple[NamedAccuracy, ...]


@dataclass(frozen=True, kw_only=True)
class StandardMeasure(ItemRow):
    """A metric on the labels of an item about stories, verdicts as 1 and 0: Spearman's rho"""

    metric: str
    score: Score


@dataclass(frozen=True, kw_only=True)
class StandardResult:
    """name : of the standard, as the plan calls it; rater : under whom its labels were imported; why : no label"""

    name: str
    rater: str
    labels: tuple[LabelCount, ...]
    verdicts: tuple[JudgeScores, ...]
    choices: tuple[JudgeScores, ...]
    scales: tuple[JudgeScores, ...]
    measures: tuple[StandardMeasure, ...]
    pairs: tuple[PairStandard, ...]
    why: Reason | None = None


class JudgesOnStandard(Figure[StandardResult]):
    """What people are to judges elsewhere, the labels of the standard are here. It has no raters, so nothing is said of
    what one of them has."""

    key = "judges_on_standard"
    title = gettext_lazy("Judges against the standard")
    position = 153
    section = "judges"
    tables = ("standard", "judges-on-standard", "standard-measures", "standard-pairs")
    edition = 1
    is_shown_sealed = False

    def compute(self, dataset: Dataset) -> StandardResult | None:
        plan = dataset.plan
        if plan is None or not plan.standard:
            return None
        labels = read_labels(dataset)
        scores = {kind: _on_stories(dataset, [o for o in labels if kind_of(o) == kind], kind) for kind in KINDS}
        of_pairs = [of_item for of_item in labels if of_item.item.is_preference]
        result = StandardResult(
            name=plan.standard,
            rater=plan.standard_rater,
            labels=tuple(map(_count, labels)),
            verdicts=scores["verdicts"],
            choices=scores["choices"],
            scales=scores["scales"],
            measures=tuple(measure for n, of_item in enumerate(labels) for measure in _measures(dataset, of_item, n)),
            pairs=tuple(_on_pairs(dataset, of_item, salt=n) for n, of_item in enumerate(of_pairs)),
            why=None if labels else without_value("no_labels", name=plan.standard),
        )
        return cast(StandardResult, _speak_of_labels(result))

    def describe(self, result: StandardResult, head: Head) -> Iterator[DocumentSection]:
        yield describe(result, head)


def _speak_of_labels(value: Any) -> Any:
    """The value with the reasons in it as `OF_LABELS` has them."""
    if isinstance(value, Reason):
        return replace(value, code=OF_LABELS.get(value.code, value.code))
    if isinstance(value, tuple):
        return tuple(map(_speak_of_labels, value))
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{field.name: _speak_of_labels(getattr(value, field.name)) for field in fields(value)})
    return value


def kind_of(labels: ItemLabels) -> str:
    item = labels.item
    if item.is_preference:
        return "pairs"
    if item.type.is_verdict:
        return "verdicts"
    return "choices" if item.is_choice else "scales"


def _count(labels: ItemLabels) -> LabelCount:
    return LabelCount(
        **item_fields(labels.item),
        kind=kind_of(labels),
        factor=labels.factor,
        n=labels.n,
        n_missing=labels.n_missing,
        n_unreadable=labels.n_unreadable,
        yes_percent=float(100 * np.nanmean(labels.values)) if kind_of(labels) == "verdicts" else None,
    )


def _on_stories(dataset: Dataset, labels: list[ItemLabels], kind: str) -> tuple[JudgeScores, ...]:
    """Every judge on the items of a kind, over all of them and item by item."""
    statistics_by_kind: dict[str, Sequence[AnyStatistic]] = {
        "verdicts": (table_scores.PERCENT_AGREEMENT, table_scores.BALANCED_ACCURACY, table_scores.KAPPA),
        "choices": table_scores.ON_CHOICES,
        "scales": judge_scores.ON_SCALES,
    }
    sides = judged_by_standard(dataset, labels) if labels else None
    if sides is None:
        return ()
    material, values = sides
    return compare_judges(dataset, material, lambda _: values, statistics_by_kind[kind], parts=PARTS, salt=SALT)


def _measures(dataset: Dataset, labels: ItemLabels, at: int) -> Iterator[StandardMeasure]:
    """Every measure of stories beside labels that are numbers; one of pairs, and choices, have no order."""
    if kind_of(labels) not in ("verdicts", "scales"):
        return
    material = without_answers(dataset, labels.item)
    for n, (name, card, rows) in enumerate(_list_measures(dataset)):
        scores = {} if is_about_pairs(card) else scores_of(card, rows)
        values = np.array([[scores.get(unit, np.nan) for unit in dataset.units]], dtype=np.float64)
        if np.isfinite(values).any():
            sides = values, labels.values[np.newaxis]
            salt = (SALT, MEASURES + at, n)
            score = score_parts(dataset, material, judge_scores.SPEARMAN, *sides, names=PARTS, salt=salt)
            yield StandardMeasure(**item_fields(labels.item), metric=name, score=score)


def _list_measures(dataset: Dataset) -> Iterator[tuple[str, ScoreCard | None, pd.DataFrame]]:
    """What each measure is called, its card if it was brought in, and its values."""
    answers = dataset.judges[dataset.judges["rater_kind"] == Rater.Kind.METRIC]
    card_by_rater = {card.rater.code: card for card in dataset.records.score_cards}
    for item, metric, rows in list_measures(dataset, answers):
        card = card_by_rater.get(metric)
        yield (metric if card else f"{metric}: {item.item.key}"), card, rows


def _on_pairs(dataset: Dataset, labels: ItemLabels, *, salt: int) -> PairStandard:
    pairs = list_pairs(dataset, labels.choices)
    place_by_group = {pair.group: pair.preferred for pair in pairs}
    judges = []
    for n, judged in enumerate(judged_pairs(dataset, labels.item)):
        preferred = [place_by_group.get(group) for group in judged.groups]
        against = replace(judged, preferred=np.array([np.nan if p is None else float(p) for p in preferred]))
        choices = judge_orders.pair_choices(against.chosen, against.preferred)
        sides = choices.right, choices.wrong
        salts = (PAIRS_SALT, salt, n)
        judges.append(
            GroupScores(
                **item_fields(labels.item),
                judge=judged.judge,
                n_people=0,
                scores=(score_choices(dataset, against, "accuracy", *sides, salt=salts, names=PARTS),),
                outcomes=group_outcomes(dataset, labels.item, judged.judge, judged.groups),
            )
        )
    others = [
        *_people(dataset, labels, pairs, salt=salt),
        *_metrics(dataset, pairs, salt=salt),
        take_longer(dataset, pairs, salt=(PAIRS_SALT, salt, 101)),
    ]
    return PairStandard(
        **item_fields(labels.item),
        judges=tuple(judges),
        others=tuple(accuracy for accuracy in others if accuracy is not None),
    )


def _people(dataset: Dataset, labels: ItemLabels, pairs: Sequence[JudgedPair], *, salt: int) -> Iterator[NamedAccuracy]:
    """Every choice of people; nothing where nobody has chosen."""
    story_by_group = {pair.group: pair.stories[pair.preferred] for pair in pairs if pair.preferred is not None}
    choices = [choice for choice in choices_of(dataset, labels.item) if choice.group in story_by_group]
    if choices:
        is_right = [float(choice.story == story_by_group[choice.group]) for choice in choices]
        groups = [choice.group for choice in choices]
        yield share_right(dataset, "person", "", is_right, groups, salt=(PAIRS_SALT, salt, 100))


def _metrics(dataset: Dataset, pairs: Sequence[JudgedPair], *, salt: int) -> Iterator[NamedAccuracy]:
    """Every measure of the stories, or of pairs, by the story that it puts first."""
    for n, (name, card, rows) in enumerate(_list_measures(dataset)):
        right = score_right(pairs, scores_of(card, rows), is_of_pairs=is_about_pairs(card))
        is_scored = np.isfinite(right)
        groups = [pair.group for pair, is_in in zip(pairs, is_scored, strict=True) if is_in]
        if groups:
            salts = (PAIRS_SALT, salt, 200 + n)
            yield share_right(dataset, "metric", name, right[is_scored].tolist(), groups, salt=salts)
