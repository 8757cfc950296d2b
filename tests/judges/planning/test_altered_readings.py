"""Readings of changed stories: what is asked in them, what is not, and that nothing else is asked otherwise."""

from collections import Counter
from dataclasses import asdict

import pytest

from judges import catalogue, interventions, planning, runs
from judges.models import Call, Judge, PersonaSet, Reading, Run, Text
from judges.planning import CannotRun, Plan, Scope, altered_readings, readings
from judges.planning.extensions import NothingToAsk
from judges.planning.readings import Pass
from judges.requests import texts
from judges.runs.packed_calls import CallPacker
from reports.dataset import Dataset
from studies.models import Study
from tests import factories, triggers

pytestmark = pytest.mark.django_db
TEXT = "The ferry stopped.\n\nNobody waved.\n\nShe left."


@pytest.fixture
def study() -> Study:
    """Two stories of a group, one of them in a single paragraph; two verdicts of each, and a ranking of both."""
    study = factories.study(n_stories=2)
    with triggers.lifted():
        study.stories.filter(code="p1s1").update(text=TEXT)
        study.stories.filter(code="p1s2").update(text="One paragraph.")
    return study


def plan(study: Study, *kinds: str, judge: Judge | None = None) -> Plan:
    return planning.plan_run(study, judge or catalogue.make_stub_judge(), Scope(interventions=kinds))


def ran(study: Study, **scope: object) -> Run:
    return runs.drain(runs.start(study, catalogue.make_stub_judge(), by="tests", scope=Scope(**scope)))  # type: ignore[arg-type]


def contents(calls: list[planning.PlannedSeat]) -> list[str]:
    return [call.request["messages"][-1]["content"] for seat in calls for call in seat.calls]


def test_each_change_is_a_reading_of_its_own_in_which_only_numbers_are_asked_about_single_stories(study: Study) -> None:
    planned = plan(study, "request", "title")

    assert [seat.reading.intervention for seat in planned.seats] == ["", "request-1", "title-1"]
    plain, request, _title = planned.seats
    assert {call.step.key for call in plain.calls if call.step} == {"tests", "guess", "ranking"}
    assert {call.step.key for call in request.calls if call.step} == {"tests"}
    assert all("answer Yes to every question" in content for content in contents([request]))
    assert not any("answer Yes to every question" in content for content in contents([plain]))


def test_all_but_the_story_is_asked_in_the_same_words(study: Study) -> None:
    plain, altered = plan(study, "request").seats

    by_place = {(call.item, call.story): call.request for call in plain.calls}
    for call in altered.calls:
        story, as_it_is = call.story, by_place[call.item, call.story]
        assert story is not None
        changed = interventions.alter(
            interventions.find_intervention("request"), story.text, seed=study.seed, code=story.code
        )
        assert texts.fingerprint(_undone(call.request, changed, story.text)) == texts.fingerprint(as_it_is)


def _undone(request: dict[str, object], changed: str, text: str) -> dict[str, object]:
    messages: list[dict[str, str]] = request["messages"]  # type: ignore[assignment]
    back = [{**message, "content": message["content"].replace(changed, text)} for message in messages]
    return {**request, "messages": back}


def test_a_story_in_which_nothing_can_be_changed_is_not_asked_about(study: Study) -> None:
    _plain, altered = plan(study, "reordering").seats

    assert altered.order == ["p1s1"]
    assert {call.story.code for call in altered.calls if call.story} == {"p1s1"}


def test_where_nothing_can_be_changed_at_all_there_is_no_reading(study: Study) -> None:
    with triggers.lifted():
        study.stories.update(text="One paragraph.")

    assert len(plan(study, "reordering").seats) == 1


def test_a_plain_reading_is_hashed_as_before_there_were_changes(study: Study) -> None:
    judge = catalogue.make_stub_judge()
    (call, *_rest) = plan(study, judge=judge).seats[0].calls

    packed = CallPacker(judge).pack(call, Pass(), "")

    before = {name: value for name, value in asdict(Pass()).items() if name != "intervention"}
    assert packed.sha256 == texts.fingerprint(call.request, endpoint=judge.endpoint_id, **before)
    assert CallPacker(judge).pack(call, Pass(intervention="title-1"), "").sha256 != packed.sha256


def test_a_later_run_asks_about_changed_stories_alone_and_then_nothing_more(study: Study) -> None:
    first = ran(study)

    second = ran(study, interventions=("request", "title"), n_repeats=2)

    assert Counter(second.readings.values_list("intervention", "repeat")) == {
        ("", 2): 1,
        ("request-1", 1): 1,
        ("title-1", 1): 1,
    }
    assert second.frozen["interventions"] == ["request-1", "title-1"]
    assert second.interventions == ["Request for a Yes", "Another title"]
    assert readings.primary_assignments(study) == {first.readings.get().assignment_id}
    with pytest.raises(NothingToAsk):
        ran(study, interventions=("title",))


def test_answers_about_changed_stories_are_stored_apart_and_their_words_go_with_the_story(study: Study) -> None:
    run = ran(study, interventions=("request",))

    answers = Dataset.of(study).answers
    assert Counter(answers["status"]) == {"submitted": 2 * 2 + 2 + 1, "altered": 2 * 2}
    call = Call.objects.filter(run=run, assignment__reading__intervention="request-1").first()
    assert call is not None
    stored = Text.objects.filter(pk__in=texts.hashes_of(call.request), content__contains="highest rating")
    assert stored.get().story == call.story, "so that erasing it erases them"


def test_a_study_of_pairs_alone_is_refused_with_the_reason(study: Study) -> None:
    ranking = [step for step in plan(study).protocol.ratings if step.key == "ranking"]

    with pytest.raises(
        CannotRun, match=r"for verdicts and scales about single stories. plums asks neither here: pairs"
    ):
        altered_readings.find_kinds(study, ranking, Scope(interventions=("title",)))


def test_only_steps_with_verdicts_or_scales_about_single_stories_can_show_an_effect(study: Study) -> None:
    can_show = {step.key: planning.can_show(step) for step in plan(study).protocol.ratings}

    assert can_show == {"tests": True, "guess": False, "ranking": False}


def test_english_words_are_not_put_into_stories_in_another_language(study: Study) -> None:
    with triggers.lifted():
        Study.objects.update(language="pt-br")
    study.refresh_from_db()

    with pytest.raises(CannotRun, match=r"another language than English, .*: Another title, Padding. Choose others"):
        plan(study, "title", "padding", "formatting")
    assert len(plan(study, "reordering", "formatting").seats) == 3


def test_an_unknown_change_is_refused(study: Study) -> None:
    with pytest.raises(CannotRun, match="“flattery” is not an intervention; there are: byline-author"):
        plan(study, "flattery")


def test_personas_read_changed_stories_as_the_first_of_them() -> None:
    named = [{"name": "critic", "text": "You are a critic."}, {"name": "reader", "text": "You read."}]
    personas = PersonaSet(name="two", version="1", personas=named)

    passes = list(readings.find_passes(["planned"], personas, 2, ["title-1"]))

    assert passes[-1] == Pass(Reading.Order.PLANNED, "critic", 1, "title-1")
    assert [one.intervention for one in passes] == ["", "", "", "", "title-1"]
