"""May a judge stand in for an expert? Not if it only tells one source from the others."""

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command

from annotation.models import Rater
from reports.dataset import Dataset
from reports.figures.alternative_annotator import AlternativeAnnotator, JudgeStandings, best_constant
from stats.alternative_annotator import alt_test
from studies.models import Study
from tests.reports import given

pytestmark = pytest.mark.django_db

# Forty pairs of a story by a person and one by a model, one question. Three experts agree on everything: of ten pairs
# they say Yes and No to eight, and twice Yes to two.
EXPERTS = "yn" * 8 + "yy" * 2


def planted(judge: str) -> JudgeStandings:
    """The standings of a judge that says these letters of every ten pairs."""
    study = given.closed_study(n_groups=40)
    given.verdicts(study, dict.fromkeys(("E01", "E02", "E03"), EXPERTS * 4))
    given.verdicts(study, {"judge": judge * 4}, kind=Rater.Kind.MODEL)
    return compute(study)["judge"]


def compute(study: Study) -> dict[str, JudgeStandings]:
    return {row.judge: row for row in AlternativeAnnotator().compute(Dataset.of(study)).rows}


def rates(row: JudgeStandings) -> dict[str, float | None]:
    return {standing.form: standing.winning_rate for standing in row.standings}


def test_a_judge_that_only_tells_people_from_models_is_no_stand_in() -> None:
    found = planted("yn" * 10)

    assert rates(found) == {"test": 1, "unanswered": 1, "stories": 1, "models": 0, "constant": 0}
    assert not found.may_stand_in


def test_a_judge_that_says_what_experts_say_may_stand_in() -> None:
    found = planted(EXPERTS)

    assert rates(found) == {"test": 1, "unanswered": 1, "stories": 1, "models": 1, "constant": 0}
    assert found.may_stand_in


def test_what_a_judge_left_out_is_lost() -> None:
    found = planted("y-" * 10)
    answered, lost, _, models, _ = found.standings

    assert (answered.winning_rate, answered.n_units) == (1, 40)
    assert (lost.winning_rate, lost.n_units) == (0, 80)
    assert models.why is not None
    assert models.why.code == "nobody_to_leave_out"
    assert not found.may_stand_in


def test_a_judge_no_better_than_one_answer_given_always_is_no_stand_in() -> None:
    found = planted(EXPERTS)
    *own, constant = found.standings
    equal = replace(constant, advantage=own[0].advantage)

    assert not replace(found, standings=(*own, equal)).may_stand_in


@pytest.mark.data
@pytest.mark.usefixtures("few_shuffles")
def test_the_judges_of_the_release_do_worse_than_always_no(release: Path) -> None:
    call_command("replicate", "ttcw", data=release / "ttcw", stdout=io.StringIO())
    found = compute(Study.objects.get(slug="ttcw-release"))

    test, *_, constant = found["gpt4"].standings
    assert (constant.answer, round(constant.advantage or 0, 2)) == (0, 0.80)
    assert round(test.advantage or 0, 2) == 0.69
    assert (test.n_tested, test.n_people) == (11, 11)
    assert not any(row.may_stand_in for row in found.values())


def test_of_free_numbers_only_quantiles_are_tried_as_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    people = np.arange(120.0).reshape(40, 3).T  # three people, 40 stories, no number twice
    tried = []

    def noted(humans: Any, judge: Any, **options: Any) -> Any:
        tried.append(judge[0])
        return alt_test(humans, judge, **options)

    monkeypatch.setattr("stats.alternative_annotator.alt_test", noted)
    best_constant(people, "neg_rmse")

    assert tried == sorted(set(tried))
    assert (len(tried), tried[0], tried[-1]) == (21, 0, 119)
