"""Models that fill a cloze: asked once for the whole story, and taken apart or left out whole."""

import json
from typing import Any

import pytest

from annotation.models import Fill, Response
from annotation.responses import derivation
from judges import catalogue, fills, planning, runs
from judges.models import Call, Judge, Run
from judges.parsing import Failure
from judges.prompts import InvalidPrompt, new_mark
from judges.providers.stub import StubClient
from studies.cloze.text import fill_blanks
from studies.layouts.cloze import Switches
from studies.models import Study
from tests import factories
from tests.annotation import clozes
from tests.judges import standin as told
from tests.judges.conftest import judge_at, started
from tests.judges.standin import StandIn
from tests.studies.cloze.documents import FILLS, shoes

pytestmark = pytest.mark.django_db
STORY = fill_blanks(shoes(), FILLS)


@pytest.fixture
def study() -> Study:
    return clozes.study()


def run_with(study: Study, standin: StandIn, *replies: told.Reply) -> Run:
    standin.script = list(replies)
    return runs.drain(started(study, judge_at(standin)))


def answers() -> list[tuple[str, Any, str]]:
    found = Response.objects.order_by("item__position").values_list("item__key", "value", "outcome")
    return list(found)


def test_the_whole_story_is_asked_for_once(study: Study, standin: StandIn) -> None:
    run = run_with(study, standin, told.says(STORY))

    assert (run.n_planned, len(standin.hits)) == (1, 1)
    rule, message = standin.hits[0].body["messages"]
    assert (rule["role"], message["role"]) == ("system", "user")
    said = message["content"]
    assert said.startswith("Please read the following story, replace all blanks with your filled-in content")
    assert "They were {{1}} and they were wet; in the heel\nof the left one lay {{2}}." in said
    assert "Section 1, The Corridor\n1 (a word or a phrase): what kind of shoes\n2 (a word or a phrase)\n" in said
    assert "Fill them in any order." in said, "the step's text, which people read above the story"


def test_every_blank_is_recorded_and_the_text_is_submitted(study: Study, standin: StandIn) -> None:
    run = run_with(study, standin, told.says(STORY))

    assert answers() == [(f"blank-0{n}", text, "answered") for n, text in FILLS.items()]
    assert runs.count_calls(run) == {"ok": 1}
    assert (Fill.objects.get().state, run.state) == ("submitted", "finished")
    assert [fill.assignment.rater.kind for fill in derivation.derivable_fills(study)] == ["model"]


@pytest.mark.parametrize("around", ["# Seven Pairs\n\n{}", "```\n{}\n```", "<think>Well.</think>\n{}"])
def test_layout_fences_and_thoughts_are_no_part_of_the_story(study: Study, standin: StandIn, around: str) -> None:
    run_with(study, standin, told.says(around.format(STORY)))

    assert [value for _, value, _ in answers()] == list(FILLS.values())


@pytest.mark.parametrize(
    ("reply", "state", "outcome", "reason"),
    [
        (told.says(STORY.replace("berth eleven", "berth nine")), "unreadable", "unreadable", "beginning: after"),
        (told.says(STORY.replace("a left-luggage ticket", "")), "unreadable", "unreadable", "blank 2: is left empty"),
        (told.says("I cannot help with this."), "refused", "declined", "I cannot help with this."),
        (told.REFUSED, "refused", "declined", "I cannot judge this."),
        (told.BLOCKED, "blocked", "declined", "the provider blocked the reply"),
        (told.says(STORY, finish_reason="length"), "truncated", "unreadable", "the reply ended at the limit"),
        (told.says(""), "unreadable", "unreadable", "the reply is empty"),
    ],
)
def test_an_answer_that_cannot_be_taken_apart_fills_no_blank(
    study: Study, standin: StandIn, reply: told.Reply, state: str, outcome: str, reason: str
) -> None:
    run_with(study, standin, reply)

    assert answers() == [(f"blank-0{n}", None, outcome) for n in FILLS]
    call = Call.objects.get()
    assert (call.state, call.item) == (state, None)
    assert call.reason.startswith(reason)
    assert Fill.objects.count() == 0, "nothing was written, so nobody gave up"


def test_models_get_the_constraints_where_people_see_them() -> None:
    shown = fills.build_request(shoes(), Switches(constraints=True), mark="fence-0")["messages"][-1]["content"]
    bare = fills.build_request(shoes(), Switches(), mark="fence-0")["messages"][-1]["content"]

    assert (
        "Section 1, The Corridor\n- Must: The object must be small enough to lie in a heel.\n- Should: Nothing" in shown
    )
    assert "small enough" not in bare
    assert "matchbox" not in shown, "checks are for those who judge"


def test_a_run_keeps_what_it_asks_with(study: Study, standin: StandIn) -> None:
    kept = json.loads(started(study, judge_at(standin)).document)["fill_prompt"]

    assert (kept["name"], kept["version"]) == ("quiet-fill", "2")
    assert kept["task"] in Call.objects.get().request["messages"][-1]["content"]


def test_other_runs_keep_no_fill_prompt(standin: StandIn) -> None:
    assert "fill_prompt" not in json.loads(started(factories.study(), judge_at(standin)).document)


def test_the_skeleton_is_not_sent_out_unless_that_is_allowed(study: Study, standin: StandIn) -> None:
    with pytest.raises(planning.CannotRun, match=r"1 story \(shoes\) is not marked as free to be sent"):
        runs.start(study, judge_at(standin), by="tests")


def test_the_stub_fills_every_blank_and_says_in_each_that_it_is_one(study: Study) -> None:
    judge: Judge = catalogue.make_stub_judge()

    run = runs.drain(runs.start(study, judge, by="tests"))

    assert run.state == Run.State.FINISHED
    assert [value for _, value, _ in answers()] == [
        "[stub] what kind of shoes",
        "[stub] blank 2",
        "[stub] blank 3",
        "[stub] what Anselm did next",
        "[stub] blank 5",
    ]
    assert Fill.objects.get().assignment.rater.is_simulated


def test_the_stubs_story_can_be_taken_apart_again() -> None:
    asked = fills.build_request(shoes(), Switches(), mark="fence-0")
    completion = StubClient().complete({"model": "stub", "parameters": {}} | asked)

    found = fills.parse_fills(completion.text, finish_reason="stop", document=shoes())

    assert not isinstance(found, Failure)
    assert all(text.startswith("[stub] ") for text in found.values())


def test_the_text_to_fill_stands_inside_a_fence_with_nothing_else() -> None:
    mark = new_mark()

    rule, asked = fills.build_request(shoes(), Switches(constraints=True), mark=mark)["messages"]

    before, rest = asked["content"].split(f"<story {mark}>\n")
    assert rest == f"{shoes().marked_text}\n</story {mark}>"
    assert mark in rule["content"]
    assert "Seven" not in before


def test_a_fence_whose_number_stands_in_the_text_to_fill_is_refused() -> None:
    with pytest.raises(InvalidPrompt, match="draw another"):
        fills.build_request(shoes(), Switches(), mark="berth eleven")
