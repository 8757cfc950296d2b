"""The alternative annotator test by one set of answers, a judge's or always the same, in one of its forms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from reports.document.values import Interval, Reason
from reports.lazy import alternative_annotator, np
from stats.reasons import Incomputable
from studies.documents.analysis_plan import EPSILON

if TYPE_CHECKING:
    from stats.alternative_annotator import Score
    from stats.arrays import FloatArray

Ends: TypeAlias = Callable[["alternative_annotator.AlternativeAnnotator"], Interval]
MOST_CONSTANTS = 21  # that are tried
WINNING_RATE_TO_PASS = 0.5  # winning rate from which a judge may stand in


@dataclass(frozen=True, kw_only=True)
class Standing:
    """One form of the test.

    form : "test", "unanswered", "stories", "models", or "constant_models" and "constant", of the best constant answer
        among models' stories and among all
    answer : of a constant, the answer that does best
    n_units : questions about a story that were compared
    interval : of the advantage, over clusters of stories; None without a value
    """

    form: str
    answer: float | None = None
    winning_rate: float | None
    advantage: float | None
    n_tested: int
    n_people: int
    n_units: int
    interval: Interval | None = None
    why: Reason | None = None

    @property
    def is_constant(self) -> bool:
        return self.form in {"constant", "constant_models"}

    @property
    def is_passed(self) -> bool:
        return self.winning_rate is not None and self.winning_rate >= WINNING_RATE_TO_PASS


NOBODY = Standing(form="constant", winning_rate=None, advantage=None, n_tested=0, n_people=0, n_units=0)


def best_constant(people: FloatArray, score: Score, *, epsilon: float = EPSILON, **options: Any) -> Standing:
    """The answer that would do best if it were given always: by winning rate, then by advantage.

    options : of `alt_test`
    """
    given = people[np.isfinite(people)]
    # Every answer of a scale; of free numbers the quantiles, since what few people say is nobody's best guess.
    values = np.unique(given)
    if len(values) > MOST_CONSTANTS:
        values = np.unique(np.quantile(given, np.linspace(0, 1, MOST_CONSTANTS), method="nearest"))
    standings = [
        standing_of(
            *("constant", people, np.full(people.shape[1], value)),
            score=score,
            epsilon=epsilon,
            answer=value,
            **options,
        )
        for value in values
    ]
    return max(standings, key=lambda s: (s.winning_rate or 0, s.advantage or 0), default=NOBODY)


def standing_of(
    form: str,
    people: FloatArray,
    answers: FloatArray,
    *,
    score: Score,
    epsilon: float,
    answer: float | None = None,
    ends: Ends | None = None,
    **options: Any,
) -> Standing:
    """The form of the test by these answers, or why there is none. options : of `alt_test`"""
    try:
        test = alternative_annotator.alt_test(people, answers, epsilon=epsilon, score=score, **options)
    except Incomputable as error:
        return replace(NOBODY, form=form, n_people=len(people), why=Reason.of(error))
    return Standing(
        form=form,
        answer=None if answer is None else float(answer),
        winning_rate=test.winning_rate,
        advantage=test.advantage_probability,
        n_tested=sum(person.is_tested for person in test.people),
        n_people=len(test.people),
        n_units=test.n_units,
        interval=ends(test) if ends else None,
    )
