"""How a judge stands to people, as figures about judges share it: each statistic with all that must stand beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from reports.dataset.judged import answers_to
from reports.dataset.step_items import widest
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
from reports.figures.outcomes import Outcomes, outcome_words, outcomes
from reports.figures.person_lines import PersonLine, line_cells, person_lines
from reports.lazy import judge_scores, np
from reports.numbers import coefficient, decimal
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.judged import Judged
    from stats.arrays import FloatArray, IntArray
    from stats.human_line import AmongPeople
    from stats.intervals import Interval as StatisticInterval
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
PARTS = ("all", "models", "unanimous", "split")
PARTS_OF_ALL = ("all", "unanimous", "split")  # of the same units; they differ in which of people's answers count
SHUFFLES = 98  # of the seed
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
class JudgeScores:
    """One judge beside people, over all items of a kind and item by item.

    n_people : who answered any of them
    person_lines : what one of the people has where judges have the first statistic
    """

    judge: str
    n_people: int
    person_lines: tuple[PersonLine, ...]
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
    def person_lines(self) -> tuple[PersonLine, ...]: ...
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
    against: Sequence[AmongPeople] = (),
    salt: int,
) -> list[JudgeScores]:
    """Every judge beside what people say: these statistics over all items, and those item by item.

    reference : what people say of each item and unit, shape (I, U)
    against : the lines of one of the people that judges are held against
    """
    rows = answers_to(dataset.models, material.items)
    lines = person_lines(material.people, material.clusters, against, rng=dataset.rng(salt, 99))
    judges = []
    for at, (name, answers) in enumerate(zip(material.names, material.judges, strict=True)):
        sides = _Sides(dataset, material, answers, reference, salt=(salt, at))
        items = tuple(
            ItemScores(
                **item_fields(item),
                scores=tuple(
                    _score(sides, statistic, ("all", "models"), slice(n, n + 1), salt=(n + 1, place))
                    for place, statistic in enumerate(of_item)
                ),
            )
            for n, item in enumerate(material.items)
        )
        scores = tuple(
            _score(sides, statistic, PARTS, slice(None), salt=(0, place)) for place, statistic in enumerate(statistics)
        )
        judges.append(
            JudgeScores(
                judge=name,
                n_people=len(material.raters),
                person_lines=lines,
                scores=scores,
                items=items,
                outcomes=outcomes(dataset, rows[rows["rater"] == name], len(material.items)),
            )
        )
    return judges


@dataclass(frozen=True)
class _PartSides:
    """What the judge and people say in a part, both of shape (I, U); the cluster and the source of each unit in it."""

    judge: FloatArray
    people: FloatArray
    clusters: IntArray
    sources: tuple[str, ...]


@dataclass
class _Sides:
    """One judge and what people say of each item and unit, both of shape (I, U), and what is drawn for both once.

    sides_by_part : what enters in each part that was asked for so far
    tables_by_part : shuffled confusion tables, which all statistics and items share: among all stories, and within
        source, of each part that was asked for so far
    """

    dataset: Dataset
    material: Judged
    answers: FloatArray
    reference: FloatArray
    salt: tuple[int, ...]
    sides_by_part: dict[str, _PartSides] = field(default_factory=dict)
    tables_by_part: dict[tuple[str, bool], FloatArray] = field(default_factory=dict)

    def select(self, part: str) -> _PartSides:
        """What enters in a part, found once for all statistics and items."""
        if part not in self.sides_by_part:
            self.sides_by_part[part] = self._select(part)
        return self.sides_by_part[part]

    def _select(self, part: str) -> _PartSides:
        units, reference = np.ones(self.reference.shape[1], dtype=np.bool_), self.reference
        if part == "models":
            units = self.material.is_of_models
        elif part != "all":
            is_in = self.material.is_unanimous() if part == "unanimous" else self.material.is_split()
            reference = np.where(is_in, reference, np.nan)
        sources = (source for source, is_kept in zip(self.material.sources, units, strict=True) if is_kept)
        return _PartSides(self.answers[:, units], reference[:, units], self.material.clusters[units], tuple(sources))

    def tables(self, part: str, strata: Sequence[str] | None) -> FloatArray:
        """The tables of 1,000 shuffles in a part, of all items. Parts of the same units are drawn together."""
        if (part, strata is not None) not in self.tables_by_part:
            parts = ("models",) if part == "models" else PARTS_OF_ALL
            rng = self.dataset.rng(*self.salt, SHUFFLES, int(part == "models"), int(strata is not None))
            people = np.concatenate([self.select(name).people for name in parts])
            judge = np.tile(self.select(part).judge, (len(parts), 1))
            tables = judge_scores.shuffled_tables(judge, people, rng=rng, strata=strata)
            self.tables_by_part |= {
                (name, strata is not None): own for name, own in zip(parts, np.split(tables, len(parts)), strict=True)
            }
        return self.tables_by_part[part, strata is not None]


def score_parts(
    dataset: Dataset,
    material: Judged,
    statistic: Statistic,
    answers: FloatArray,
    reference: FloatArray,
    *,
    names: Sequence[str] = PARTS,
    salt: tuple[int, ...],
) -> Score:
    """The statistic over all units and over each part of them. answers, reference : shape (I, U)"""
    return _score(_Sides(dataset, material, answers, reference, salt=salt), statistic, names, slice(None), salt=())


def _score(sides: _Sides, statistic: Statistic, parts: Sequence[str], items: slice, *, salt: tuple[int, ...]) -> Score:
    """The statistic of some of the items, over all units and over each part of them."""
    left_out = () if sides.material.has_mixed_stories else ("models",)
    return Score(
        statistic=statistic.key,
        parts=tuple(
            _part(sides, statistic, part, items, salt=(*sides.salt, *salt, n))
            for n, part in enumerate(parts)
            if part not in left_out
        ),
    )


def _part(sides: _Sides, statistic: Statistic, part: str, items: slice, *, salt: tuple[int, ...]) -> ScorePart:
    dataset, material = sides.dataset, sides.material
    own = sides.select(part)
    judge, people = own.judge[items], own.people[items]
    try:
        value = judge_scores.score(statistic, judge, people)
    except Incomputable as error:
        return without_units(part, error)
    compared = np.isfinite(judge) & np.isfinite(people)
    most = widest(material.items[items]) if statistic.is_distance else np.inf

    def ends() -> StatisticInterval:
        rng = dataset.resampling()
        whole = judge_scores.score_interval(statistic, judge, people, own.clusters, rng=rng, n_resamples=N_RESAMPLES)
        return whole.clipped(-most, most)

    def floor(strata: Sequence[str] | None) -> Floor:
        if statistic.of_tables:
            tables = sides.tables(part, strata)[items]
            return chance_floor(judge_scores.floor_of_tables, statistic, tables, judge, people)
        rng = dataset.rng(*salt, 1 if strata is None else 2)
        return chance_floor(judge_scores.score_floor, statistic, judge, people, rng=rng, strata=strata)

    return ScorePart(
        part=part,
        value=value,
        n=int(compared.sum()),
        n_units=int(compared.any(axis=0).sum()),
        n_raters=len(material.raters),
        interval=interval(ends),
        floor=floor(None),
        floor_within=floor(own.sources) if len(set(own.sources)) > 1 else None,
    )


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


def score_rows(judges: Sequence[JudgeScores]) -> Iterator[Row]:
    """Every judge's statistics, over all items and item by item; last what one of the people has."""
    for judge in judges:
        for cells, scores in [(NO_ITEM, judge.scores), *((item_cells(item), item.scores) for item in judge.items)]:
            for score in scores:
                yield from ({"judge": judge.judge} | cells | row for row in score_cells(score))
    for judge in judges[:1]:  # the lines are the same beside each
        statistic = judge.scores[0].statistic
        yield from ({"judge": ""} | NO_ITEM | line_cells(line, statistic) for line in judge.person_lines)


def score_lines(judges: Iterable[HasScores]) -> Iterator[str]:
    """Each judge's statistics over all units and among models' stories, in English."""
    for judge in judges:
        yield f"  {judge.judge}: {outcome_words(judge.outcomes)}"
        for score in judge.scores:
            yield f"    {score.statistic:<20} " + "; ".join(_part_words(score, part) for part in score.parts)


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
