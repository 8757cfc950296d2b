"""Surprise by a language model: what an endpoint is asked, what of its reply counts, and what it may not give."""

import io
import json
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Rater, Response
from judges import runs
from judges.models import Attempt, Call, Endpoint, Parse, Price, Run, ScoreCard, TextVector
from judges.requests import texts
from judges.settlement import attempts, erasure
from studies import hashing
from studies.models import Story, StoryGroup, Study
from tests import factories, triggers
from tests.judges import standin as orders
from tests.judges.standin import Reply, StandIn

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(standin: StandIn) -> Study:
    """Two stories on a premise. The stand-in gives each word minus its letters."""
    made = factories.study(n_stories=2)
    with triggers.lifted():
        StoryGroup.objects.filter(study=made).update(premise="On a ferry")
        for story, words in zip(made.stories.order_by("code"), ("It rained", "It snowed"), strict=True):
            Story.objects.filter(pk=story.pk).update(text=f"{words} all noon.")
    Endpoint.objects.create(
        name="house",
        base_url=standin.base_url,
        key_variable="STANDIN_API_KEY",
        is_allowed=True,
        is_outside=False,
        n_at_once=1,  # of two at once either may come first, and each reply of a script is for one of them
    )
    return made


def measure(*, yes: bool = True, **options: Any) -> str:
    out = io.StringIO()
    call_command("measure_surprise", "plums", yes=yes, **{"model": "house/small"} | options, stdout=out)
    return out.getvalue()


def told(*logprobs: float | None, tokens: Sequence[str] = ("On a ferry", "\n\n", "It rained", " all noon.")) -> Reply:
    """Log-probabilities of tokens, from which it is read where each begins."""
    return echo({"tokens": tokens, "token_logprobs": logprobs})


def echo(logprobs: dict[str, Any] | None, *, model: str = "small") -> Reply:
    choice = {"text": "", "finish_reason": "length", "logprobs": logprobs}
    usage = {"prompt_tokens": 7, "completion_tokens": 1}
    return Reply(json.dumps({"model": model, "choices": [choice], "usage": usage}))


def told_places(*logprobs: float | None, model: str = "small") -> Reply:
    """The same with the place of each, so that how a token is spelt does not matter."""
    logs = {"tokens": ["?"] * 4, "token_logprobs": logprobs, "text_offset": [0, 10, 12, 21]}
    return echo(logs, model=model)


def test_it_is_the_mean_of_the_storys_tokens_given_the_premise_and_stands_among_the_scores(
    study: Study, standin: StandIn
) -> None:
    standin.script = [told(None, -9, -2, -0.5), told_places(None, -9, -1, -1)]

    words = measure()

    card = ScoreCard.objects.get()
    assert words.splitlines()[1:] == [f"2 values of {card} came in, by house/small."]
    assert (card.metric, card.better, card.scored_by, card.about) == ("surprise", "higher", "house/small", "stories")
    assert sorted(Response.objects.filter(assignment__rater=card.rater).values_list("value", flat=True)) == [1.0, 1.25]
    assert standin.hits[0].body == {
        "model": "small",
        "prompt": "On a ferry\n\nIt rained all noon.",
        "echo": True,
        "logprobs": 1,
        "max_tokens": 1,
        "temperature": 0,
    }


def test_a_token_that_the_server_wrote_after_the_text_does_not_count_nor_one_with_nothing_before_it(
    study: Study, standin: StandIn
) -> None:
    with triggers.lifted():
        StoryGroup.objects.update(premise="")
    standin.script = [
        told(None, -3, -50, tokens=[words, " all noon.", " Then"]) for words in ("It rained", "It snowed")
    ]

    measure()

    assert set(Response.objects.values_list("value", flat=True)) == {3.0}


def test_broken_off_it_brings_no_score_in_and_goes_on_where_it_was(study: Study, standin: StandIn) -> None:
    standin.script = [told(None, -9, -2, -0.5), *[orders.NO_KEY] * 3]

    with pytest.raises(CommandError, match=r"rejects it.*Replies received are kept: ask again to continue"):
        measure()

    assert not ScoreCard.objects.exists()
    assert TextVector.objects.count() == 1
    with pytest.raises(CommandError, match="is already being asked for the scores “surprise”; resume that run"):
        measure(metric="another")
    n_before = len(standin.hits)
    measure()
    assert len(standin.hits) == n_before + 1
    assert Run.objects.get().state == Run.State.FINISHED


