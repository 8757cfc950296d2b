"""May a judge stand in for one of the people? The alternative annotator test, and what keeps it honest.

A judge that does nothing but tell people's stories from models' agrees with experts well enough to pass where the two
differ much. So beside the test stand the best constant answer, models' stories alone, unanswered questions counted as
lost, and the same test on whole stories; a judge may stand in only if it passes all of them and beats the constant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy

from annotation.models import Rater
from reports.dataset import cubes
from reports.figures.base import Figure, Listing, Reason, Row
from reports.lazy import alternative_annotator, np
from reports.numbers import coefficient
from reports.reasons import to_english
from stats.reasons import Incomputable
from studies.models import Source

if TYPE_CHECKING:
    from reports.dataset import Cube, Dataset, StepItem
    from stats.alternative_annotator import Score
    from stats.arrays import BoolArray, FloatArray

EPSILON = 0.2  # what the source gives for experts
MOST_CONSTANTS = 21  # that are tried
ENOUGH = 0.5  # winning rate from which a judge may stand in


@dataclass(frozen=True, kw_only=True)
class Standing:
    """One form of the test.

    form : "test", "unanswered", "stories", "models" or "constant"
    answer : of the constant, the answer that does best
    n_units : questions about a story that were compared
    """

    form: str
    answer: float | None = None
    winning_rate: float | None
    advantage: float | None
    n_tested: int
    n_people: int
    n_units: int
    why: Reason | None = None

    @property
    def is_passed(self) -> bool:
        return self.winning_rate is not None and self.winning_rate >= ENOUGH


@dataclass(frozen=True, kw_only=True)
class JudgeStandings:
    """A judge on the items of one kind. score : "accuracy" for verdicts, "neg_rmse" for scales"""

    judge: str
    score: str
    standings: tuple[Standing, ...]

    @property
    def own_standings(self) -> tuple[Standing, ...]:
        """All but that of the constant answer."""
        return self.standings[:-1]

    @property
    def may_stand_in(self) -> bool:
        """Whether it passes every form, and does better than the best constant answer."""
        *own, constant = self.standings
        advantages = own[0].advantage, constant.advantage
        return all(standing.is_passed for standing in own) and (advantages[0] or 0) > (advantages[1] or 0)


class AlternativeAnnotator(Figure[Listing[JudgeStandings]]):
    key = "alternative_annotator"
    title = gettext_lazy("In place of an expert")
    position = 127
    result = Listing[JudgeStandings]
    tables = ("alternative-annotator",)
    is_shown_sealed = False
    nothing = Listing[JudgeStandings]()

    def compute(self, dataset: Dataset) -> Listing[JudgeStandings]:
        scales = [item for item in dataset.items if item.is_scale]
        return Listing(
            (*_of_items(dataset, dataset.verdict_items, "accuracy"), *_of_items(dataset, scales, "neg_rmse"))
        )

    def rows(self, result: Listing[JudgeStandings]) -> dict[str, Iterator[Row]]:
        return {"alternative-annotator": _rows(result)}

    def lines(self, result: Listing[JudgeStandings]) -> Iterator[str]:
        yield "\nIn place of an expert: winning rate, advantage probability"
        for row in result.rows:
            may = "may stand in" if row.may_stand_in else "may not stand in"
            yield f"  {row.judge} ({'verdicts' if row.score == 'accuracy' else 'scales'}): {may} for an expert"
            for standing in row.standings:
                values = f"{coefficient(standing.winning_rate)}, {coefficient(standing.advantage)}"
                yield f"    {standing.form:<12} {to_english(standing.why) if standing.why else values}"

    def context(self, result: Listing[JudgeStandings]) -> dict[str, Any]:
        return {"epsilon": EPSILON}


def _of_items(dataset: Dataset, items: list[StepItem], score: Score) -> Iterator[JudgeStandings]:
    """Every model that answered some of these items, with its standings."""
    if not items:
        return
    cube = dataset.cube(items)
    answers = dataset.judges[dataset.judges["rater_kind"] == Rater.Kind.MODEL]
    judges = sorted(answers["rater"].unique())
    if not judges or not cube.raters:
        return
    judged = cubes.build_cube(answers, list(cube.items), raters=judges, units=list(cube.units)).values
    people = _flatten(cube.values)
    of_models = np.tile(dataset.is_of_kind(cube, Source.Kind.MODEL), len(items))
    constant = best_constant(people, score)
    for name, given in zip(judges, _flatten(judged), strict=True):
        if np.isfinite(given).any():
            yield JudgeStandings(
                judge=name, score=score, standings=(*_standings(cube, people, given, of_models, score), constant)
            )


def _flatten(values: FloatArray) -> FloatArray:
    """From shape (I items, R raters, U units) to (R, I × U)."""
    return np.asarray(values.transpose(1, 0, 2).reshape(values.shape[1], -1))


def _standings(
    cube: Cube, people: FloatArray, given: FloatArray, of_models: BoolArray, score: Score
) -> Iterator[Standing]:
    stories = cube.stories * len(cube.items)
    yield _standing("test", people, given, score)
    yield _standing("unanswered", people, given, score, counts_unanswered=True)
    yield _standing("stories", people, given, score, clusters=stories)
    yield _standing("models", people[:, of_models], given[of_models], score)


def best_constant(people: FloatArray, score: Score) -> Standing:
    """The answer that would do best if it were given always: by winning rate, then by advantage."""
    given = people[np.isfinite(people)]
    # Every answer of a scale; of free numbers the quantiles, since what few people say is nobody's best guess.
    values = np.unique(given)
    if len(values) > MOST_CONSTANTS:
        values = np.unique(np.quantile(given, np.linspace(0, 1, MOST_CONSTANTS), method="nearest"))
    found = [_standing("constant", people, np.full(people.shape[1], value), score, answer=value) for value in values]
    nobody = Standing(form="constant", winning_rate=None, advantage=None, n_tested=0, n_people=0, n_units=0)
    return max(found, key=lambda s: (s.winning_rate or 0, s.advantage or 0), default=nobody)


def _standing(
    form: str, people: FloatArray, given: FloatArray, score: Score, *, answer: float | None = None, **options: Any
) -> Standing:
    try:
        found = alternative_annotator.alt_test(people, given, epsilon=EPSILON, score=score, **options)
    except Incomputable as error:
        return Standing(
            form=form,
            winning_rate=None,
            advantage=None,
            n_tested=0,
            n_people=len(people),
            n_units=0,
            why=Reason.of(error),
        )
    return Standing(
        form=form,
        answer=None if answer is None else float(answer),
        winning_rate=found.winning_rate,
        advantage=found.advantage_probability,
        n_tested=sum(person.is_tested for person in found.people),
        n_people=len(found.people),
        n_units=found.n_units,
    )


def _rows(result: Listing[JudgeStandings]) -> Iterator[Row]:
    for row in result.rows:
        for standing in row.standings:
            yield {
                "judge": row.judge,
                "score": row.score,
                "form": standing.form,
                "answer": standing.answer,
                "winning_rate": standing.winning_rate,
                "advantage_probability": standing.advantage,
                "people_tested": standing.n_tested,
                "people": standing.n_people,
                "units": standing.n_units,
                "epsilon": EPSILON,
                "may_stand_in": row.may_stand_in,
                "note": to_english(standing.why) if standing.why else "",
            }
