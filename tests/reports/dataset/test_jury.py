"""A jury that the plan names is a row of figures that hold judges against people, and stands nowhere else."""

from collections import Counter

import numpy as np
import pytest

from annotation.models import Rater, Response
from reports.dataset import Dataset
from reports.figures.judges.alternative_annotator import AlternativeAnnotator
from reports.figures.judges.among_themselves import JudgesAmongThemselves
from reports.figures.judges.biases import JudgeBiases
from reports.figures.judges.human_line import HumanLine
from reports.figures.judges.on_choices import JudgesOnChoices
from reports.figures.judges.on_scales import JudgesOnScales
from reports.figures.judges.on_verdicts import Judges
from reports.figures.judges.share_of_yes import JudgesShareOfYes
from studies.models import Study
from tests.replay import replayed
from tests.reports.packaged import study_of_jury

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
NAME = "jury of alpha, beta, gamma"
WEIGHTS = {"alpha": 2, "beta": 1, "gamma": 1}


@pytest.fixture
@replayed
def study() -> Study:
    return study_of_jury()


def test_its_answers_are_the_majority_of_weights_and_the_weighted_mean(study: Study) -> None:
    dataset = Dataset.of(study)
    stored = Response.objects.filter(assignment__rater_kind="model", outcome="answered")
    votes: dict[tuple[str, str], Counter[str]] = {}
    ratings: dict[str, list[tuple[int, int]]] = {}
    for rater, story, step, value in stored.values_list("assignment__rater__code", "story__code", "step__key", "value"):
        if step == "scales":
            ratings.setdefault(story, []).append((WEIGHTS[rater], value))
        else:
            votes.setdefault((step, story), Counter())[value] += WEIGHTS[rater]

    rows = dataset.models_with_jury
    rows = rows[rows["rater"] == NAME]

    verdicts = {
        (step, story): value for step, story, value in zip(rows["step"], rows["story"], rows["value"], strict=True)
    }
    n_tied = 0
    for (step, story), counts in votes.items():
        value, most = counts.most_common(1)[0]
        is_enough = Response.objects.filter(
            assignment__rater_kind="model", outcome="answered", step__key=step, story__code=story
        ).count()
        if is_enough < 2 or 2 * most <= counts.total():
            assert (step, story) not in verdicts
            n_tied += is_enough >= 2
        else:
            assert verdicts[step, story] == value
    assert n_tied > 0
    for story, pairs in ratings.items():
        if len(pairs) > 1:
            mean = np.average([value for _w, value in pairs], weights=[weight for weight, _v in pairs])
            assert verdicts["scales", story] == pytest.approx(mean)


def test_it_is_a_row_where_judges_are_held_against_people_and_none_among_judges(study: Study) -> None:
    dataset = Dataset.of(study)

    beside_people = {
        "verdicts": {row.judge for row in Judges().compute(dataset).compared},
        "scales": {row.judge for row in JudgesOnScales().compute(dataset).rows},
        "choices": {row.judge for row in JudgesOnChoices().compute(dataset).rows},
        "yes": {row.judge for row in JudgesShareOfYes().compute(dataset).rows},
        "line": {row.judge for row in HumanLine().compute(dataset).rows},
        "annotator": {row.judge for row in AlternativeAnnotator().compute(dataset).rows},
    }

    assert beside_people == {figure: {*WEIGHTS, NAME} for figure in beside_people}
    assert {row.judge for row in JudgeBiases().compute(dataset).rows} == set(WEIGHTS)
    assert {row.n_judges for row in JudgesAmongThemselves().compute(dataset).rows} == {3}
    assert not Rater.objects.filter(code__startswith="jury").exists()


def test_a_tie_is_counted_as_missing(study: Study) -> None:
    rows = {row.judge: row for row in JudgesOnChoices().compute(Dataset.of(study)).rows}
    n_answers = (Dataset.of(study).models_with_jury.query("rater == @NAME and step == 'author'")).shape[0]

    outcomes = rows[NAME].outcomes

    assert (outcomes.answered, outcomes.declined, outcomes.unreadable) == (n_answers, 0, 0)
    assert outcomes.missing == outcomes.expected - n_answers > 0
