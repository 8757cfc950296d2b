"""Generations against the stand-in: every call a row before the first, attempts, discards, and what came of it."""

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from judges import lifecycle, runs
from judges.laboratory import generation
from judges.models import Attempt, Call, Draft, Endpoint, GeneratedText, Generation, Judge, Price, Run
from judges.planning import CannotRun
from judges.settlement import erasure
from studies.models import Study
from tests import factories
from tests.judges import standin as told
from tests.judges.conftest import sendable
from tests.judges.laboratory.generation.stories import (
    draft_study,
    endpoint_at,
    order,
    planned,
    story_of,
    words,
    written,
)
from tests.judges.standin import StandIn
from tests.replay import replayed

pytestmark = pytest.mark.django_db


@pytest.fixture
@replayed
def study() -> Study:
    return draft_study()


def states(run: Run) -> Counter[str]:
    return Counter(run.calls.values_list("state", flat=True))


def test_every_call_is_a_row_before_the_first_is_sent(study: Study, standin: StandIn) -> None:
    wish = order(endpoint_at(standin), groups=("plot1", "plot2"), n_rounds=3, n_texts=2, temperatures=(0.5, 1.0))

    run = planned(study, wish)

    assert (run.state, run.n_planned, run.calls.count(), standin.hits) == (Run.State.PLANNED, 24, 24, [])
    first = run.calls.exclude(request_sha256="")
    assert Counter(first.values_list("section", "kind")) == {(1, "generate"): 8}
    assert Counter(first.values_list("request__parameters__temperature", flat=True)) == {0.5: 4, 1.0: 4}
    assert run.frozen["prompt"]["is_verbatim"]
    assert not study.raters.exists(), "who writes is no rater"
    assert not study.frozen_versions.exists(), "the study stays a draft"


def test_what_is_outside_400_to_600_words_is_discarded_and_counted(study: Study, standin: StandIn) -> None:
    standin.script = [words(399), words(601), words(500)]

    result = written(study, order(endpoint_at(standin), n_rounds=5))

    draft = result.drafts.get()
    assert (draft.state, draft.n_attempts, draft.n_discards) == (Draft.State.COMPLETE, 3, 2)
    assert [text.text for text in draft.texts.all()] == [story_of(500)]
    assert states(result.run) == {"ok": 3, "not_needed": 2}
    assert (result.run.state, len(standin.hits)) == (Run.State.FINISHED, 3)
    sent = [hit.body["messages"][1]["content"] for hit in standin.hits]
    assert "Premise 1" in sent[0]
    bodies = Attempt.objects.filter(call__run=result.run).values_list("body", flat=True)
    assert all("w398" in body for body in bodies), "discarded replies are kept and can be read"


def test_a_draft_that_never_fits_is_given_up_with_a_reason(study: Study, standin: StandIn) -> None:
    standin.reply = lambda hit: words(100)

    result = written(study, order(endpoint_at(standin), n_rounds=2))

    draft = result.drafts.get()
    assert (draft.state, draft.n_discards, draft.texts.count()) == (Draft.State.GIVEN_UP, 2, 0)
    assert draft.note == "none of the replies (2) had 400 to 600 words"


def test_ttcw_sends_the_story_again_until_it_is_long_enough(study: Study, standin: StandIn) -> None:
    standin.script = [words(300), words(700), words(850)]

    result = written(study, order(endpoint_at(standin), "ttcw-expansion", sizes=(1000,)))

    asked = [hit.body["messages"][1]["content"] for hit in standin.hits]
    assert "Make sure it is atleast 1000 words." in asked[0]
    assert "the story only has 300 words." in asked[1]
    assert story_of(700) in asked[2]
    assert GeneratedText.objects.get().text == story_of(850)
    assert states(result.run) == {"ok": 3, "not_needed": 18}


def test_portraits_stand_in_the_second_prompt_of_plan_and_write(study: Study, standin: StandIn) -> None:
    standin.script = [told.says("Ana, a diver. Rui, who waits."), words(100), words(450)]

    result = written(study, order(endpoint_at(standin), "pds-plan-write"))

    draft = result.drafts.get()
    assert (draft.n_attempts, draft.n_discards) == (3, 1)
    first, second, third = (hit.body["messages"][1]["content"] for hit in standin.hits)
    assert "describe the names and details of 2-3 major characters" in first
    assert "Ana, a diver." in second
    assert "Ana, a diver." in third


