"""What it gains that a judge reads as several personas, and how far they agree: of judges that rated on scales."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy

from reports.dataset.judged import judged
from reports.dataset.readings import answers_as_personas
from reports.figures.base import (
    N_RESAMPLES,
    Estimate,
    Figure,
    Floor,
    Interval,
    ItemRow,
    Listing,
    Reason,
    Row,
    chance_floor,
    estimate,
    interval,
    item_cells,
    item_fields,
    note_of,
    weakest_note,
    without_value,
)
from reports.lazy import agreement, arrays, intervals, np, personas
from reports.numbers import coefficient, coefficients
from reports.reasons import to_english
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from reports.dataset.judged import Judged
    from reports.dataset.readings import PersonaAnswers
    from stats.arrays import FloatArray

SALT = 29  # of the seed


@dataclass(frozen=True, kw_only=True)
class Gain(Estimate):
    """Spearman's rho with people of the mean of all personas, less that of the judge without one.

    together, alone, nobody : rho of the mean of all, of one persona (the mean of theirs), and without a persona
    n : answers that all of them have
    """

    together: float | None
    alone: float | None
    nobody: float | None
    interval: Interval
    n: int


@dataclass(frozen=True, kw_only=True)
class PersonaItem(ItemRow):
    """One item. alpha : among the personas; among_models : the same among models' stories"""

    gain: Gain
    alpha: Estimate
    interval: Interval
    floor: Floor
    among_models: Estimate | None

    @property
    def coefficient(self) -> Estimate:
        """As the drawing of coefficients takes it."""
        return self.alpha


@dataclass(frozen=True, kw_only=True)
class JudgePersonas:
    """One judge. nobody : the judge whose answers without a persona are compared; over_items : the mean of items"""

    judge: str
    personas: tuple[str, ...]
    nobody: str
    over_items: Gain
    items: tuple[PersonaItem, ...]


class Personas(Figure[Listing[JudgePersonas]]):
    key = "personas"
    title = gettext_lazy("What personas gain")
    position = 131
    result = Listing[JudgePersonas]
    tables = ("personas",)
    is_shown_sealed = False
    nothing = Listing[JudgePersonas]()

    def compute(self, dataset: Dataset) -> Listing[JudgePersonas]:
        scales = [item for item in dataset.items if item.is_scale]
        material = judged(dataset, scales)
        if material is None:
            return Listing()
        answers_by_judge = {judge: answers_as_personas(dataset, scales, judge) for judge in material.names}
        return Listing(
            tuple(
                _of_judge(dataset, material, judge, answers, salt=salt)
                for salt, (judge, answers) in enumerate(answers_by_judge.items())
                if answers
            )
        )

    def rows(self, result: Listing[JudgePersonas]) -> dict[str, Iterator[Row]]:
        return {"personas": _rows(result)}

    def lines(self, result: Listing[JudgePersonas]) -> Iterator[str]:
        yield "\nWhat personas gain: Spearman's rho with people, and alpha among personas"
        for row in result.rows:
            yield f"  {row.judge} as {', '.join(row.personas)}: {_gain_words(row.over_items)}"
            for item in row.items:
                alpha = f"alpha {coefficient(item.alpha.value)}, 95 % {coefficients(item.interval)}"
                chance = f"chance to {coefficient(item.floor.upper)}"
                yield f"    {item.title[:34]:<34} {_gain_words(item.gain)}; {alpha}, {chance}"

    def context(self, result: Listing[JudgePersonas]) -> dict[str, Any]:
        return {"note": weakest_note(item.interval for row in result.rows for item in row.items)}