def test_every_request_is_a_call_with_its_attempt_its_body_and_its_cost(study: Study, standin: StandIn) -> None:
    set_price()
    standin.script = [told(None, -9, -2, -0.5), told_places(None, -9, -1, -1)]

    measure()

    run = Run.objects.get()
    assert (run.approved_by, run.n_planned, run.state) == ("manage.py measure_surprise", 2, Run.State.FINISHED)
    assert sorted(run.calls.values_list("kind", "state", "story__code")) == [
        ("likelihood", "ok", code) for code in study.stories.order_by("code").values_list("code", flat=True)
    ]
    attempts = Attempt.objects.order_by("call")
    assert (
        list(attempts.values_list("outcome", "n_tokens_in", "n_tokens_out", "cost"))
        == [("answered", 7, 1, Decimal("0.009"))] * 2
    )
    assert all("token_logprobs" in body for body in attempts.values_list("body", flat=True))
    assert sorted(p.values["surprise"] for p in Parse.objects.all()) == [1.0, 1.25]
    assert ScoreCard.objects.get().run == run
    assert not Rater.objects.filter(kind="model").exists()


def test_the_endpoints_limit_is_shared_with_judges(standin: StandIn) -> None:
    factories.study(n_stories=8)
    Endpoint.objects.create(
        name="house", base_url=standin.base_url, key_variable="STANDIN_API_KEY", is_allowed=True, is_outside=False,
        n_at_once=2,
    )  # fmt: skip
    standin.delay = 0.02

    measure()

    assert len(standin.hits) == 8
    assert standin.most_at_once <= 2


def test_erasing_a_story_reaches_its_call_and_its_value_and_no_other_of_the_same_words(
    study: Study, standin: StandIn
) -> None:
    first, second = study.stories.order_by("code")
    with triggers.lifted():
        Story.objects.filter(pk=second.pk).update(text=first.text)
    measure()
    call, other = Call.objects.order_by("story__code")
    assert first.text in texts.render(call.request)["messages"][0]["content"]
    with triggers.lifted():
        Story.objects.filter(pk=second.pk).update(text="Other words.", sha256="0" * 64)

    erasure.empty_calls([first.pk])

    call.refresh_from_db()
    assert (call.request, call.request_sha256) == ({}, "")
    assert call.attempts.get().body == ""
    assert Parse.objects.get(attempt__call=call).values == {}
    assert not TextVector.objects.filter(sha256=hashing.sha256(first.text)).exists()
    assert texts.render(other.request)["messages"][0]["content"] == "On a ferry\n\nIt rained all noon."


def test_where_no_story_gets_a_value_the_run_says_so_and_nothing_comes_in(study: Study, standin: StandIn) -> None:
    with triggers.lifted():
        StoryGroup.objects.update(premise="")
    standin.script = [told(None, tokens=[words]) for words in ("It rained all noon.", "It snowed all noon.")] * 2

    with pytest.raises(CommandError, match="no score came in: no story has a value"):
        measure()

    assert set(Call.objects.values_list("state", "reason")) == {
        ("unreadable", "the text is one token, and nothing stands before it")
    }
    assert Run.objects.get().state == Run.State.WAITING