def test_a_refused_draft_fails_alone_and_says_why(study: Study, standin: StandIn) -> None:
    standin.script = [told.REFUSED, words(500)]

    result = written(study, order(endpoint_at(standin), groups=("plot1", "plot2"), n_rounds=2))

    failed, complete = result.drafts.all()
    assert (failed.state, complete.state) == (Draft.State.FAILED, Draft.State.COMPLETE)
    assert "I cannot judge this." in failed.note
    assert states(result.run) == {"refused": 1, "ok": 1, "not_needed": 2}


def test_a_truncated_reply_can_be_asked_once_more_and_the_draft_goes_on(study: Study, standin: StandIn) -> None:
    standin.script = [told.TRUNCATED, words(450)]
    result = written(study, order(endpoint_at(standin), n_rounds=2))
    assert result.drafts.get().state == Draft.State.FAILED

    assert runs.retry(result.run) == 1
    runs.drain(result.run)

    assert result.drafts.get().state == Draft.State.COMPLETE
    assert GeneratedText.objects.get().text == story_of(450)


def test_a_run_that_is_closed_ends_its_drafts(study: Study, standin: StandIn) -> None:
    run = runs.approve(planned(study, order(endpoint_at(standin), groups=("plot1", "plot2"))), by="rui")
    lifecycle.pause(run, lifecycle.PAUSED_BY, name="ana")

    lifecycle.close(run, at=factories.NOON)

    assert set(Draft.objects.values_list("state", flat=True)) == {"failed"}
    assert states(run) == {"not_asked": 2, "not_needed": 18}


def test_a_reply_that_breaks_off_is_tried_again_and_counts_as_no_attempt(study: Study, standin: StandIn) -> None:
    standin.script = [told.BROKEN_OFF, words(100), words(500)]

    result = written(study, order(endpoint_at(standin), n_rounds=3))

    assert result.drafts.get().n_attempts == 2
    assert states(result.run) == {"ok": 2, "not_needed": 1}
    assert Attempt.objects.filter(call__run=result.run).count() == 3


def test_the_estimate_knows_what_is_needed_and_what_may_be(study: Study, standin: StandIn) -> None:
    endpoint = endpoint_at(standin)
    Price.objects.create(
        endpoint=endpoint, model="standin", usd_per_million_in=1, usd_per_million_out=2, valid_from="2020-01-01"
    )

    one, ten = (generation.plan(study, order(endpoint, n_rounds=n)).estimate for n in (1, 10))

    assert one.cost is not None
    assert (one.n_calls, ten.n_calls, one.cost) == (1, 1, ten.cost)
    assert one.worst_cost is not None
    assert ten.worst_cost == 10 * one.worst_cost


def test_a_budget_stops_a_generation_as_any_run(study: Study, standin: StandIn) -> None:
    endpoint = endpoint_at(standin)
    Price.objects.create(
        endpoint=endpoint, model="standin", usd_per_million_in=1, usd_per_million_out=2, valid_from="2020-01-01"
    )

    run = runs.drain(runs.approve(planned(study, order(endpoint), budget=Decimal("0.0001")), by="rui"))

    assert (run.state, standin.hits) == (Run.State.WAITING, [])


def test_ideas_come_in_every_length_of_every_story(study: Study, standin: StandIn) -> None:
    standin.reply = lambda hit: told.says("A well runs dry.")

    result = written(study, order(endpoint_at(standin), "nsv-extraction", groups=()))

    asked = Counter(result.drafts.values_list("original__code", "n_words"))
    assert asked == {(code, n): 1 for code in ("p1s1", "p2s1") for n in (50, 150, 250)}
    assert GeneratedText.objects.count() == 6


def test_erasing_a_story_reaches_what_was_made_out_of_it(study: Study, standin: StandIn) -> None:
    standin.reply = lambda hit: told.says("A well runs dry.")
    result = written(study, order(endpoint_at(standin), "nsv-extraction", groups=(), sizes=(50,)))
    original = study.stories.get(code="p1s1")

    erasure.forget(factories.rater(study), [original.pk])

    texts = dict(GeneratedText.objects.values_list("draft__original__code", "text"))
    assert texts == {"p1s1": "", "p2s1": "A well runs dry."}
    erased = result.run.calls.get(draft__original=original)
    assert (erased.request, erased.attempts.get().body) == ({}, "")


