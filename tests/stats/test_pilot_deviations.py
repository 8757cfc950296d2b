"""Deviations of a pilot: those that its answers were drawn with come out, and too little is refused."""

from dataclasses import replace

import numpy as np
import pytest

from stats.pilot_deviations import PilotAnswers, PilotDeviations, estimate_deviations
from stats.planned_answers import PlannedReadings, draw_answers
from stats.reasons import Incomputable
from tests.stats.test_precision import FORMS, crossed

N_DRAWN = 20
UNIT_BY_FORM = {"scale": 1.0, "total": 25.0, "verdict": 25.0, "pair": 1.0, "ranking": 1.0}
# How far the mean of twenty pilots may lie off: three times its error, and what rounding takes from a scale of five.
NEAR_BY_FORM = {"scale": 0.08, "total": 1.5, "verdict": 2.1, "pair": 0.1, "ranking": 0.05}


def answers_to(readings: PlannedReadings, name: str, rng: np.random.Generator, **parts: float) -> PilotAnswers:
    form, deviations = FORMS[name]
    effects = UNIT_BY_FORM[name] * np.linspace(0.3, -0.3, readings.n_sources)
    return PilotAnswers(
        ratings=draw_answers(readings, form, replace(deviations, **parts), effects=effects, rng=rng),
        source=readings.of_units(readings.source),
        block=readings.of_units(readings.block),
        group=readings.of_units(readings.group),
        story=readings.of_units(readings.story),
    )


@pytest.mark.parametrize("name", FORMS)
def test_deviations_that_answers_were_drawn_with_come_out(name: str) -> None:
    rng, (form, deviations) = np.random.default_rng(1), FORMS[name]
    readings = crossed(40, 12, 2 if name == "pair" else 4)
    parts = ("rater_source", "story") if form.kind in ("preference", "rank") else ("rater", "rater_source", "story")

    pilots = [estimate_deviations(answers_to(readings, name, rng), form.kind) for _pilot in range(N_DRAWN)]

    for part in parts:
        mean = np.mean([getattr(pilot.deviations, part) for pilot in pilots])
        assert mean == pytest.approx(getattr(deviations, part), abs=NEAR_BY_FORM[name]), part
    of_groups = form.kind in ("preference", "rank")
    assert pilots[0].n_answers == 40 * 12 * (1 if of_groups else readings.n_sources)
    assert (pilots[0].n_raters, pilots[0].n_stories) == (12, 40 * readings.n_sources)


def test_what_stories_of_a_premise_share_comes_out() -> None:
    rng, readings = np.random.default_rng(2), crossed(40, 12)

    shared, nothing = (
        np.mean(
            [
                estimate_deviations(answers_to(readings, "total", rng, premise=premise), "scale").deviations.premise
                for _pilot in range(N_DRAWN)
            ]
        )
        for premise in (15.0, 0.0)
    )

    assert shared == pytest.approx(15, abs=1.7)
    assert nothing < 3


def test_renaming_raters_stories_and_sources_changes_nothing() -> None:
    rng = np.random.default_rng(3)
    answers = answers_to(crossed(12, 5), "total", rng)
    order, by = rng.permutation(answers.ratings.shape[1]), rng.permutation(answers.ratings.shape[0])
    turned = PilotAnswers(
        ratings=answers.ratings[by][:, order],
        source=3 - answers.source[order],
        block=11 - answers.block[order],
        group=answers.group[order],
        story=answers.story[order],
    )

    one, other = (estimate_deviations(each, "scale") for each in (answers, turned))

    assert vars(one.deviations) == pytest.approx(vars(other.deviations), rel=1e-4)


def test_raters_of_one_source_each_do_not_tell_what_they_make_of_it() -> None:
    answers = answers_to(crossed(12, 8, 2), "total", np.random.default_rng(4))
    is_read = np.arange(8)[:, np.newaxis] % 2 == answers.source

    pilot = estimate_deviations(replace(answers, ratings=np.where(is_read, answers.ratings, np.nan)), "scale")

    assert isinstance(pilot, PilotDeviations)
    assert not pilot.is_source_told
    assert pilot.deviations.rater > 0


@pytest.mark.parametrize(
    ("n_groups", "n_raters", "code"),
    [(20, 2, "pilot_of_few_raters"), (1, 5, "pilot_of_few_stories")],
)
def test_a_pilot_that_is_too_small_is_refused(n_groups: int, n_raters: int, code: str) -> None:
    answers = answers_to(crossed(n_groups, n_raters), "total", np.random.default_rng(5))

    with pytest.raises(Incomputable) as error:
        estimate_deviations(answers, "scale")
    assert error.value.code == code


def test_stories_that_one_person_each_has_read_are_refused() -> None:
    answers = answers_to(crossed(12, 6), "total", np.random.default_rng(6))
    is_read = np.arange(6)[:, np.newaxis] == np.arange(48) % 6

    with pytest.raises(Incomputable) as error:
        estimate_deviations(replace(answers, ratings=np.where(is_read, answers.ratings, np.nan)), "scale")
    assert error.value.code == "pilot_read_by_one"


@pytest.mark.parametrize("name", ["total", "verdict", "ranking"])
def test_answers_that_are_all_alike_are_refused(name: str) -> None:
    answers = answers_to(crossed(12, 6), name, np.random.default_rng(7))
    alike = np.tile(np.arange(1.0, 5.0), 12) if name == "ranking" else np.full(48, 100.0)

    with pytest.raises(Incomputable) as error:
        estimate_deviations(replace(answers, ratings=np.tile(alike, (6, 1))), FORMS[name][0].kind)
    assert error.value.code == "pilot_without_variation"
