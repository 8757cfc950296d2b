"""Embeddings by an endpoint: what is sent, what of it is kept, and what is refused."""

import json
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from django.test import Client

from annotation.models import Rater
from judges.laboratory.embeddings import CannotEmbed, Embedding, Occasion, endpoint, find_embedding
from judges.models import Call, Endpoint, Parse, Price, Run, Text, TextVector
from judges.requests import texts
from judges.settlement import erasure
from studies import hashing
from studies.models import Provenance, Study
from tests import factories
from tests.judges import standin as orders
from tests.judges.standin import Reply, StandIn
from tests.judges.standin.vectors import vector

TEXTS = ["The ferry stopped at noon.", "The ferry stopped at night.", "Nobody asked why it rained."]


def endpoint_at(standin: StandIn, **changes: Any) -> Endpoint:
    fields = {"base_url": standin.base_url, "key_variable": "STANDIN_API_KEY", "is_allowed": True, "is_outside": False}
    return Endpoint.objects.create(name="house", **(fields | changes))


def remote(name: str = "endpoint:house/small", **options: Any) -> Embedding:
    """The embedding, asked for by somebody for a study."""
    return find_embedding(name, occasion=Occasion(Study.objects.first() or factories.study(), "ada"), **options)


@pytest.mark.django_db
def test_an_endpoints_vectors_are_asked_for_once_and_kept(standin: StandIn) -> None:
    endpoint_at(standin)
    embedding = remote()

    rows = embedding.vectors([*TEXTS, TEXTS[0]])

    expected = np.array([vector(text) for text in TEXTS])
    np.testing.assert_allclose(rows[:3], expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=1e-5)
    (hit,) = standin.hits
    assert hit.body == {"model": "small", "input": TEXTS, "encoding_format": "float"}
    np.testing.assert_array_equal(embedding.vectors(TEXTS), rows[:3])
    assert len(standin.hits) == 1
    assert embedding.find_missing([*TEXTS, "Another."]) == ["Another."]
    assert set(TextVector.objects.values_list("sha256", flat=True)) == {hashing.sha256(text) for text in TEXTS}


@pytest.mark.django_db
def test_what_came_back_is_kept_where_a_later_request_fails(standin: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "CHUNKS_A_REQUEST", 1)
    endpoint_at(standin, n_at_once=1)
    standin.script = [vectors_reply([1, 2]), *[orders.NO_KEY] * 3]

    with pytest.raises(CannotEmbed, match=r"endpoint:house/small: .* rejects it.*ask again to continue"):
        remote().vectors(TEXTS)

    assert TextVector.objects.count() == 1
    standin.script = [vectors_reply([2, 2]), vectors_reply([3, 2])]
    n_hits = len(standin.hits)
    assert len(remote().vectors(TEXTS)) == 3
    assert len(standin.hits) == n_hits + 2
    assert Run.objects.get().state == Run.State.FINISHED


@pytest.mark.django_db
def test_every_request_is_a_call_with_its_attempt_its_body_and_its_cost(standin: StandIn) -> None:
    row = endpoint_at(standin)
    Price.objects.create(
        endpoint=row, model="small", usd_per_million_in=1000, usd_per_million_out=0, valid_from=date(2020, 1, 1)
    )

    remote().vectors(TEXTS)

    run = Run.objects.get()
    assert (run.approved_by, run.n_planned, run.state) == ("ada", 1, Run.State.FINISHED)
    call = run.calls.get()
    assert (call.kind, call.state) == ("embed", "ok")
    assert [message["content"] for message in texts.render(call.request)["messages"]] == TEXTS
    n_words = sum(len(text.split()) for text in TEXTS)
    attempt = call.attempts.get()
    assert (attempt.n_tokens_in, attempt.n_tokens_out, attempt.cost) == (n_words, 0, Decimal(n_words) / 1000)
    assert '"embedding"' in attempt.body
    assert Parse.objects.get().values == {"n_vectors": 3, "n_numbers": 8}
    assert not Rater.objects.filter(kind="model").exists()


@pytest.mark.django_db
def test_without_a_study_nothing_is_sent_and_the_message_says_how(standin: StandIn) -> None:
    endpoint_at(standin)

    with pytest.raises(CannotEmbed, match=r"3 texts have no vector yet.*train_preference --run-in STUDY"):
        find_embedding("endpoint:house/small").vectors(TEXTS)
    assert standin.hits == []


