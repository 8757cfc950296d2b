"""What a server said of a judge's probabilities goes from the bytes of its replies into figures and packages."""

import json
import math

import numpy as np
import pytest

from judges import parsing, runs
from judges.models import Judge, Parse, Run
from judges.settlement import rereads
from reports.dataset import Dataset
from reports.dataset.grades import read_yes_levels
from reports.export.content import PackageContent
from reports.export.judge_calls import call_lines
from reports.figures.judges.calibration import JudgesCalibration
from reports.figures.judges.doubtful import DoubtfulVerdicts
from studies.models import Study
from tests import factories, triggers
from tests.factories import NOON
from tests.judges import standin as told
from tests.judges.conftest import judge_at, sendable, standin  # noqa: F401 - a fixture
from tests.judges.standin import Hit, Reply, StandIn
from tests.reports import judge_readings, planted
from tests.reports.packaged import study_of_probabilities

pytestmark = pytest.mark.django_db

ASKED = {"temperature": 0, "logprobs": True, "top_logprobs": 20}


def sure_by(share: float) -> Reply:
    """A reply of which the judge says Yes with this probability, and neither with one of a tenth of what is left."""
    words = ["It ends well.\n", '{"answer": "', "yes" if share >= 0.5 else "no", '"}']
    listed = {"yes": share * 0.9, "no": (1 - share) * 0.9}
    content = [{"token": word, "logprob": 0.0, "bytes": list(word.encode()), "top_logprobs": []} for word in words]
    content[2] |= {
        "logprob": math.log(listed[words[2]]),
        "top_logprobs": [{"token": word, "logprob": math.log(p), "bytes": None} for word, p in listed.items()],
    }
    return told.says("".join(words), logprobs={"content": content})


def judged(standin: StandIn) -> Run:  # noqa: F811 - the fixture
    """A run about four stories with two tests each; of tests with an even number of words the judge is less sure."""
    judge = judge_at(standin)
    Judge.objects.filter(pk=judge.pk).update(parameters=ASKED)

    def reply(hit: Hit) -> Reply:
        return sure_by(0.8 if "item 1" in json.dumps(hit.body).casefold() else 0.02)

    standin.reply = reply
    study = sendable(factories.study(comparative=False))
    return runs.drain(runs.start(study, Judge.objects.get(pk=judge.pk), by="tests"))


def test_from_the_planned_call_to_the_bytes_that_leave_and_back(standin: StandIn) -> None:  # noqa: F811
    run = judged(standin)

    assert {(hit.body["logprobs"], hit.body["top_logprobs"]) for hit in standin.hits} == {(True, 20)}
    parses = list(Parse.objects.all())
    assert {parse.version for parse in parses} == {parsing.VERSION}
    by_item = {tuple(parse.grades): parse.grades for parse in parses}
    assert len(parses) == len(standin.hits)
    for grades in by_item.values():
        (grade,) = grades.values()
        assert grade["by_value"]["yes"] in (pytest.approx(0.8), pytest.approx(0.02))
        assert grade["outside"] == pytest.approx(0.1)
    lines = [json.loads(line) for line in call_lines(PackageContent(run.study, with_sources=True))]
    assert len(lines) == run.n_planned
    assert all(line["attempts"][-1]["probabilities"] for line in lines)


def test_stored_replies_are_read_again_for_their_probabilities(standin: StandIn) -> None:  # noqa: F811
    run = judged(standin)
    n_hits = len(standin.hits)
    kept = {parse.attempt_id: parse.grades for parse in Parse.objects.all()}
    with triggers.lifted():
        Parse.objects.update(version="6", grades={})

    reread = rereads.read_again(run, at=NOON)

    assert (reread.n_changed, len(standin.hits)) == (0, n_hits)
    again = Parse.objects.filter(version=parsing.VERSION)
    assert {parse.attempt_id: parse.grades for parse in again} == kept


@pytest.fixture
def study() -> Study:
    return study_of_probabilities()


@pytest.mark.embedded
def test_probabilities_are_the_level_where_they_are_and_repeats_elsewhere(study: Study) -> None:
    dataset = Dataset.of(study)
    items = dataset.verdict_items

    levels = read_yes_levels(dataset, items, "sure")

    n_graded = 2 * (planted.N_GROUPS - 3)
    assert (levels.is_probability.sum(), (levels.n_answers == 2).sum()) == (n_graded, 6)
    (row,) = JudgesCalibration().compute(dataset).rows
    assert (row.n, row.n_probabilities, row.n_answers, row.basis) == (n_graded + 2, n_graded, 4, "both")
    doubt = DoubtfulVerdicts().compute(dataset)
    assert doubt is not None
    assert doubt.n == int(((levels.shares > 0.05) & (levels.shares < 0.95)).sum())
    assert doubt.rows[0].judge_percent == 50


@pytest.mark.embedded
def test_expected_scores_stand_beside_the_points_that_the_judge_wrote(study: Study) -> None:
    dataset = Dataset.of(study)
    rows = dataset.models_with_jury
    expected = rows[rows["rater"] == "sure, expected score"]

    points = {
        (answer.group, answer.story): sum(int(point) * share for point, share in answer.by_value.items())
        for answer in dataset.graded_answers
        if answer.step == "scales"
    }
    means = dict(zip(zip(expected["group"], expected["story"], strict=True), expected["analysed"], strict=True))
    assert means == pytest.approx(points)
    assert set(expected["step"]) == {"scales"}
    assert set(dataset.models["rater"]) == {"sure"}


@pytest.mark.embedded
def test_of_two_readings_the_first_has_the_expected_score_and_both_the_level(study: Study) -> None:
    run, yes, three = study.runs.get(), {"yes": 1.0, "no": 0.0}, {"3": 1.0}
    said: dict[judge_readings.Place, object] = {("tests", "item-1", "p01s1"): "yes", ("scales", "item-1", "p01s1"): 3}
    before = {name: level_of(study, name) for name in ("tests", "scales")}
    work = judge_readings.read(run, "plot01", said, repeat=2)

    assert math.isnan(level_of(study, "tests")), "one of two readings has no probability"

    judge_readings.grade(run, work, {("tests", "item-1", "p01s1"): yes, ("scales", "item-1", "p01s1"): three})

    assert level_of(study, "scales") == pytest.approx(before["scales"])
    assert level_of(study, "tests") == pytest.approx((before["tests"] + 1) / 2)


def level_of(study: Study, step: str) -> float:
    """Of the first story the probability of Yes, or the expected score."""
    dataset, unit = Dataset.of(study), ("plot01", "p01s1")
    if step == "tests":
        levels = read_yes_levels(dataset, dataset.verdict_items, "sure")
        return float(np.where(levels.is_probability, levels.shares, np.nan)[0, dataset.units.index(unit)])
    rows = dataset.models_with_jury
    is_own = (rows["rater"] == "sure, expected score") & (rows["group"] == unit[0]) & (rows["story"] == unit[1])
    return float(rows.loc[is_own, "analysed"].item())


@pytest.mark.embedded
def test_a_study_without_probabilities_asks_the_database_for_none(
    django_assert_num_queries: pytest.FixtureRequest,
) -> None:
    dataset = Dataset.of(planted.empty_study())
    assert dataset.judge_by_slug == {}

    with django_assert_num_queries(0):  # type: ignore[operator]
        assert dataset.graded_answers == []
