"""All items of a story in one call, as personas or as nobody: what is sent, what is recorded, and what is refused."""

import json

import pytest
from django.utils import timezone

from annotation.models import Response
from judges import catalogue, planning, runs
from judges.models import Call, Judge, Parse, PersonaSet
from judges.planning import CannotRun, Scope
from judges.settlement import rereads
from studies.models import Study
from tests import factories
from tests.judges.conftest import judge_at, sendable
from tests.judges.standin import StandIn
from tests.judges.standin.replies import Reply, says
from tests.judges.standin.server import Hit
from tests.replay import replayed

pytestmark = pytest.mark.django_db


@pytest.fixture
@replayed
def scales() -> Study:
    """Two stories, three scales of each."""
    study = factories.study(n_stories=2, n_items=3, comparative=False, planned=False)
    depth = factories.instrument(
        "depth", n_items=3, type="scale", settings={"low": 1, "high": 5}, rationale="optional", rationale_least=0
    )
    study.versions.get().steps.filter(key="tests").update(instrument=depth)
    factories.plan(study)
    return sendable(study)


def judge_with(prompt: str, judge: Judge) -> Judge:
    judge.prompt = next(row for row in catalogue.load_prompts() if row.name == prompt)
    judge.save()
    return judge


def personas() -> PersonaSet:
    (row,) = catalogue.load_personas()
    return row


def scores(*values: object) -> Reply:
    """One object with the values in the order of the items."""
    return says(
        json.dumps({f"item-{n}": {"rationale": "It ends well.", "answer": value} for n, value in enumerate(values, 1)})
    )


def test_the_prompt_decides_that_a_story_is_asked_about_in_one_call(scales: Study, standin: StandIn) -> None:
    standin.reply = lambda hit: scores(1, 3, 5)
    judge = judge_with("pds-zero-shot", judge_at(standin))

    run = runs.drain(runs.start(scales, judge, by="tests"))

    assert (run.state, run.asks, run.n_planned, len(standin.hits)) == ("finished", "story", 2, 2)
    recorded = Response.objects.filter(assignment__rater__code=judge.slug).order_by("story__code", "item__position")
    assert [(row.value, row.rationale) for row in recorded] == [(value, "It ends well.") for value in (1, 3, 5)] * 2
    assert [call.items for call in run.calls.all()] == [["item-1", "item-2", "item-3"]] * 2


@pytest.mark.parametrize(("bad", "state"), [(9, "out_of_range"), (None, "unreadable")])
def test_one_bad_answer_loses_itself_and_is_not_asked_again(
    scales: Study, standin: StandIn, bad: int | None, state: str
) -> None:
    standin.reply = lambda hit: scores(1, bad, 5)
    judge = judge_with("pds-zero-shot", judge_at(standin))

    run = runs.drain(runs.start(scales, judge, by="tests"))

    assert runs.count_calls(run) == {state: 2}
    assert len(standin.hits) == 2
    recorded = Response.objects.filter(assignment__rater__code=judge.slug).order_by("story", "item__position")
    assert [(row.outcome, row.value) for row in recorded] == [
        ("answered", 1),
        ("unreadable", None),
        ("answered", 5),
    ] * 2
    assert {call.reason.partition(":")[0] for call in run.calls.all()} <= {"item-2", "there is no answer for “item-2”"}


@pytest.mark.parametrize("second", [says("Who can say?"), scores(9, 9, 5)])
def test_a_reply_that_gives_less_than_the_one_before_replaces_nothing(
    scales: Study, standin: StandIn, second: Reply
) -> None:
    standin.reply = lambda hit: scores(1, 9, 5)
    run = runs.drain(runs.start(scales, judge_with("pds-zero-shot", judge_at(standin)), by="tests"))
    before = list(Response.objects.order_by("pk").values("outcome", "value"))
    standin.reply = lambda hit: second

    runs.retry(run)
    runs.drain(run)

    assert len(standin.hits) == 4
    assert list(Response.objects.order_by("pk").values("outcome", "value")) == before
    assert runs.count_calls(run) == {"out_of_range": 2}
    assert rereads.read_again(run, at=timezone.now()).n_changed == 0


def test_a_reply_in_another_form_is_read_and_its_form_is_kept(scales: Study, standin: StandIn) -> None:
    standin.reply = lambda hit: says('{"Item_1": 1, "item 2": 3, "ITEM-3": 5}\nLet me know if you need more!')

    run = runs.drain(runs.start(scales, judge_with("pds-zero-shot", judge_at(standin)), by="tests"))

    assert runs.count_calls(run) == {"ok": 2}
    assert {parse.form for parse in Parse.objects.all()} == {"names"}
    assert {row.value for row in Response.objects.filter(assignment__rater__code=run.judge.slug)} == {1, 3, 5}