def _of_judge(dataset: Dataset, material: Judged, judge: str, answers: PersonaAnswers, *, salt: int) -> JudgePersonas:
    people = arrays.mean_present(material.people, axis=1)
    return JudgePersonas(
        judge=judge,
        personas=answers.personas,
        nobody=answers.nobody,
        over_items=_gain(dataset, material, answers, people, slice(None), salt=(SALT, salt, 0)),
        items=tuple(
            PersonaItem(
                **item_fields(item),
                gain=_gain(dataset, material, answers, people, slice(at, at + 1), salt=(SALT, salt, at + 1)),
                **_agreement(dataset, material, item, answers.as_personas[:, at], salt=(SALT, salt, at + 1, 1)),
            )
            for at, item in enumerate(material.items)
            if np.isfinite(answers.as_personas[:, at]).any()
        ),
    )


def _gain(
    dataset: Dataset,
    material: Judged,
    answers: PersonaAnswers,
    people: FloatArray,
    items: slice,
    *,
    salt: tuple[int, ...],
) -> Gain:
    try:
        compared = personas.compare(
            answers.as_personas[:, items],
            answers.as_nobody[items],
            people[items],
            material.clusters,
            rng=dataset.rng(*salt, 0),
            n_resamples=N_RESAMPLES,
        )
    except Incomputable as error:
        ends = Interval(low=None, high=None, why=Reason.of(error))
        return Gain(value=None, why=ends.why, together=None, alone=None, nobody=None, interval=ends, n=0)
    has_nobody = not np.isnan(compared.nobody)
    return Gain(
        value=compared.gain if has_nobody else None,
        why=None if has_nobody else without_value("not_read_as_nobody"),
        together=compared.together,
        alone=None if np.isnan(compared.alone) else compared.alone,
        nobody=compared.nobody if has_nobody else None,
        interval=Interval.of(compared.interval),
        n=compared.n_units,
    )


def _agreement(
    dataset: Dataset, material: Judged, item: StepItem, ratings: FloatArray, *, salt: tuple[int, ...]
) -> dict[str, Any]:
    """Alpha among the personas, with what must stand beside it. ratings : shape (P, U)"""
    level = item.level
    return {
        "alpha": estimate(agreement.krippendorff_alpha, ratings, level),
        "interval": interval(intervals.alpha_interval, ratings, level, material.clusters, rng=dataset.rng(*salt, 0)),
        "floor": chance_floor(agreement.alpha_chance_floor, ratings, level, rng=dataset.rng(*salt, 1)),
        "among_models": estimate(agreement.krippendorff_alpha, ratings[:, material.is_of_models], level)
        if material.has_mixed_stories
        else None,
    }


def _gain_words(gain: Gain) -> str:
    if gain.together is None:
        return to_english(gain.why) if gain.why else ""
    words = f"all {coefficient(gain.together)}, one alone {coefficient(gain.alone)}"
    if gain.value is None:
        return words
    ends = coefficients(gain.interval)
    return f"{words}, none {coefficient(gain.nobody)}, gain {coefficient(gain.value)}, 95 % {ends}"


def _rows(result: Listing[JudgePersonas]) -> Iterator[Row]:
    for row in result.rows:
        of_judge = {"judge": row.judge, "personas": len(row.personas), "without_persona": row.nobody}
        yield of_judge | {"step": "", "item": "all", "title": "", "dimension": ""} | _cells(row.over_items, None)
        for item in row.items:
            yield of_judge | item_cells(item) | _cells(item.gain, item)


def _cells(gain: Gain, item: PersonaItem | None) -> Row:
    return {
        "rho_together": gain.together,
        "rho_one_alone": gain.alone,
        "rho_without": gain.nobody,
        "gain": gain.value,
        "gain_low": gain.interval.low,
        "gain_high": gain.interval.high,
        "n": gain.n,
        "alpha": item and item.alpha.value,
        "alpha_low": item and item.interval.low,
        "alpha_high": item and item.interval.high,
        "chance_mean": item and item.floor.mean,
        "chance_upper": item and item.floor.upper,
        "among_models": item and item.among_models and item.among_models.value,
        "note": "; ".join(
            filter(None, [note_of(gain, gain.interval), note_of(item.alpha, item.interval) if item else ""])
        ),
    }