def refusals() -> list[tuple[dict[str, Any], str]]:
    return [
        ({"groups": ("plot9",)}, "no group plot9"),
        ({"groups": ()}, "no writing prompt to write about"),
        ({"model": " "}, "the model that writes"),
        ({"n_texts": 0}, "at least one text"),
        ({"n_rounds": 201}, "takes 1 to 200 rounds, not 201"),
        ({"temperatures": (2.5,)}, "from 0 to 2, not 2.5"),
        ({"sizes": (500,)}, "sets the length itself"),
        ({"n_texts": 2001}, "at most 2000"),
        ({"n_texts": 2000, "n_rounds": 200}, "more than 20000 calls"),
        ({"reference": "p1s1"}, "shows no idea of reference"),
        ({"recipe": "nsv-extraction", "stories": ("p9",)}, "no story p9"),
        ({"recipe": "ttcw-measures"}, "Choose the instrument"),
        ({"recipe": "nsv-generation", "sizes": (0,)}, "number of words"),
        ({"parameters": {"messages": []}}, "set by Quire itself"),
    ]


@pytest.mark.parametrize(("changes", "reason"), refusals(), ids=lambda value: value if isinstance(value, str) else "")
def test_what_cannot_be_asked_is_refused_in_a_sentence(
    study: Study, standin: StandIn, changes: dict[str, Any], reason: str
) -> None:
    changes = dict(changes)
    recipe = changes.pop("recipe", "pds-writer-profile")

    with pytest.raises(CannotRun, match=reason):
        generation.plan(study, order(endpoint_at(standin), recipe, **changes))

    assert not Generation.objects.exists()


def test_a_budget_without_a_price_leaves_no_run_behind(study: Study, standin: StandIn) -> None:
    plan = generation.plan(study, order(endpoint_at(standin)))

    with pytest.raises(CannotRun, match="no price"):
        generation.write(study, plan, budget=Decimal(1), by="tests")

    assert not Run.objects.exists()


def test_premises_leave_only_if_they_may(study: Study, standin: StandIn) -> None:
    outside = endpoint_at(standin, is_outside=True)
    wish = order(outside)

    with pytest.raises(CannotRun, match=r"lab .*plot1"):
        generation.plan(study, wish)
    with pytest.raises(CannotRun, match="writing prompts you entered may be sent"):
        generation.plan(study, replace(wish, groups=(), premises=("A well.",)))

    assert generation.plan(study, replace(wish, may_send_premises=True)).document["recipe"]["settings"][
        "may_send_premises"
    ]
    assert generation.plan(sendable(study), wish).n_calls == 10


def test_stories_leave_only_if_they_may(study: Study, standin: StandIn) -> None:
    wish = order(endpoint_at(standin, is_outside=True), "nsv-extraction", groups=(), may_send_premises=True)

    with pytest.raises(CannotRun, match=r"plums: 2 .*\(p1s1, p2s1\).* lab\b"):
        generation.plan(study, wish)


def test_a_study_that_is_no_draft_refuses_at_every_step(study: Study, standin: StandIn) -> None:
    wish = order(endpoint_at(standin))
    run = planned(study, wish)
    Study.objects.filter(pk=study.pk).update(state=Study.State.LIVE)
    study.refresh_from_db()

    with pytest.raises(CannotRun, match="launched"):
        generation.plan(study, wish)
    with pytest.raises(CannotRun, match="launched"):
        runs.approve(Run.objects.get(pk=run.pk), by="rui")

    assert standin.hits == []


def test_the_same_model_and_recipe_has_one_unfinished_run(study: Study, standin: StandIn) -> None:
    wish = order(endpoint_at(standin))
    planned(study, wish)

    with pytest.raises(CannotRun, match="unfinished run"):
        planned(study, wish)

    assert (Run.objects.count(), Draft.objects.count(), Judge.objects.filter(is_writer=True).count()) == (1, 1, 1)


def test_a_run_that_is_taken_back_leaves_nothing(study: Study, standin: StandIn) -> None:
    lifecycle.discard(planned(study, order(endpoint_at(standin))))

    assert not any(model.objects.exists() for model in (Run, Generation, Draft, Call))


def test_the_stub_writes_at_the_length_asked_for(study: Study) -> None:
    stub = Endpoint.objects.create(name="stub", adapter="stub", is_allowed=True, is_outside=False)

    result = written(study, order(stub, "ttcw-expansion", model="stub"))

    assert len(GeneratedText.objects.get(draft__generation=result).text.split()) == 1500
