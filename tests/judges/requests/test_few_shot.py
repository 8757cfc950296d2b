"""Experts' answers in a prompt: whose, about which stories, and what the run's document says of them."""

import pytest

from annotation.models import Rater
from annotation.responses import submission
from judges import catalogue, planning, runs
from judges.models import Call, Judge
from judges.planning import CannotRun, Scope
from judges.requests import texts
from judges.settlement import erasure
from studies.models import Provenance, Story, StoryGroup, Study
from tests import factories, triggers
from tests.judges.conftest import judge_at
from tests.judges.standin import StandIn

pytestmark = pytest.mark.django_db


def answered_study(**more: int) -> Study:
    """Three groups of two stories, each read by one expert who submitted."""
    study = factories.study(n_groups=3, n_stories=2, k=1, comparative=False, **more)
    for n in range(3):
        work = factories.assignment(study, factories.rater(study, f"expert-{n}"))
        factories.answer_all(work, value="yes" if n % 2 else "no")
        submission.submit(work, at=factories.NOON)
    return study


@pytest.fixture
def few_shot() -> Judge:
    judge = catalogue.make_stub_judge()
    judge.prompt = next(row for row in catalogue.load_prompts() if row.name == "ttcw-few-shot")
    judge.save()
    return judge


def test_examples_are_of_other_groups_and_stand_in_the_document(few_shot: Judge) -> None:
    study = answered_study()

    plan = planning.plan_run(study, few_shot, Scope(n_examples=2))

    for call in plan.all_calls:
        assert len(call.example_stories) == 2
        assert call.story.code[:2] not in {story.code[:2] for story in call.example_stories}
        content = call.request["messages"][1]["content"]
        assert all(story.text in content for story in call.example_stories)
        assert "It is so." not in content, "what people wrote beside their answers is not sent"
    run = runs.start(study, few_shot, by="tests")
    shown = run.frozen["examples"]
    assert shown == sorted(shown)
    assert set(shown) <= set(study.assignments.filter(rater_kind="person").values_list("responses", flat=True))
    assert run.frozen["example_stories"] == sorted(story.code for story in study.stories.all())


def test_groups_with_one_prompt_give_each_other_no_examples(few_shot: Judge) -> None:
    study = answered_study()
    with triggers.lifted():
        StoryGroup.objects.filter(code="plot2").update(premise=" premise  1")

    plan = planning.plan_run(study, few_shot)

    (of_first,) = [calls for group, calls in plan.calls.items() if group.code == "plot1"]
    assert {story.code[:2] for call in of_first for story in call.example_stories} == {"p3"}


def test_without_answers_of_experts_there_is_no_run(few_shot: Judge) -> None:
    study = factories.study(n_groups=2, comparative=False)

    with pytest.raises(CannotRun, match="needs examples, and there are none"):
        planning.plan_run(study, few_shot)


def test_answers_of_simulated_people_are_no_examples(few_shot: Judge) -> None:
    study = answered_study()
    Rater.objects.update(is_simulated=True)

    with pytest.raises(CannotRun, match="there are none"):
        planning.plan_run(study, few_shot)


def test_other_prompts_show_no_answer() -> None:
    run = runs.start(answered_study(), catalogue.make_stub_judge(), by="tests")

    assert (run.frozen["examples"], run.frozen["example_stories"]) == ([], [])


def test_a_story_that_may_not_leave_is_no_example_for_a_provider_outside(few_shot: Judge, standin: StandIn) -> None:
    study = answered_study()
    Provenance.objects.exclude(story__code="p3s1").update(may_send_out=True)
    judge = judge_at(standin)
    judge.prompt = few_shot.prompt
    judge.endpoint.is_outside = True
    judge.endpoint.save()
    judge.save()

    plan = planning.plan_run(study, judge, Scope(selection=("p1s1",), n_examples=9))

    assert {story.code for call in plan.all_calls for story in call.example_stories} == {"p2s1", "p2s2", "p3s2"}


def test_a_story_that_is_erased_is_erased_where_it_is_an_example(few_shot: Judge) -> None:
    study = answered_study()
    with triggers.lifted():
        Story.objects.filter(code="p2s1").update(text="Here is the goldfinch.")
    run = runs.start(study, few_shot, by="tests", scope=Scope(selection=("p1s1",), n_examples=9))
    assert "goldfinch" in str([texts.render(call.request) for call in run.calls.all()]), "there is text to forget"

    erasure.empty_calls([Story.objects.get(code="p2s1").pk])

    assert "goldfinch" not in str([texts.render(call.request) for call in run.calls.all()])
    assert set(run.calls.values_list("state", flat=True)) == {Call.State.BLOCKED}
