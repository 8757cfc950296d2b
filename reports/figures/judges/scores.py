"""How a judge stands to people, as figures about judges share it: each statistic with all that must stand beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from reports.dataset.judged import answers_to
from reports.dataset.step_items import widths_of
from reports.document.values import Floor, Interval, IntervalEstimate, Reason
from reports.figures.base import N_RESAMPLES, ItemRow, chance_floor, interval, item_fields
from reports.figures.judges.outcomes import Outcomes, outcomes
from reports.figures.judges.person_lines import PersonLine, person_lines
from reports.lazy import judge_sides
from reports.numbers import coefficient, coefficients, decimal
from reports.numbers import interval as between
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.judged import Judged
    from reports.dataset.step_items import StepItem
    from stats.arrays import FloatArray
    from stats.human_line import AmongPeople
    from stats.judge_scores import Statistic
    from stats.judge_sides import Sides
    from stats.table_scores import TableStatistic

    AnyStatistic = Statistic | TableStatistic

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
PERCENTAGES = ("percent_agreement", "modal_share", "accuracy", "flip_rate", "first_rate")


@dataclass(frozen=True, kw_only=True)
class ScorePart(IntervalEstimate):
    """A statistic over some of the units.

    part : "all", "models" (stories by models alone), "unanimous" or "split" (by whether people agree)
    n : answers that are compared
    floor : what the judge's answers give at other units
    floor_within : the same if they stay with stories of the same source; None where that is not of the statistic
    """

    part: str
    n: int
    floor: Floor
    floor_within: Floor | None = None


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

    def write(self, number: float | None) -> str:
        """A number as the statistic is written: a coefficient, a percentage, or with two decimals."""
        return coefficient(number) if self.form == "coefficient" else decimal(number, self._places)

    def write_ends(self, ends: Interval | None) -> str:
        """Both ends of an interval likewise."""
        return coefficients(ends) if self.form == "coefficient" else between(ends, self._places)

    @property
    def _places(self) -> int:
        return 1 if self.form == "percent" else 2


@dataclass(frozen=True, kw_only=True)
class ItemScores(ItemRow):
    scores: tuple[Score, ...]


@dataclass(frozen=True, kw_only=True)
class WithOutcomes:
    """A judge with what became of the answers expected of it."""

    judge: str
    outcomes: Outcomes


@dataclass(frozen=True, kw_only=True)
class WithScores(WithOutcomes):
    """A judge beside people.

    n_people : who answered any of the same
    person_lines : what one of the people has where judges have the first statistic
    """

    n_people: int
    person_lines: tuple[PersonLine, ...]
    scores: tuple[Score, ...]


@dataclass(frozen=True, kw_only=True)
class JudgeScores(WithScores):
    """One judge over all items of a kind and item by item."""

    items: tuple[ItemScores, ...]


def without_units(part: str, error: Incomputable) -> ScorePart:
    """A part that has no value, with the reason in each place."""
    why = Reason.of(error)
    nothing = Floor(mean=None, upper=None, why=why)
    return ScorePart(
        part=part, value=None, why=why, n=0, interval=Interval(low=None, high=None, why=why), floor=nothing
    )


def compare_judges(
    dataset: Dataset,
    material: Judged | None,
    summarise: Callable[[Judged], FloatArray],
    statistics: Sequence[AnyStatistic],
    *,
    of_item: Sequence[AnyStatistic] = (),
    against: Sequence[AmongPeople] = (),
    parts: Sequence[str] = PARTS,
    salt: int,
    asked: Sequence[StepItem] = (),
) -> tuple[JudgeScores, ...]:
    """Every judge beside what people say, over all items and item by item; none where there is nothing to compare.

    summarise : gives what people say of each item and unit, shape (I, U)
    of_item : the statistics item by item, where they are others
    against : the lines of one of the people that judges are held against
    parts : those of `PARTS` over which each statistic is computed, over all items
    asked : the items that were to be answered, where those of the material are made of them
    """
    if material is None:
        return ()
    reference = summarise(material)
    asked = asked or material.items
    rows = answers_to(dataset.models_with_jury, asked)
    # Drawn once, apart from what is drawn for a judge: beside each judge they are the same.
    lines = person_lines(material.people, material.clusters, against, rng=dataset.rng(salt, 99))
    judges = []
    for at, (name, answers) in enumerate(zip(material.names, material.judges, strict=True)):
        sides = judge_sides.Sides(dataset, material, answers, reference, widths_of(material.items), (salt, at))
        items = tuple(
            ItemScores(
                **item_fields(item),
                scores=tuple(
                    _score(sides, statistic, ("all", "models"), slice(n, n + 1), salt=(n + 1, place))
                    for place, statistic in enumerate(of_item or statistics)
                ),
            )
            for n, item in enumerate(material.items)
        )
        scores = tuple(
            _score(sides, statistic, parts, slice(None), salt=(0, place)) for place, statistic in enumerate(statistics)
        )
        judges.append(
            JudgeScores(
                judge=name,
                n_people=len(material.raters),
                person_lines=lines,
                scores=scores,
                items=items,
                outcomes=outcomes(dataset, name, rows[rows["rater"] == name], len(asked)),
            )
        )
    return tuple(judges)


def score_parts(
    dataset: Dataset,
    material: Judged,
    statistic: AnyStatistic,
    answers: FloatArray,
    reference: FloatArray,
    *,
    names: Sequence[str] = PARTS,
    salt: tuple[int, ...],
) -> Score:
    """The statistic over all units and over each part of them. answers, reference : shape (I, U)"""
    sides = judge_sides.Sides(dataset, material, answers, reference, widths_of(material.items), salt)
    return _score(sides, statistic, names, slice(None), salt=())


def _score(
    sides: Sides, statistic: AnyStatistic, parts: Sequence[str], items: slice, *, salt: tuple[int, ...]
) -> Score:
    """The statistic of some of the items, over all units and over each part of them."""
    return Score(
        statistic=statistic.key,
        parts=tuple(
            _part(sides, statistic, part, items, salt=(*sides.salt, *salt, n)) for n, part in sides.list_parts(parts)
        ),
    )


def _part(sides: Sides, statistic: AnyStatistic, part: str, items: slice, *, salt: tuple[int, ...]) -> ScorePart:
    try:
        score = sides.compute(statistic, part, items, salt=salt, n_resamples=N_RESAMPLES)
    except Incomputable as error:
        return without_units(part, error)
    return ScorePart(
        part=part,
        value=score.value,
        n=score.n,
        n_units=score.n_units,
        n_raters=sides.material.people.shape[1],
        interval=interval(score.interval),
        floor=chance_floor(score.floor, None),
        floor_within=chance_floor(score.floor, score.strata) if len(set(score.strata)) > 1 else None,
    )
