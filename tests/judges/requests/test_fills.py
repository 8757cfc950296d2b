"""Models that fill a cloze: asked once for the whole story, and taken apart or left out whole."""

import asyncio
import json
from typing import Any

import pytest

from annotation.models import Fill, Response
from annotation.responses import derivation
from judges import catalogue, planning, runs
from judges.models import Call, Judge, Run
from judges.parsing import Failure
from judges.prompts import InvalidPrompt, find_built_in, join, new_mark
from judges.providers.stub import StubClient
from judges.requests import fills, texts
from judges.requests.fills import Stop
from studies.cloze.text import fill_blanks
from studies.layouts.cloze import Switches
from studies.models import Study
from tests import factories
from tests.annotation import clozes
from tests.judges import standin as told
from tests.judges.conftest import judge_at, started
from tests.judges.standin import StandIn
from tests.replay import replayed
from tests.studies.cloze.documents import FILLS, shoes

pytestmark = pytest.mark.django_db
STORY = fill_blanks(shoes(), FILLS)


@pytest.fixture
@replayed
def study() -> Study:
    return clozes.study()


def asked(request: dict[str, Any]) -> str:
    """What the user's message of a request says."""
    return join(request["messages"])[-1]["content"]


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
    run_with(study, standin, reply, reply)  # an unreadable one is asked for once more

    assert answers() == [(f"blank-0{n}", None, outcome) for n in FILLS]
    call = Call.objects.get()
    assert (call.state, call.item) == (state, None)
    assert call.reason.startswith(reason)
    assert Fill.objects.count() == 0, "nothing was written, so nobody gave up"


def test_models_get_the_constraints_where_people_see_them() -> None:
    shown = asked(fills.build_request(shoes(), Switches(constraints=True), mark="fence-0"))
    bare = asked(fills.build_request(shoes(), Switches(), mark="fence-0"))

    assert (
        "Section 1, The Corridor\n- Must: The object must be small enough to lie in a heel.\n- Should: Nothing" in shown
    )
    assert "small enough" not in bare
    assert "matchbox" not in shown, "checks are for those who judge"


def test_a_run_keeps_what_it_asks_with(study: Study, standin: StandIn) -> None:
    kept = json.loads(started(study, judge_at(standin)).document)["fill_prompt"]

    assert (kept["name"], kept["version"]) == ("quiet-fill-whole", "1")
    task = kept["template"].split("\n")[0]
    assert texts.render(Call.objects.get().request)["messages"][-1]["content"].startswith(task)


def test_other_runs_keep_no_fill_prompt(standin: StandIn) -> None:
    assert "fill_prompt" not in json.loads(started(factories.study(), judge_at(standin)).document)


def test_the_skeleton_is_not_sent_out_unless_that_is_allowed(study: Study, standin: StandIn) -> None:
    with pytest.raises(planning.CannotRun, match=r"1 story \(shoes\) "):
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
    request = fills.build_request(shoes(), Switches(), mark="fence-0")
    completion = asyncio.run(StubClient().complete({"model": "stub", "parameters": {}} | request))

    found = fills.parse_fills(completion.text, finish_reason="stop", document=shoes())

    assert not isinstance(found, Failure)
    assert all(text.startswith("[stub] ") for text in found.values())


def test_the_text_to_fill_stands_inside_a_fence_with_nothing_else() -> None:
    mark = new_mark()

    (rule, request) = fills.build_request(shoes(), Switches(constraints=True), mark=mark)["messages"]

    before, text = request["content"]
    assert text == f"<story {mark}>\n{shoes().marked_text}\n</story {mark}>"
    assert mark in rule["content"][0]
    assert "Seven" not in before


def test_a_fence_whose_number_stands_in_the_text_to_fill_is_refused() -> None:
    with pytest.raises(InvalidPrompt, match="draw another"):
        fills.build_request(shoes(), Switches(), mark="berth eleven")


@pytest.mark.parametrize("name", ["quiet-fill-whole", "quiet-fill-section"])
def test_a_way_out_is_told_only_where_the_step_has_one(name: str) -> None:
    def told_of(switches: Switches) -> str:
        prompt = find_built_in(name)
        if name == fills.WHOLE:
            return asked(fills.build_request(shoes(), switches, mark="fence-0", prompt=prompt))
        return asked(fills.build_section_request(shoes(), switches, section=1, fills={}, mark="fence-0", prompt=prompt))

    assert "I cannot go on at blank" in told_of(Switches(way_out=True))
    assert "I cannot go on" not in told_of(Switches())


