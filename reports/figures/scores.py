"""How a judge stands to people, as figures about judges share it: each statistic with all that must stand beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from reports.dataset.judged import answers_to, model_answers
from reports.figures.base import (
    N_RESAMPLES,
    Estimate,
    Floor,
    Interval,
    ItemRow,
    Reason,
    Row,
    chance_floor,
    interval,
    item_cells,
    item_fields,
    note_of,
)
from reports.lazy import judge_scores, np
from reports.numbers import coefficient, decimal
from stats.reasons import Incomputable

if TYPE_CHECKING:
    import pandas as pd

    from reports.dataset import Dataset
    from reports.dataset.judged import Judged
    from stats.arrays import BoolArray, FloatArray
    from stats.judge_scores import Statistic

# What each statistic is called.
NAMES = {
    "kappa": gettext_noop("Cohen’s kappa, pooled"),
    "mean_kappa": gettext_noop("Cohen’s kappa, mean of items"),
    "balanced_accuracy": gettext_noop("Balanced accuracy"),
    "percent_agreement": gettext_noop("Agreement, %"),
    "spearman": gettext_noop("Spearman’s rho"),
    "kendall_tau": gettext_noop("Kendall’s tau-b"),
    "mean_absolute_error": gettext_noop("Mean absolute error"),
    "mean_difference": gettext_noop("Mean difference"),
    "modal_share": gettext_noop("Commonest answer, %"),
    "accuracy": gettext_noop("Right, both orders, %"),
    "flip_rate": gettext_noop("Changes with the order, %"),
    "first_rate": gettext_noop("Story shown first, %"),
    "group_tau": gettext_noop("Kendall’s tau-b, mean of groups"),
}
COEFFICIENTS = ("kappa", "mean_kappa", "balanced_accuracy", "spearman", "kendall_tau", "group_tau")
PERCENTAGES = ("percent_agreement", "modal_share", "accuracy", "flip_rate", "first_rate")


@dataclass(frozen=True, kw_only=True)
class ScorePart(Estimate):
    """A statistic over some of the units.

    part : "all", "models" (stories by models alone), "unanimous" or "split" (by whether people agree)
    n : answers that are compared
    floor : what the judge's answers give at other units
    floor_within : the same if they stay with stories of the same source; None where that is not of the statistic
    """

    part: str
    n: int
    interval: Interval
    floor: Floor
    floor_within: Floor | None = None

    @property
    def coefficient(self) -> ScorePart:
        """As the drawing of coefficients takes it."""
        return self


@dataclass(frozen=True, kw_only=True)
class Score:
    statistic: str
    parts: tuple[ScorePart, ...]

    @property
    def whole(self) -> ScorePart:
        return self.parts[0]

    @property
    def by_part(self) -> dict[str, ScorePart]:
        return {part.part: part for part in self.parts}

    @property
    def name(self) -> str:
        return _(NAMES[self.statistic])

    @property
    def form(self) -> str:
        """How its numbers are written: "coefficient", "percent" or "number"."""
        if self.statistic in COEFFICIENTS:
            return "coefficient"
        return "percent" if self.statistic in PERCENTAGES else "number"


@dataclass(frozen=True, kw_only=True)
class ItemScores(ItemRow):
    scores: tuple[Score, ...]


@dataclass(frozen=True, kw_only=True)
class SourceOutcomes:
    """What became of the answers that a judge was expected to give; what is lost is never an answer."""

    source: str = ""
    answered: int
    declined: int
    unreadable: int
    missing: int
    expected: int
    lost_percent: float | None


@dataclass(frozen=True, kw_only=True)
class Outcomes(SourceOutcomes):
    by_source: tuple[SourceOutcomes, ...]


@dataclass(frozen=True, kw_only=True)
class JudgeScores:
    """One judge beside people, over all items of a kind and item by item; n_people : who answered any of them"""

    judge: str
    n_people: int
    scores: tuple[Score, ...]
    items: tuple[ItemScores, ...]
    outcomes: Outcomes


class HasScores(Protocol):
    """A judge with its statistics and with what it did not answer."""

    @property
    def judge(self) -> str: ...
    @property
    def scores(self) -> tuple[Score, ...]: ...
    @property
    def outcomes(self) -> Outcomes: ...


def without_units(part: str, error: Incomputable) -> ScorePart:
    """A part that has no value, with the reason in each place."""
    why = Reason.of(error)
    nothing = Floor(mean=None, upper=None, why=why)
    return ScorePart(
        part=part, value=None, why=why, n=0, interval=Interval(low=None, high=None, why=why), floor=nothing
    )


def compare_judges(
    dataset: Dataset,
    material: Judged,
    reference: FloatArray,
    statistics: Sequence[Statistic],
    of_item: Sequence[Statistic],
    *,
    salt: int,
) -> list[JudgeScores]:
    """Every judge beside what people say: these statistics over all items, and those item by item.

    reference : what people say of each item and unit, shape (I, U)
    """
    rows = answers_to(model_answers(dataset), material.items)
    return [
        JudgeScores(
            judge=name,
            n_people=len(material.raters),
            scores=tuple(
                score_parts(dataset, material, statistic, answers, reference, salt=(salt, at, 0, place))
                for place, statistic in enumerate(statistics)
            ),
            items=tuple(
                ItemScores(
                    **item_fields(item),
                    scores=tuple(
                        score_parts(
                            dataset,
                            material,
                            statistic,
                            answers[n : n + 1],
                            reference[n : n + 1],
                            names=("all", "models"),
                            salt=(salt, at, n + 1, place),
                        )
                        for place, statistic in enumerate(of_item)
                    ),
                )
                for n, item in enumerate(material.items)
            ),
            outcomes=outcomes(dataset, rows[rows["rater"] == name], len(material.items)),
        )
        for at, (name, answers) in enumerate(zip(material.names, material.judges, strict=True))
    ]


def score_parts(
    dataset: Dataset,
    material: Judged,
    statistic: Statistic,
    answers: FloatArray,
    reference: FloatArray,
    *,
    names: Sequence[str] = ("all", "models", "unanimous", "split"),
    salt: tuple[int, ...],
) -> Score:
    """The statistic over all units and over each part of them.

    answers, reference : of some of the items, shape (I, U)
    """
    everywhere = np.ones(reference.shape[1], dtype=np.bool_)
    masks: dict[str, tuple[BoolArray, BoolArray]] = {
        "all": (everywhere, np.ones(reference.shape, dtype=np.bool_)),
        "models": (material.is_of_models, np.ones(reference.shape, dtype=np.bool_)),
    }
    if "split" in names:
        masks |= {"unanimous": (everywhere, material.is_unanimous()), "split": (everywhere, material.is_split())}
    left_out = () if material.has_mixed_stories else ("models",)
    return Score(
        statistic=statistic.key,
        parts=tuple(
            _part(dataset, material, statistic, answers, reference, name, *masks[name], salt=(*salt, n))
            for n, name in enumerate(names)
            if name not in left_out
        ),
    )


def _part(
    dataset: Dataset,
    material: Judged,
    statistic: Statistic,
    answers: FloatArray,
    reference: FloatArray,
    name: str,
    units: BoolArray,
    is_in: BoolArray,
    *,
    salt: tuple[int, ...],
) -> ScorePart:
    judge, people = answers[:, units], np.where(is_in, reference, np.nan)[:, units]
    try:
        value = judge_scores.score(statistic, judge, people)
    except Incomputable as error:
        return without_units(name, error)
    clusters = [cluster for cluster, is_kept in zip(material.clusters, units, strict=True) if is_kept]
    sources = [source for source, is_kept in zip(material.sources, units, strict=True) if is_kept]
    compared = np.isfinite(judge) & np.isfinite(people)
    ends = interval(
        judge_scores.score_interval,
        statistic,
        judge,
        people,
        clusters,
        rng=dataset.rng(*salt, 0),
        n_resamples=N_RESAMPLES,
    )
    floor = chance_floor(judge_scores.score_floor, statistic, judge, people, rng=dataset.rng(*salt, 1))
    within = chance_floor(judge_scores.score_floor, statistic, judge, people, rng=dataset.rng(*salt, 2), strata=sources)
    return ScorePart(
        part=name,
        value=value,
        n=int(compared.sum()),
        n_units=int(compared.any(axis=0).sum()),
        n_raters=len(material.raters),
        interval=ends,
        floor=floor,
        floor_within=within if len(set(sources)) > 1 else None,
    )


def outcomes(dataset: Dataset, rows: pd.DataFrame, n_items: int) -> Outcomes:
    """What became of a judge's answers to so many items about every story, and by source."""
    n_units = {source: sum(dataset.source_of(s) == source for _g, s in dataset.units) for source, _k in dataset.sources}
    by_source = tuple(
        SourceOutcomes(source=source, **count_outcomes(rows[rows["source"] == source], n_items * n))
        for source, n in n_units.items()
    )
    return Outcomes(**count_outcomes(rows, n_items * len(dataset.units)), by_source=by_source)


