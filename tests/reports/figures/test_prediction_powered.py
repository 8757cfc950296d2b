"""Prediction-powered means: the numbers of the formula where stories were drawn, and a reason everywhere else."""

from itertools import cycle
from typing import Any

import numpy as np
import pytest
from django.test import Client
from scipy import stats as scipy_stats

from annotation.models import Rater, Response, Timing
from reports import results
from reports.dataset import Dataset
from reports.figures.base import NO_HEAD
from reports.figures.judges.on_verdicts import Judges as JudgesOnVerdicts
from reports.figures.judges.prediction_powered import PeopleAndJudge
from studies.models import Provenance, Study
from tests import factories, triggers
from tests.reports import given
from tests.reports.judge_readings import start_run

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

N_GROUPS, N_READ, SECONDS = 20, 8, (300, 420, 360)


def planted(
    *, drawn: bool = True, missing: bool = False, n_read: int = N_READ, is_timed: bool = False
) -> tuple[Study, dict[str, list[float]], dict[str, list[float]]]:
    """Twenty pairs of which people read eight; a judge reads all. Percent Yes of people and judge by story."""
    rng = np.random.default_rng(3)
    study = given.closed_study(n_groups=N_GROUPS, n_items=1)
    said = dict.fromkeys(("E01", "E02", "E03", "judge"), "")
    for n in range(2 * N_GROUPS):
        is_good = rng.random() < 0.5
        for name in said:
            letter = "y" if is_good ^ (rng.random() < 0.2) else "n"
            said[name] += "-" if name != "judge" and n >= 2 * n_read else letter
    if missing:
        said["judge"] = "d" + said["judge"][1:]
    stories = list(study.stories.order_by("code").values_list("code", flat=True))
    given.verdicts(study, {name: letters for name, letters in said.items() if name != "judge"})
    given.verdicts(study, {"judge": said["judge"]}, kind=Rater.Kind.MODEL)
    readings = Response.objects.filter(assignment__rater_kind=Rater.Kind.PERSON).order_by("pk") if is_timed else ()
    for reading, seconds in zip(readings, cycle(SECONDS), strict=False):
        of_reading = {"assignment": reading.assignment, "step": reading.step, "story": reading.story}
        Timing.objects.create(**of_reading, active_seconds=seconds)
    if drawn:
        with triggers.lifted():
            for place, code in enumerate(stories):
                word = "yes" if place < 2 * n_read else "no"
                Provenance.objects.filter(story__code=code).update(factors={"drawn": word})
    percent = {"y": 100.0, "n": 0.0, "d": 50.0}
    people: dict[str, list[float]] = {"1": [], "2": []}
    judge: dict[str, list[float]] = {"1": [], "2": []}
    for place, code in enumerate(stories):
        judge[code[-1]].append(percent[said["judge"][place]])
        if place < 2 * n_read:
            people[code[-1]].append(float(np.mean([percent[said[name][place]] for name in ("E01", "E02", "E03")])))
    return study, people, judge


def estimates(study: Study) -> list[Any]:
    (row,) = PeopleAndJudge().compute(Dataset.of(study)).rows
    return list(row.by_source)


@pytest.mark.parametrize("missing", [False, True])
def test_people_and_judge_together_are_what_the_formula_gives(missing: bool) -> None:
    study, people, judge = planted(missing=missing)
    read = {source: np.array(values[: len(people[source])]) for source, values in judge.items()}
    alone = {source: np.array(values[len(people[source]) :]) for source, values in judge.items()}

    def centred(values: Any) -> Any:
        return np.array(values) - np.mean(values)

    covariance = sum(centred(people[s]) @ centred(read[s]) for s in "12") / sum(len(read[s]) - 1 for s in "12")
    variance = sum((centred(judge[s]) ** 2).sum() for s in "12") / sum(len(judge[s]) - 1 for s in "12")
    for source, row in zip("12", sorted(estimates(study), key=lambda row: row.source), strict=True):
        n, n_judged = len(read[source]), len(alone[source])
        weight = np.clip(covariance / ((1 + n / n_judged) * variance), 0, 1)
        value = np.mean(people[source]) + weight * (alone[source].mean() - read[source].mean())
        rest = np.array(people[source]) - weight * read[source]
        error = np.sqrt(rest.var(ddof=1) / n + weight**2 * alone[source].var(ddof=1) / n_judged)
        quantile = scipy_stats.t.ppf(0.975, n - 1)
        wide = 2 * quantile * np.std(people[source], ddof=1) / np.sqrt(n)

        assert (row.n, row.n_judged) == (N_READ, N_GROUPS - N_READ)
        assert row.people.value == pytest.approx(np.mean(people[source]))
        assert row.together.value == pytest.approx(value)
        assert row.people.interval.high == pytest.approx(min(np.mean(people[source]) + wide / 2, 100))
        assert row.together.interval.low == pytest.approx(value - quantile * error)
        assert row.weight == pytest.approx(weight)
        assert row.width_gained == pytest.approx(100 * (1 - 2 * quantile * error / wide))
    assert sum(row.n_filled_in for row in estimates(study)) == missing
    (judged,) = JudgesOnVerdicts().compute(Dataset.of(study)).compared
    assert judged.outcomes.answered == 2 * N_GROUPS - missing  # elsewhere what is missing is no number