def vectors_reply(*rows: list[float], model: str = "small") -> Reply:
    data = [{"index": n, "embedding": row} for n, row in enumerate(rows)]
    return Reply(json.dumps({"model": model, "data": data}))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (vectors_reply([1, 2]), "not hold a vector for each of the 3 texts"),
        (vectors_reply([1], [2], [float("nan")]), "not hold a vector for each of the 3 texts"),
        (orders.GARBAGE, "not hold a vector for each of the 3 texts"),
        (orders.NO_KEY, "rejects it"),
        (vectors_reply([1], [2], [3], model="large"), "another model answered than was asked: large"),
        (vectors_reply([1], [1, 2], [1, 2, 3]), "the vectors have 1, 2, 3 numbers, and cannot be compared"),
        (vectors_reply([0], [1], [1]), "a vector is without a direction"),
    ],
)
def test_a_reply_that_holds_no_vectors_says_so_and_nothing_is_kept(
    standin: StandIn, reply: Reply, sentence: str
) -> None:
    endpoint_at(standin)
    standin.script = [reply] * 6

    with pytest.raises(CannotEmbed, match=sentence):
        remote().vectors(TEXTS)
    assert not TextVector.objects.exists()


@pytest.mark.django_db
def test_vectors_of_another_size_than_those_kept_are_refused(standin: StandIn) -> None:
    endpoint_at(standin)
    remote().vectors(TEXTS[:1])
    standin.script = [vectors_reply([1, 2])] * 2

    with pytest.raises(CannotEmbed, match="the vectors have 2, 8 numbers"):
        remote().vectors(TEXTS[:2])


@pytest.mark.django_db
def test_an_endpoint_that_is_unknown_or_not_allowed_is_refused(standin: StandIn) -> None:
    endpoint_at(standin, is_allowed=False)

    with pytest.raises(CannotEmbed, match="has not allowed the endpoint house"):
        remote().vectors(TEXTS)
    with pytest.raises(CannotEmbed, match=r"names no endpoint with a model: write endpoint:ENDPOINT/MODEL; .*: house"):
        remote("endpoint:home/small").vectors(TEXTS)
    assert standin.hits == []


@pytest.mark.django_db
def test_only_texts_that_may_leave_go_to_an_outside_endpoint(standin: StandIn, study: Study) -> None:
    endpoint_at(standin, is_outside=True)
    texts = list(study.stories.values_list("text", flat=True))
    released = Provenance.objects.filter(story__study=study)
    released.update(may_send_out=True)
    released.filter(story__text=texts[0]).update(may_send_out=False)
    embedding = remote(may_send_out=True)

    with pytest.raises(CannotEmbed, match="1 text is not marked as free to be sent to an outside provider"):
        embedding.vectors(texts)
    with pytest.raises(CannotEmbed, match="3 texts are not marked"):
        remote().vectors(TEXTS)
    assert standin.hits == []

    assert len(embedding.vectors([*texts[1:], *TEXTS])) == len(texts) - 1 + 3


@pytest.mark.django_db
def test_erasing_a_story_reaches_the_vectors_of_its_text(standin: StandIn, study: Study) -> None:
    endpoint_at(standin)
    first, second = study.stories.order_by("code")[:2]
    remote().vectors([first.text, second.text, "What it was before an edit."])

    (call,) = Call.objects.all()
    stored = texts.hashes_of(call.request)
    erasure.empty_calls([first.pk])

    call.refresh_from_db()
    assert (call.request, call.attempts.get().body) == ({}, "")
    assert set(Text.objects.filter(pk__in=stored).values_list("content", flat=True)) == {""}
    assert list(TextVector.objects.values_list("sha256", flat=True)) == [second.sha256]


@pytest.mark.django_db
def test_its_pages_speak_of_requests_and_texts_and_not_of_questions(client: Client, standin: StandIn) -> None:
    endpoint_at(standin)
    remote().vectors(TEXTS)
    run = Run.objects.get()
    client.force_login(factories.staff("researcher"))
    where = f"/studies/{run.study.slug}/runs/{run.pk}/"

    page, listing, call = (
        " ".join(client.get(address).content.decode().split())
        for address in (where, f"{where}calls/", f"{where}calls/{run.calls.get().pk}/")
    )

    assert "Finished: 1 of 1 request is answered" in page
    assert "> 3 texts </a>" in page
    assert "> 3 texts </a>" in listing
    assert "Numbers, not words; see Details." in call
