"""Surprise by a language model: what an endpoint is asked, what of its reply counts, and what it may not give."""

import io
import json
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Response
from judges.models import Endpoint, Price, ScoreCard, TextVector
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
        name="house", base_url=standin.base_url, key_variable="STANDIN_API_KEY", is_allowed=True, is_outside=False
    )
    return made


def measure(*, yes: bool = True, **options: Any) -> str:
    out = io.StringIO()
    call_command("measure_surprise", "plums", yes=yes, **{"model": "house/small"} | options, stdout=out)
    return out.getvalue()


def told(*logprobs: float | None, tokens: Sequence[str] = ("On a ferry", "\n\n", "It rained", " all noon.")) -> Reply:
    """Log-probabilities of tokens, from which it is read where each begins."""
    return Reply(json.dumps({"choices": [{"logprobs": {"tokens": tokens, "token_logprobs": logprobs}}]}))


def told_places(*logprobs: float | None, model: str = "small") -> Reply:
    """The same with the place of each, so that how a token is spelt does not matter."""
    logs = {"tokens": ["?"] * 4, "token_logprobs": logprobs, "text_offset": [0, 10, 12, 21]}
    return Reply(json.dumps({"model": model, "choices": [{"logprobs": logs}]}))


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
    standin.script = [told(None, -9, -2, -0.5), orders.OVERLOADED]

    with pytest.raises(CommandError, match="house/small: The provider is overloaded"):
        measure()

    assert not ScoreCard.objects.exists()
    assert TextVector.objects.count() == 1
    n_before = len(standin.hits)
    measure()
    assert len(standin.hits) == n_before + 1


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (Reply(json.dumps({"choices": [{"text": "", "logprobs": None}]})), "use a server that echoes them, as vLLM"),
        (told(None, -9, None, -1), "use a server that echoes them"),
        (told(None, -9, 5, -1), "use a server that echoes them"),
        (told(None, -9, -1, -1, tokens=["Other", " words", " than", " asked"]), "use a server that echoes them"),
        (told_places(None, -9, -1, -1, model="large"), "another model answered than was asked: large"),
        (orders.GARBAGE, "use a server that echoes them"),
        (Reply('{"error": {"message": "no such route"}}', status=404), "no such route"),
        (orders.NO_KEY, "does not accept the key"),
    ],
)
def test_an_endpoint_that_gives_no_log_probabilities_is_said_to(
    study: Study, standin: StandIn, reply: Reply, sentence: str
) -> None:
    standin.script = [reply]

    with pytest.raises(CommandError, match=sentence):
        measure()
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
    refuse("gives no log-probabilities of a text")
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
    # Two prompts of 31 characters, 8 tokens each by four to a token and 16 by two bytes, and one token back of each.
    takes = "2 requests to be sent, about 16 tokens"
    assert measure(dry_run=True) == f"{study}: {takes}, cost unknown, since the model has no price\n"
    set_price()
    assert measure(dry_run=True) == f"{study}: {takes}, about $ 0.0200, at most $ 0.0360\n"
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
    with pytest.raises(CommandError, match=r"it could cost \$ 0.0360, more than the budget of \$ 0.0359"):
        measure(budget=Decimal("0.0359"))
    assert not standin.hits

    measure(budget=Decimal("0.036"))

    assert len(standin.hits) == 2
