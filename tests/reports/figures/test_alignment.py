"""A judge before and after its prompt was changed by experts' answers, on the stories that played no part in it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from annotation.models import Response
from annotation.responses import Answer
from judges.models import Alignment, Draft, Generation, Judge, Prompt, PromptProposal, Run
from reports.dataset import Dataset
from reports.dataset.judged import select_anchored
from reports.figures.base import NO_HEAD, Listing
from reports.figures.judges.alignment import AlignmentGains, VersionGain
from reports.figures.judges.alternative_annotator import AlternativeAnnotator
from reports.figures.judges.on_verdicts import Judges
from studies.models import Study
from tests.replay import replayed
from tests.reports import given, planted
from tests.reports.judge_readings import read, start_run

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

FIRST = [f"plot{n:02}" for n in range(1, 5)]
HELD_OUT = [f"plot{n:02}" for n in range(5, planted.N_GROUPS + 1)]


def align(base: Judge, judge: Judge, study: Study, *, first: list[str] = FIRST) -> PromptProposal:
    """The judge as it is after its prompt was accepted."""
    prompt = Prompt.objects.create(**base.required_prompt.content | {"version": f"of {judge.slug}"})
    Judge.objects.filter(pk=judge.pk).update(prompt=prompt)
    asks = Judge.objects.create(slug=f"asks-{judge.slug}", endpoint=base.endpoint, prompt=base.prompt, is_trial=True)
    run = Run.objects.create(study=study, judge=asks, state="finished", document="{}", created_by="tests", n_planned=1)
    draft = Draft.objects.create(generation=Generation.objects.create(run=run, recipe="alignment-proposal"), number=1)
    alignment = Alignment.objects.create(
        study=study, judge=base, share=0.5, first_part=first, held_out=HELD_OUT, run=run, created_by="tests"
    )
    return PromptProposal.objects.create(
        alignment=alignment, draft=draft, state="accepted", prompt=prompt, judge=judge, decided_by="tests"
    )


ITEMS = ("item-1", "item-2")


def right_of(group: str, at: int) -> str:
    return "yes" if (int(group[-2:]) + at) % 2 == 0 else "no"


def answered_study() -> Study:
    """Three experts who agree on two verdicts about every story, and on a scale."""
    study = planted.empty_study()
    rows = []
    for group in FIRST + HELD_OUT:
        for at in (1, 2):
            about = (group, f"p{group[-2:]}s{at}")
            for expert in planted.EXPERTS:
                answer = given.ANSWERS[right_of(group, at)[0]]
                rows += [given.Row("test", expert, *about, "tests", item, answer) for item in ITEMS]
                rows.append(given.Row("test", expert, *about, "scales", "item-1", Answer(value=3)))
    given.bring(study, rows)
    return study


def aligned_study() -> Study:
    """A study in which two changed prompts were tried, with verdicts lost and scales that differ."""
    study = answered_study()
    base = plant(study, "base", [*FIRST, *HELD_OUT[:6]], FIRST + HELD_OUT, scale=5)
    align(base, plant(study, "new", HELD_OUT[:1], HELD_OUT, scale=4), study)
    align(base, plant(study, "other", HELD_OUT[:4], HELD_OUT, said="unreadable"), study)
    return study


@pytest.fixture
@replayed
def study() -> Study:
    return answered_study()


def plant(
    study: Study, slug: str, wrong: Sequence[str], groups: Sequence[str], *, said: str = "", scale: int = 3
) -> Judge:
    """A judge whose verdicts are right but about the first stories of these groups. said : instead of a wrong one"""
    run = start_run(study, slug)
    for group in groups:
        answers: dict[tuple[str, str, str], Any] = {}
        for at in (1, 2):
            verdict = right_of(group, at)
            if at == 1 and group in wrong:
                verdict = said or {"yes": "no", "no": "yes"}[verdict]
            story = f"p{group[-2:]}s{at}"
            answers |= {("tests", item, story): verdict for item in ITEMS}
            answers["scales", "item-1", story] = scale
        read(run, group, answers)
    return run.judge


def rows_of(study: Study) -> dict[tuple[str, str], VersionGain]:
    return {(row.kind, row.judge): row for row in AlignmentGains().compute(Dataset.of(study)).rows}


def text_of(study: Study) -> str:
    rows = tuple(rows_of(study).values())
    return " ".join("\n".join(AlignmentGains().lines(Listing(rows), NO_HEAD)).split())


def test_a_gain_is_that_of_the_held_out_stories_alone(study: Study) -> None:
    base = plant(study, "base", [*FIRST, *HELD_OUT[:7]], FIRST + HELD_OUT)
    align(base, plant(study, "new", HELD_OUT[:1], HELD_OUT), study)

    row = rows_of(study)["verdicts", "new"]

    # Of 32 verdicts on 16 stories the base is wrong on 14, the other on 2: a cluster gains 1/2 in 6 of 8 groups.
    assert (row.base_percent, row.percent, row.value) == (100 * 18 / 32, 100 * 30 / 32, 37.5)
    margin = 2.364624 * np.std([0.5] * 6 + [0, 0], ddof=1) / 8**0.5
    assert row.interval.low == pytest.approx(100 * (0.375 - margin), abs=1e-4)
    assert row.interval.high == pytest.approx(100 * (0.375 + margin), abs=1e-4)
    assert (row.n, row.n_stories, row.n_lost, row.n_tried) == (32, 16, 0, 1)
    assert (row.base_coefficient.value, row.coefficient.value) == (pytest.approx(0.125), pytest.approx(0.875))
    assert (row.base_test.winning_rate, row.test.winning_rate, row.constant_test.winning_rate) == (0, 1, 0)
    assert (row.n_experts, row.test.n_tested) == (3, 3)
    assert (
        "On the 16 held-out stories new agrees with most of these 3 experts in 94 % of verdicts, before the change "
        "in 56 %" in text_of(study)
    )


def test_equal_judges_and_worse_ones_are_not_called_a_gain(study: Study) -> None:
    base = plant(study, "base", HELD_OUT[:3], FIRST + HELD_OUT)
    align(base, plant(study, "new", HELD_OUT[2:6], HELD_OUT), study)

    row = rows_of(study)["verdicts", "new"]

    assert row.value == pytest.approx(-100 / 16)
    assert not row.is_clear
    assert "It was not shown that the changed prompt brings new nearer to experts" in text_of(study)


def test_a_verdict_that_cannot_be_read_is_none_that_agrees(study: Study) -> None:
    base = plant(study, "base", [], FIRST + HELD_OUT)
    align(base, plant(study, "new", HELD_OUT, HELD_OUT, said="unreadable"), study)

    row = rows_of(study)["verdicts", "new"]

    assert (row.base_percent, row.percent, row.n, row.n_lost) == (100, 50, 32, 16)
    assert row.interval.why is not None
    assert row.interval.why.code == "clusters_alike"


def test_of_several_versions_the_best_is_named_and_all_intervals_hold_together(study: Study) -> None:
    base = plant(study, "base", HELD_OUT[:7], FIRST + HELD_OUT)
    first = plant(study, "new", HELD_OUT[:1], HELD_OUT)
    align(base, first, study)
    alone = rows_of(study)["verdicts", "new"]
    align(base, plant(study, "other", HELD_OUT[:5], HELD_OUT), study)

    rows = rows_of(study)

    assert [row.n_tried for row in rows.values()] == [2, 2, 2, 2]
    together = rows["verdicts", "new"].interval
    assert (together.low, alone.interval.low) != (None, None)
    assert (together.low or 0) < (alone.interval.low or 0)
    assert "2 changed prompts were tried" in text_of(study)
    assert "On the 16 held-out stories new agrees" in text_of(study)


def test_on_scales_the_distance_from_the_mean_falls(study: Study) -> None:
    base = plant(study, "base", [], FIRST + HELD_OUT, scale=5)
    align(base, plant(study, "new", [], HELD_OUT, scale=4), study)

    row = rows_of(study)["scales", "new"]

    assert (row.base_percent, row.percent, row.value) == (50, 25, 25)
    assert row.interval.why is not None, "all groups gain the same, so nobody knows how sure it is"
    assert "it is 25 % of the scale from their mean, before 50 %." in text_of(study)


def test_of_scales_what_the_changed_prompt_lost_is_counted_and_no_gain_is_said(study: Study) -> None:
    base = plant(study, "base", HELD_OUT[:1], FIRST + HELD_OUT, scale=5)
    new = plant(study, "new", [], HELD_OUT, scale=4)
    align(base, new, study)
    ratings = Response.objects.filter(step__key="scales", item__key="item-1", assignment__rater__code="new")
    lost = [answer.pk for answer in ratings][:2]
    Response.objects.filter(pk__in=lost).update(value=None, outcome="unreadable")

    row = rows_of(study)["scales", "new"]

    assert (row.n, row.n_lost) == (14, 2)
    assert row.loses_too_many
    assert "with the changed prompt new left out 2 of 16 ratings." in text_of(study)


@pytest.mark.parametrize(("n_clusters", "is_clear"), [(3, False), (4, True)])
def test_a_gain_of_three_clusters_is_not_clear(study: Study, n_clusters: int, is_clear: bool) -> None:
    base = plant(study, "base", HELD_OUT[:7], FIRST + HELD_OUT)
    align(base, plant(study, "new", [], HELD_OUT), study)
    row = rows_of(study)["verdicts", "new"]

    assert row.is_clear
    assert replace(row, interval=replace(row.interval, n_resampled=n_clusters)).is_clear is is_clear


def test_a_clear_gain_is_named_before_a_larger_one_that_is_not(study: Study) -> None:
    base = plant(study, "base", HELD_OUT[:7], FIRST + HELD_OUT)
    align(base, plant(study, "new", [], HELD_OUT), study)
    row = rows_of(study)["verdicts", "new"]
    wide = replace(row, judge="wide", value=99.0, interval=replace(row.interval, low=-5.0))

    text = " ".join("\n".join(AlignmentGains().lines(Listing((wide, row)), NO_HEAD)).split())

    assert "stories new agrees with most of these 3 experts" in text


def test_nothing_about_the_first_part_is_expected_of_an_aligned_judge(study: Study) -> None:
    base = plant(study, "base", HELD_OUT[:7], FIRST + HELD_OUT)
    align(base, plant(study, "new", HELD_OUT[:1], HELD_OUT), study)
    dataset = Dataset.of(study)

    compared = {row.judge: row for row in Judges().compute(dataset).compared}
    standings = {
        (row.judge, standing.form): standing
        for row in AlternativeAnnotator().compute(dataset).rows
        for standing in row.standings
        if row.score == "accuracy"
    }

    assert [(compared[name].outcomes.expected, compared[name].outcomes.missing) for name in ("base", "new")] == [
        (48, 0),
        (32, 0),
    ]
    assert compared["new"].kappa_if_right == compared["new"].kappa_if_wrong == compared["new"].pooled.kappa.value
    assert standings["new", "unanswered"].n_units == standings["new", "test"].n_units == 32
    assert dataset.records.prompts_by_model == {}


def test_an_aligned_judge_is_no_further_opinion_beside_people(study: Study) -> None:
    base = plant(study, "base", [], FIRST + HELD_OUT)
    align(base, plant(study, "new", [], HELD_OUT), study)

    assert select_anchored(Dataset.of(study), ["base", "new"]) == ("new",)


def test_without_an_accepted_version_there_is_nothing(study: Study) -> None:
    plant(study, "base", [], FIRST + HELD_OUT)

    assert rows_of(study) == {}
