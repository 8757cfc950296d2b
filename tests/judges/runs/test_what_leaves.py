"""What leaves for a provider in a run, and what is made of its replies: as the documentation has it."""

import json
from collections import Counter
from decimal import Decimal
from functools import reduce
from typing import Any

import pytest

from judges import catalogue, runs
from judges.models import Attempt, Call, Endpoint, Judge, Run
from judges.planning import Scope
from judges.providers import all_providers
from studies.models import Story, Study
from tests import factories, triggers
from tests.judges import standin as told
from tests.judges.conftest import judge_at, sendable, started
from tests.judges.planning.test_budget import price
from tests.judges.standin import StandIn

pytestmark = pytest.mark.django_db

FAILED_HALF_WAY = told.says("I thi", finish_reason="error")


def words_of(body: dict[str, Any]) -> str:
    """The last message that was sent, in whichever protocol."""
    message = (body.get("messages") or body.get("input") or body["contents"])[-1]
    content = message.get("content") or message["parts"]
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


@pytest.mark.parametrize("adapter", [slug for slug, provider in all_providers().items() if not provider.is_stub])
def test_a_run_begins_alike_about_one_story_and_marks_so_much_where_a_provider_takes_marks(
    study: Study, standin: StandIn, adapter: str
) -> None:
    judge = judge_at(standin)
    Endpoint.objects.update(adapter=adapter)
    with triggers.lifted():
        Story.objects.filter(study=study, code="p1s1").update(text="Plums in the icebox, all of them.")

    runs.drain(started(study, Judge.objects.get(pk=judge.pk)))

    bodies = [hit.body for hit in standin.hits]
    assert len(bodies) == 8
    messages = [words_of(body) for body in bodies]
    about_one, other = [text for text in messages if "Plums in the icebox" in text]
    same = next(n for n, (a, b) in enumerate(zip(about_one, other, strict=False)) if a != b)
    assert about_one.index("Plums in the icebox") < same, "the story stands before what tells its calls apart"
    if adapter != "anthropic":
        assert "cache_control" not in json.dumps(bodies)
    else:
        marked = [body["messages"][-1]["content"][0] for body in bodies]
        assert [block["cache_control"] for block in marked] == [{"type": "ephemeral"}] * 8
        assert json.dumps(bodies).count("cache_control") == 8
        assert len({block["text"] for block in marked}) == 4
        assert all(block["text"].endswith(">") for block in marked)


@pytest.mark.parametrize("prompt", ["plain-all-items", "ttcw-reasoning-first"])
def test_what_is_asked_about_a_text_only_once_is_not_marked(standin: StandIn, prompt: str) -> None:
    judge = judge_at(standin)
    Judge.objects.update(prompt=next(row for row in catalogue.load_prompts() if row.name == prompt))
    Endpoint.objects.update(adapter="anthropic")
    n_items = 1 if prompt == "ttcw-reasoning-first" else 2
    study = factories.study(n_items=n_items, comparative=False)

    runs.drain(started(study, Judge.objects.get(pk=judge.pk)))

    assert len(standin.hits) >= 3  # the three probes, whose replies name no item of many
    assert "cache_control" not in json.dumps([hit.body for hit in standin.hits])


LIMITS = {
    "anthropic": ("max_tokens",),
    "gemini": ("generationConfig", "maxOutputTokens"),
    "openai": ("max_tokens",),
    "openai-responses": ("max_output_tokens",),
}


@pytest.mark.parametrize("adapter", [slug for slug, provider in all_providers().items() if not provider.is_stub])
def test_the_limit_that_was_reserved_leaves_in_the_words_of_each_provider(
    study: Study, standin: StandIn, adapter: str
) -> None:
    judge = judge_at(standin)
    Endpoint.objects.update(adapter=adapter)
    price(judge, "1", "10", adapter=adapter)

    run = runs.drain(runs.start(sendable(study), Judge.objects.get(pk=judge.pk), by="tests", budget=Decimal("0.2")))

    assert (run.state, runs.count_calls(run)) == (Run.State.FINISHED, {"ok": 8})
    limits = Counter(attempt.n_tokens_limit for attempt in Attempt.objects.all() if attempt.n_tokens_limit)
    found = [reduce(lambda body, name: body.get(name) or {}, LIMITS[adapter], hit.body) for hit in standin.hits]
    sent = Counter(limit for limit in found if limit)
    assert limits
    assert sent == limits


def test_every_repeat_leaves_with_a_seed_of_its_own(study: Study, standin: StandIn) -> None:
    judge = judge_at(standin)
    Judge.objects.update(parameters={"seed": 7, "temperature": 1})
    judge.refresh_from_db()

    runs.drain(runs.start(sendable(study), judge, by="tests", scope=Scope(n_repeats=3)))

    assert Counter((hit.body["seed"], hit.body["temperature"]) for hit in standin.hits) == {
        (7, 1): 8,
        (8, 1): 8,
        (9, 1): 8,
    }


def test_a_reply_that_broke_off_at_the_provider_is_asked_for_again(study: Study, standin: StandIn) -> None:
    standin.script = [told.YES] * 3 + [FAILED_HALF_WAY]

    run = runs.drain(started(study, judge_at(standin, n_at_once=1)))

    failed = Attempt.objects.get(outcome=Attempt.Outcome.FAILED)
    assert (run.state, runs.count_calls(run), len(standin.hits)) == (Run.State.FINISHED, {"ok": 8}, 9)
    assert (failed.status, failed.call.n_failures, failed.call.n_overloads) == (200, 1, 0)
    assert json.loads(failed.body)["choices"][0]["message"]["content"] == "I thi"


def test_a_provider_whose_replies_all_break_off_has_failed_and_not_its_model(study: Study, standin: StandIn) -> None:
    standin.script = [told.YES] * 3
    standin.reply = lambda hit: FAILED_HALF_WAY

    run = runs.drain(started(study, judge_at(standin)))

    assert (run.state, runs.count_calls(run)) == (Run.State.WAITING, {"ok": 3, Call.State.PROVIDER_ERROR: 5})
    assert "calls that have used up their tries: 5" in run.note