def test_a_run_with_personas_reads_each_seat_as_every_one_of_them(scales: Study, standin: StandIn) -> None:
    texts = personas().text_by_name

    def reply(hit: Hit) -> Reply:
        number = next(
            n for n, text in enumerate(texts.values(), 1) if hit.body["messages"][0]["content"].startswith(text)
        )
        return scores(number, number, number)

    standin.reply = reply
    judge = judge_with("pds-zero-shot", judge_at(standin))

    run = runs.drain(runs.start(scales, judge, by="tests", scope=Scope(persona_set=personas())))

    assert (run.state, run.n_planned, run.persona_set) == ("finished", 10, personas())
    assert run.frozen["persona_set"]["personas"][0]["name"] == "authenticity"
    values = Response.objects.filter(item__key="item-1").values_list("assignment__reading__persona", "value")
    assert set(values) == {(name, number) for number, name in enumerate(texts, 1)}


def test_personas_are_refused_by_a_prompt_that_takes_none(scales: Study) -> None:
    with pytest.raises(CannotRun, match="does not take the personas pds 1"):
        planning.plan_run(scales, catalogue.make_stub_judge(), Scope(persona_set=personas()))


def test_a_template_that_leaves_out_a_question_is_refused_before_anything_is_sent(scales: Study) -> None:
    judge = judge_with("plain-all-items", catalogue.make_stub_judge())
    judge.prompt.pk, judge.prompt.name = None, "short"
    judge.prompt.template = judge.prompt.template.replace("in questions", "in questions[:2]")
    judge.prompt.save()

    with pytest.raises(CannotRun, match="leaves out the question “item-3”"):
        planning.plan_run(scales, judge)


def test_a_structured_prompt_tells_the_server_the_form_with_reasons_before_each_answer(
    scales: Study, standin: StandIn
) -> None:
    standin.reply = lambda hit: scores(2, 2, 2)
    runs.drain(runs.start(scales, judge_with("pds-structured", judge_at(standin)), by="tests"))

    form = standin.hits[0].body["response_format"]["json_schema"]["schema"]
    assert list(form["properties"]) == form["required"] == ["item-1", "item-2", "item-3"]
    assert [list(part["properties"]) for part in form["properties"].values()] == [["rationale", "answer"]] * 3


def test_a_structured_prompt_about_one_item_asks_for_reasons_first(scales: Study, standin: StandIn) -> None:
    standin.reply = lambda hit: says('{"rationale": "It ends well.", "answer": 4}')
    run = runs.drain(runs.start(scales, judge_with("plain-structured", judge_at(standin)), by="tests"))

    form = standin.hits[0].body["response_format"]["json_schema"]["schema"]
    assert list(form["properties"]) == form["required"] == ["rationale", "answer"]
    assert {row.value for row in Response.objects.filter(assignment__rater__code=run.judge.slug)} == {4}


def test_a_free_prompt_sends_no_form(scales: Study, standin: StandIn) -> None:
    standin.reply = lambda hit: scores(2, 2, 2)
    runs.drain(runs.start(scales, judge_with("pds-zero-shot", judge_at(standin)), by="tests"))

    assert "response_format" not in standin.hits[0].body


def test_the_stub_answers_all_items_at_once(scales: Study) -> None:
    run = runs.drain(runs.start(scales, judge_with("pds-zero-shot", catalogue.make_stub_judge()), by="tests"))

    assert runs.count_calls(run) == {Call.State.OK: 2}
    assert Response.objects.filter(outcome="answered", assignment__rater__code="stub").count() == 6


def test_only_the_steps_that_were_chosen_are_asked() -> None:
    study = factories.study()

    plan = planning.plan_run(study, catalogue.make_stub_judge(), Scope(steps=("guess",)))

    assert {call.step.key for call in plan.all_calls} == {"guess"}
    with pytest.raises(CannotRun, match="no step nonsense"):
        planning.plan_run(study, catalogue.make_stub_judge(), Scope(steps=("nonsense",)))


def test_a_prompt_is_not_asked_what_it_was_not_made_for() -> None:
    study = factories.study()
    judge = judge_with("ttcw-paper-reasoning-first", catalogue.make_stub_judge())

    with pytest.raises(CannotRun, match="cannot ask what these steps ask: ranking, guess"):
        planning.plan_run(study, judge)
    assert planning.plan_run(study, judge, Scope(steps=("tests",))).n_calls == 8


def test_who_wrote_it_is_asked_of_a_model_by_its_own_prompt(standin: StandIn) -> None:
    study = sendable(factories.study())
    standin.reply = lambda hit: says('It is smooth.\n{"answer": "ai"}')
    judge = judge_with("authorship-guess", judge_at(standin))

    runs.drain(runs.start(study, judge, by="tests", scope=Scope(steps=("guess",))))

    guesses = Response.objects.filter(assignment__rater__code=judge.slug)
    assert [(row.step.key, row.value) for row in guesses] == [("guess", "ai")] * 4