def test_stories_and_hours_that_a_width_of_five_points_needs_stand_beside_it() -> None:
    study, people, _judge = planted(n_read=12, is_timed=True)

    text = "\n".join(PeopleAndJudge().lines(PeopleAndJudge().compute(Dataset.of(study)), NO_HEAD))

    for source, row in zip("12", sorted(estimates(study), key=lambda row: row.source), strict=True):
        alone = int(np.ceil((1.959964 / 5) ** 2 * np.var(people[source], ddof=1)))
        assert row.n_needed_alone == alone > N_GROUPS
        assert row.n_needed == alone  # a judge's twenty stories are too few for five points
        assert (row.n_needed_alone_low or 0) < alone < (row.n_needed_alone_high or 0)
        assert row.hours == row.hours_alone == pytest.approx(3 * 6 / 60 * alone)  # three people, six minutes
    assert "What people must read for an interval of 5.0 to either side" in " ".join(text.split())


def test_without_times_there_are_stories_and_no_hours() -> None:
    study, *_rest = planted(n_read=12)

    assert [(row.n_needed is None, row.hours, row.hours_alone) for row in estimates(study)] == [(False, None, None)] * 2


def test_from_fewer_than_ten_stories_nobody_says_how_many_are_needed() -> None:
    study, *_rest = planted(is_timed=True)

    assert [(row.n_needed_alone, row.n_needed, row.hours) for row in estimates(study)] == [(None, None, None)] * 2


def test_without_a_word_that_stories_were_drawn_there_is_a_reason_and_the_page_says_it_once(client: Client) -> None:
    study, *_rest = planted(drawn=False)
    client.force_login(factories.staff("researcher"))

    page = client.get("/reports/plums/").content.decode()

    assert {row.why.code for row in estimates(study)} == {"not_drawn_at_random"}
    assert not any(row.people or row.together for row in estimates(study))
    assert page.count("Nothing says that people’s stories were drawn at random") == 1


def test_a_judge_that_was_shown_answers_of_people_is_refused_and_one_that_was_not_is_not(client: Client) -> None:
    study, *_rest = planted()
    start_run(study, "judge", examples=[])
    assert all(row.together for row in estimates(study))
    start_run(study, "judge", examples={"item-1": [{"story": "p01s1", "value": "yes"}]})
    client.force_login(factories.staff("researcher"))

    page = client.get("/reports/plums/").content.decode()

    assert [(row.why.code, row.people, row.together) for row in estimates(study)] == [
        ("answers_in_the_prompt", None, None)
    ] * 2
    assert page.count("held answers of people in this study as examples") == 1


def test_people_who_read_other_stories_than_were_drawn_are_a_reason() -> None:
    study, *_rest = planted()
    with triggers.lifted():
        Provenance.objects.filter(story__code="p10s1").update(factors={"drawn": "no"})

    codes = {row.source: row.why and row.why.code for row in estimates(study)}

    assert codes == {"Source 1": "not_read_as_drawn", "Source 2": None}


def test_where_people_read_every_story_there_is_nothing_to_gain() -> None:
    study = given.closed_study(n_groups=3)
    given.verdicts(study, {"E01": "ynynyn", "E02": "yyynyn"})
    given.verdicts(study, {"judge": "yynnyn"}, kind=Rater.Kind.MODEL)

    assert {row.why.code for row in estimates(study)} == {"no_story_for_the_judge_alone"}


def test_nothing_by_source_is_computed_while_the_study_is_live() -> None:
    study, *_rest = planted()
    Study.objects.update(state="live")
    study.refresh_from_db()

    assert results.compute(study)["people_and_judge"] == []