def test_by_the_page_it_waits_for_approval_and_then_its_calls_can_be_read(
    study: Study, standin: StandIn, admin_client: Client
) -> None:
    address = reverse("judges:scores", args=[study.slug])
    form = {"surprise": "1", "endpoint": Endpoint.objects.get().pk, "model": "small", "surprise_metric": "surprise"}
    refused = admin_client.post(address, form | {"surprise_metric": "No Name"})
    assert list(refused.context["surprise_form"].errors) == ["surprise_metric"]
    assert not Run.objects.exists()

    response = admin_client.post(address, form)

    run = Run.objects.get()
    assert response.headers["Location"] == reverse("judges:run", args=[study.slug, run.pk])
    assert "2 calls are waiting for approval" in admin_client.get(response.headers["Location"]).content.decode()
    assert not standin.hits
    runs.drain(runs.approve(run, by="ada"))
    page = admin_client.get(response.headers["Location"]).content.decode()
    assert "Finished: 2 of 2 stories are measured" in page
    assert "Read the replies again" not in page
    assert "surprise-1" in admin_client.get(address).content.decode()
    call = run.calls.first()
    assert call is not None
    assert "surprise, in nats a token" in admin_client.get(
        reverse("judges:call", args=[study.slug, run.pk, call.pk])
    ).content.decode()  # fmt: skip


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (echo(None), "use a server that echoes them, as vLLM"),
        (told(None, -9, None, -1), "use a server that echoes them"),
        (told(None, -9, 5, -1), "use a server that echoes them"),
        (told(None, -9, -1, -1, tokens=["Other", " words", " than", " asked"]), "use a server that echoes them"),
        (told_places(None, -9, -1, -1, model="large"), "another model answered than was asked: large"),
        (orders.GARBAGE, "use a server that echoes them"),
        (Reply('{"error": {"message": "no such route"}}', status=404), "no such route"),
        (orders.NO_KEY, "rejects it"),
    ],
)
def test_an_endpoint_that_gives_no_log_probabilities_is_said_to(
    study: Study, standin: StandIn, reply: Reply, sentence: str
) -> None:
    standin.script = [reply] * 6

    with pytest.raises(CommandError, match=sentence):
        measure()
    assert len(standin.hits) == attempts.N_PROBES
    assert not TextVector.objects.exists()
    assert not Response.objects.exists()


def test_what_cannot_be_asked_is_refused_before_anything_is_sent(study: Study, standin: StandIn) -> None:
    def refuse(sentence: str, **options: str) -> None:
        with pytest.raises(CommandError, match=sentence):
            measure(**options)

    refuse("names no endpoint with a model: write ENDPOINT/MODEL; there are: house", model="elsewhere/small")
    refuse("names no endpoint with a model", model="house")
    Endpoint.objects.update(is_outside=True)
    refuse("2 texts are not marked as free to be sent to an outside provider, which house is")
    Endpoint.objects.update(is_outside=False, adapter="anthropic")
    refuse("small: Anthropic gives no log-probabilities of a text; use an endpoint that echoes them")
    Endpoint.objects.update(is_allowed=False)
    refuse("an administrator has not allowed the endpoint house")
    assert not standin.hits


def set_price() -> None:
    Price.objects.create(
        endpoint=Endpoint.objects.get(),
        model="small",
        usd_per_million_in=1000,
        usd_per_million_out=2000,
        valid_from=date(2020, 1, 1),
    )


def test_nothing_is_sent_before_somebody_who_was_told_what_it_takes_has_approved(
    study: Study, standin: StandIn
) -> None:
    # Two prompts of 31 characters: 8 tokens each by four to a token, at most one a byte and 32 for the frame of a
    # message; one token back of each; at most each is asked twice.
    takes = "2 requests to be sent, about 16 tokens"
    assert measure(dry_run=True) == f"{study}: {takes}, cost unknown, since the model has no price\n"
    set_price()
    assert measure(dry_run=True) == f"{study}: {takes}, about $ 0.0200, at most $ 0.2600\n"
    with pytest.raises(CommandError, match="Nothing was sent: approve it with --yes"):
        measure(yes=False)
    assert not standin.hits

    measure()

    assert len(standin.hits) == 2
    assert "0 requests to be sent, about 0 tokens, about $ 0.0000, at most $ 0.0000; 2 values are" in measure(
        yes=False, metric="again"
    )


def test_what_could_cost_more_than_its_budget_or_nobody_knows_what_is_not_asked(study: Study, standin: StandIn) -> None:
    with pytest.raises(CommandError, match=r"house/small has no price, so that no budget can be kept; enter its price"):
        measure(budget=Decimal(1))
    set_price()
    with pytest.raises(CommandError, match=r"it could cost \$ 0.2600, more than the budget of \$ 0.2599"):
        measure(budget=Decimal("0.2599"))
    assert not standin.hits

    measure(budget=Decimal("0.26"))

    assert len(standin.hits) == 2