def test_the_sentence_of_the_paper_is_all_that_is_said_where_it_is_asked_verbatim() -> None:
    request = fills.build_request(shoes(), Switches(), mark="fence-0", prompt=find_built_in("quiet-fill-paper"))

    before, _text = request["messages"][1]["content"]
    assert before.strip().startswith("Please read the following mystery story, replace all blanks")
    assert before.strip().endswith("directly readable story")


@pytest.mark.parametrize(
    ("reply", "stop"),
    [
        ("I cannot go on at blank 3", Stop(3)),
        ("**I can't go on at blank 3.**", Stop(3)),
        ("<think>Hm.</think>I can’t go on at blank 3", Stop(3)),
    ],
)
def test_a_model_that_was_offered_a_way_out_can_take_it(reply: str, stop: Stop) -> None:
    assert fills.parse_fills(reply, finish_reason="stop", document=shoes(), may_stop=True) == stop
    assert isinstance(fills.parse_fills(reply, finish_reason="stop", document=shoes()), Failure), "it was not offered"


@pytest.mark.parametrize(
    "reply", ["I cannot go on at blank 9", f"I cannot go on at blank 3\n\n{STORY}", "I cannot go on.", "blank 3"]
)
def test_a_way_out_that_is_taken_by_halves_is_no_answer(reply: str) -> None:
    assert isinstance(fills.parse_fills(reply, finish_reason="stop", document=shoes(), may_stop=True), Failure)


def test_a_section_is_asked_for_with_what_was_filled_before_it() -> None:
    earlier = {number: FILLS[number] for number in (1, 2)}

    request = fills.build_section_request(shoes(), Switches(constraints=True), section=2, fills=earlier, mark="fence-0")

    said = asked(request)
    assert f"They were {FILLS[1]} and they were wet" in said
    assert "fill the blanks of section 2, The Compartments." in said
    assert "The widow hears" in said
    assert "The officer finds" not in said, "constraints of other sections are told with them"
    assert "{{3}}" in said
    assert request["schema"]["required"] == ["3", "4"]


SECTION = {"3": FILLS[3], "4": FILLS[4]}


@pytest.mark.parametrize("around", ["{}", "```json\n{}\n```", "<think>Well.</think>{}"])
def test_the_blanks_of_a_section_are_read_by_number(around: str) -> None:
    reply = around.format(json.dumps(SECTION))

    assert fills.parse_section(reply, finish_reason="stop", document=shoes(), section=2) == {3: FILLS[3], 4: FILLS[4]}


@pytest.mark.parametrize(
    ("reply", "finish_reason", "state", "reason"),
    [
        (json.dumps({"3": "x"}), "stop", "unreadable", "blank 4: is left empty"),
        (json.dumps(SECTION | {"4": "  "}), "stop", "unreadable", "blank 4: is left empty"),
        (json.dumps(SECTION | {"4": "{{4}}"}), "stop", "unreadable", "blank 4: is still open"),
        (json.dumps(SECTION | {"4": 7}), "stop", "out_of_range", "blank 4: is not filled with words"),
        (json.dumps(SECTION | {"5": "x"}), "stop", "out_of_range", "blank 5: is none of this section"),
        (json.dumps({"fills": SECTION}), "stop", "out_of_range", "blank fills: is none of this section"),
        (json.dumps(SECTION) * 2, "stop", "unreadable", "the reply is not one object"),
        ('{"3": "x", "3": "y", "4": "z"}', "stop", "unreadable", "the reply says one thing twice"),
        (json.dumps(SECTION)[:-4], "stop", "unreadable", "the reply is not one object"),
        (json.dumps(SECTION), "length", "truncated", "the reply ended at the limit"),
        ("I cannot help with this.", "stop", "refused", "I cannot help"),
        ("", "content_filter", "blocked", "the provider blocked"),
        ("", "stop", "unreadable", "the reply is empty"),
    ],
)
def test_a_section_that_cannot_be_read_fills_no_blank(reply: str, finish_reason: str, state: str, reason: str) -> None:
    failure = fills.parse_section(reply, finish_reason=finish_reason, document=shoes(), section=2)

    assert isinstance(failure, Failure)
    assert (failure.state, failure.reason[: len(reason)]) == (state, reason)


def test_a_way_out_of_a_section_is_one_of_its_blanks() -> None:
    def read(reply: str) -> Any:
        return fills.parse_section(reply, finish_reason="stop", document=shoes(), section=2, may_stop=True)

    assert read("I cannot go on at blank 4") == Stop(4)
    assert isinstance(read("I cannot go on at blank 1"), Failure)