def count_outcomes(rows: pd.DataFrame, n_expected: int) -> dict[str, Any]:
    """The fields of `SourceOutcomes`."""
    counts = rows["outcome"].value_counts()
    n_by_outcome = {outcome: int(counts.get(outcome, 0)) for outcome in ("answered", "declined", "unreadable")}
    n_lost = n_expected - n_by_outcome["answered"]
    return n_by_outcome | {
        "missing": n_lost - n_by_outcome["declined"] - n_by_outcome["unreadable"],
        "expected": n_expected,
        "lost_percent": 100 * n_lost / n_expected if n_expected else None,
    }


def score_cells(score: Score) -> Iterator[Row]:
    """The columns of a CSV row for each part of a statistic."""
    for part in score.parts:
        within = part.floor_within
        yield {
            "statistic": score.statistic,
            "part": part.part,
            "value": part.value,
            "low": part.interval.low,
            "high": part.interval.high,
            "chance_mean": part.floor.mean,
            "chance_end": part.floor.upper,
            "chance_within_source_mean": within and within.mean,
            "chance_within_source_end": within and within.upper,
            "n": part.n,
            "n_units": part.n_units,
            "n_people": part.n_raters,
            "note": note_of(part, part.interval),
        }


NO_ITEM = {"step": "", "item": "all", "title": "", "dimension": ""}


