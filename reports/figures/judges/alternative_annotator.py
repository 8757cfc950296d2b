"""May a judge stand in for one of the people? The alternative annotator test, and what keeps it honest.

A judge that does nothing but tell people's stories from models' agrees with experts well enough to pass where the two
differ much. So beside the test stand the best constant answer, models' stories alone, unanswered questions counted as
lost, and the same test on whole stories; a judge may stand in only if it passes all of them, which no constant answer
does. Where that is not shown, it is said how often it would be shown of a judge that answers as the experts do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.dataset import cubes
from reports.dataset.judged import asked_units
from reports.document.model import DocumentSection, Head
from reports.document.values import Estimate
from reports.figures.base import N_RESAMPLES, Claim, Figure, Listing, Statement, estimate, interval
from reports.figures.judges.alternative_annotator_tables import chances, in_place_of_an_expert
from reports.figures.judges.standings import WINNING_RATE_TO_PASS, Ends, Standing, best_constant, standing_of
from reports.lazy import exchangeable_judges, np
from reports.numbers import decimal
from studies.documents.analysis_plan import EPSILON
from studies.models import Source

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from stats.alternative_annotator import Score
    from stats.arrays import BoolArray, FloatArray, IntArray

SALT, DRAWN = 34, 1  # of the seed


@dataclass(frozen=True, kw_only=True)
class JudgeStandings:
    """A judge on the items of one kind.

    score : "accuracy" for verdicts, "neg_rmse" for scales
    epsilon : by which an expert may be better; the plan's, or what the source gives for experts
    drawn : of 100 judges that give the answer of an expert drawn anew for each question, how many pass every form and
        do better than the best constant answer
    """

    judge: str
    score: str
    standings: tuple[Standing, ...]
    epsilon: float = EPSILON
    drawn: Estimate

    @property
    def own_standings(self) -> tuple[Standing, ...]:
        """All but those of constant answers."""
        return tuple(standing for standing in self.standings if not standing.is_constant)

    @property
    def passed_constant(self) -> Standing | None:
        """A constant answer that passes the test, so that passing it tells nothing; among all stories if it can."""
        return next((s for s in reversed(self.standings) if s.is_constant and s.is_passed), None)

    @property
    def may_stand_in(self) -> bool:
        """Whether it passes every form, which no constant answer does, and does better than the best of those."""
        advantages = self.standings[0].advantage, self.standings[-1].advantage
        is_better = (advantages[0] or 0) > (advantages[1] or 0)
        return is_better and self.passed_constant is None and all(s.is_passed for s in self.own_standings)


class AlternativeAnnotator(Figure[Listing[JudgeStandings]]):
    key = "alternative_annotator"
    title = gettext_lazy("Alternative annotator test")
    position = 127
    section = "judges"
    tables = ("alternative-annotator",)
    edition = 4
    is_shown_sealed = False

    def compute(self, dataset: Dataset) -> Listing[JudgeStandings]:
        scales = [item for item in dataset.items if item.is_scale]
        return Listing(
            (*_of_items(dataset, dataset.verdict_items, "accuracy"), *_of_items(dataset, scales, "neg_rmse"))
        )

    def describe(self, result: Listing[JudgeStandings], head: Head) -> Iterator[DocumentSection]:
        epsilon = result.rows[0].epsilon if result.rows else EPSILON
        yield in_place_of_an_expert(result.rows, epsilon=epsilon)

    def statements(self, result: Listing[JudgeStandings], head: Head) -> Iterator[Statement]:
        for row in result.rows:
            if row.standings[0].winning_rate is not None:
                yield _statement(row)


def _statement(row: JudgeStandings) -> Statement:
    """Whether the judge may stand in for an expert, by every form of the test."""
    test = row.standings[0]
    words = {"judge": row.judge, "beaten": decimal(100 * (test.winning_rate or 0), 0), "n": test.n_tested}
    if row.may_stand_in:
        sentence = _(
            "The judge %(judge)s may stand in for an expert: it passes each form of the test, and does better than any "
            "constant answer."
        )
    elif test.is_passed:
        sentence = _(
            "It was not shown that the judge %(judge)s can replace an expert: it does as well as %(beaten)s %% of "
            "those tested, but not where the test is stricter, or no better than a constant answer."
        )
    elif not test.winning_rate:
        sentence = _(
            "It was not shown that the judge %(judge)s can replace an expert, nor that it does as well as even one of "
            "the experts tested."
        )
    else:
        sentence = _(
            "It was not shown that the judge %(judge)s can replace an expert: it does as well as %(beaten)s %% of "
            "those tested, which is fewer than half."
        )
    kind = _("verdicts") if row.score == "accuracy" else _("scales")
    basis = _("On %(kind)s; %(n)d experts tested, each beside the others who answered the same") % {
        "kind": kind,
        "n": test.n_tested,
    }
    claims = (Claim(kind="judge"),) if row.may_stand_in else ()
    sentence %= words
    if not claims:
        sentence = " ".join(filter(None, [sentence, chances(row)]))
    return Statement(sentence=sentence, basis=basis, position=30, claims=claims)


def _of_items(dataset: Dataset, items: list[StepItem], score: Score) -> Iterator[JudgeStandings]:
    """Every model that answered some of these items, with its standings."""
    if not items:
        return
    cube = dataset.cube(items)
    answers = dataset.models_with_jury
    judges = sorted(answers["rater"].unique())
    if not judges or not cube.raters:
        return
    judged = cubes.build_cube(answers, list(cube.items), raters=judges, units=list(cube.units)).values
    people = _flatten(cube.values)
    of_models = np.tile(dataset.is_of_kind(cube, Source.Kind.MODEL), len(items))
    epsilon = dataset.plan.epsilon if dataset.plan else EPSILON

    def interval_over(mask: BoolArray) -> Ends:
        clusters = np.tile(dataset.clusters(cube), len(items))[mask]
        # Begun anew for every judge and form: what differs between their intervals is then not the draw.
        return lambda test: interval(test.advantage_interval, clusters, rng=dataset.rng(SALT), n_resamples=N_RESAMPLES)

    test = partial(standing_of, score=score, epsilon=epsilon)
    of_all, of_some = interval_over(np.ones_like(of_models)), interval_over(of_models)

    def constant(form: str, people: FloatArray, ends: Ends) -> Standing:
        best = best_constant(people, score, epsilon=epsilon)
        if best.answer is None:
            return replace(best, form=form)
        return test(form, people, np.full(people.shape[1], best.answer), answer=best.answer, ends=ends)

    constants = (
        constant("constant_models", people[:, of_models], of_some),
        constant("constant", people, of_all),
    )
    stories = np.tile(np.unique(cube.stories, return_inverse=True)[1], len(cube.items))
    drawn = estimate(
        _percent_drawn,
        people,
        stories,
        of_models,
        least=constants[-1].advantage or 0,
        score=score,
        epsilon=epsilon,
        rng=dataset.rng(SALT, DRAWN),
    )
    for name, answers in zip(judges, _flatten(judged), strict=True):
        if np.isfinite(answers).any():
            is_asked = np.tile(asked_units(dataset, name, cube.units), len(items))
            unanswered = test(
                *("unanswered", people[:, is_asked], answers[is_asked]),
                ends=interval_over(is_asked),
                counts_unanswered=True,
            )
            standings = (
                test("test", people, answers, ends=of_all),
                unanswered,
                test("stories", people, answers, ends=of_all, clusters=stories),
                test("models", people[:, of_models], answers[of_models], ends=of_some),
                *constants,
            )
            yield JudgeStandings(judge=name, score=score, standings=standings, epsilon=epsilon, drawn=drawn)


def _percent_drawn(
    people: FloatArray,
    stories: IntArray,
    of_models: BoolArray,
    *,
    least: float,
    score: Score,
    epsilon: float,
    rng: np.random.Generator,
) -> float:
    """Of 100 judges that are drawn from the people, how many pass every form with an advantage above the least.

    Raises Incomputable if one of the forms tests nobody.
    """
    places = exchangeable_judges.draw_places(people, rng=rng)
    test = partial(exchangeable_judges.alt_tests, epsilon=epsilon, score=score)
    by_answers = test(people, places)
    forms = by_answers, test(people, places, clusters=stories), test(people[:, of_models], places[:, of_models])
    passes_all = np.all([form.winning_rate >= WINNING_RATE_TO_PASS for form in forms], axis=0)
    return float(100 * (passes_all & (by_answers.advantage > least)).mean())


def _flatten(values: FloatArray) -> FloatArray:
    """From shape (I items, R raters, U units) to (R, I × U)."""
    return np.asarray(values.transpose(1, 0, 2).reshape(values.shape[1], -1))