def score_rows(judges: Iterable[JudgeScores]) -> Iterator[Row]:
    """Every judge's statistics, over all items and item by item."""
    for judge in judges:
        for cells, scores in [(NO_ITEM, judge.scores), *((item_cells(item), item.scores) for item in judge.items)]:
            for score in scores:
                yield from ({"judge": judge.judge} | cells | row for row in score_cells(score))


def outcome_rows(judge: str, counted: Outcomes) -> Iterator[Row]:
    for row in (counted, *counted.by_source):
        yield {
            "judge": judge,
            "source": row.source or "all",
            "answered": row.answered,
            "declined": row.declined,
            "unreadable": row.unreadable,
            "missing": row.missing,
            "expected": row.expected,
            "lost_percent": row.lost_percent,
        }


def score_lines(judges: Iterable[HasScores]) -> Iterator[str]:
    """Each judge's statistics over all units and among models' stories, in English."""
    for judge in judges:
        yield f"  {judge.judge}: {outcome_words(judge.outcomes)}"
        for score in judge.scores:
            yield f"    {score.statistic:<20} " + "; ".join(_part_words(score, part) for part in score.parts)


def outcome_words(counted: Outcomes) -> str:
    sources = ", ".join(f"{row.source} {decimal(row.lost_percent)} %" for row in counted.by_source)
    return (
        f"{counted.declined} declined, {counted.unreadable} unreadable, {counted.missing} missing of "
        f"{counted.expected}" + (f"; lost by source: {sources}" if sources else "")
    )


def _part_words(score: Score, part: ScorePart) -> str:
    write = coefficient if score.form == "coefficient" else decimal if score.form == "percent" else _two_decimals
    words = f"{part.part} {write(part.value)}"
    if part.value is None:
        return words
    if part.interval.low is not None:
        words += f" (95 % {write(part.interval.low)} to {write(part.interval.high)})"
    return words + (f", chance to {write(part.floor.upper)}" if part.floor.upper is not None else "")


def _two_decimals(number: float | None) -> str:
    return decimal(number, 2)
