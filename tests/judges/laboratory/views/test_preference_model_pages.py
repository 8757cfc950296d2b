"""The page of preference models: what it warns of, who may train, what a card says, and how one chooses."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.models import Assignment, Response
from judges.laboratory import preference_models, tasks
from judges.models import PreferenceModel
from tests import factories, triggers
from tests.factories import NOON
from tests.judges.laboratory.preference_models.test_preference_models import pairs, trained
from tests.judges.views.pages import page, words

pytestmark = pytest.mark.django_db
ADDRESS = "/studies/plums/judges/preference/"


def post(client: Client, values: dict[str, Any], role: str = "researcher") -> Any:
    client.force_login(User.objects.filter(username=role).first() or factories.staff(role))
    return client.post(ADDRESS, values, follow=True)


def test_a_model_is_asked_for_trained_by_a_worker_and_chooses(
    client: Client, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    pairs()
    queued: list[int] = []
    monkeypatch.setattr(preference_models, "queue", queued.append)

    with django_capture_on_commit_callbacks(execute=True):
        post(client, {"do": "train", "embedding": "tfidf-svd", "seed": "1"})
    model = PreferenceModel.objects.get()
    assert (queued, model.state, model.slug, model.created_by) == (
        [model.pk],
        "queued",
        "preference-plums",
        "researcher",
    )
    assert "It waits for a worker" in page(client, "researcher", ADDRESS)
    tasks.train_preference_model(model.pk)

    said = words(page(client, "researcher", ADDRESS))
    assert "a linear model is right in 61 %, the best zero-shot judge in 73 %" in said
    assert "about 56 % at 100 pairs" in said
    assert "It learnt from 15 pairs. Below 1,000 its choices say little." in said
    assert "Right, held-out pairs 100.0 %" in said
    assert "Control: shuffled preferences" in said
    html = post(client, {"do": "answer", "model": model.pk}).content.decode()
    assert "It chose in 5 pairs. 15 were left out: it learnt from their texts or prompt." in html
    assert Response.objects.filter(assignment__rater__code="preference-plums").count() == 5
    assert "It has chosen in pairs of this study" in html


def test_a_model_of_votes_that_were_withdrawn_since_is_said_to_hold_them_still(client: Client) -> None:
    trained(pairs())
    words_of_warning = "Its weights still reflect the old ones. Train a new model."
    assert words_of_warning not in words(page(client, "researcher", ADDRESS))

    with triggers.lifted():
        Assignment.objects.filter(pk=Assignment.objects.order_by("pk")[0].pk).update(status="withdrawn")

    assert words_of_warning in words(page(client, "researcher", ADDRESS))


def test_results_are_for_whoever_reads_reports_and_training_for_whoever_starts_runs(client: Client) -> None:
    trained(pairs())

    assert "Right, held-out pairs" in page(client, "researcher", ADDRESS)
    html = page(client, "coordinator", ADDRESS)

    assert "Train a model" not in html
    assert "Let it choose" not in html
    assert post(client, {"do": "train"}, role="coordinator").status_code == 403


def test_what_cannot_be_is_said_where_it_was_asked(client: Client) -> None:
    pairs(n=6)

    response = post(client, {"do": "train", "embedding": "word2vec", "seed": "0"})

    assert response.status_code == 400
    assert "“word2vec” is not an embedding; there are" in response.content.decode()
    assert not PreferenceModel.objects.exists()


def test_a_study_without_votes_says_so_and_a_failed_model_why(client: Client) -> None:
    study = pairs(n=6, n_unread=6)
    model = preference_models.request(study, embedding="tfidf-svd", seed=0, at=NOON, by="ann")
    tasks.train_preference_model(model.pk)

    html = page(client, "researcher", ADDRESS)

    assert html.count("People have preferred no story in the pairs of “plums” yet, so nothing can be learned.") == 2
    assert "Train a model" not in html


def test_another_studys_model_is_neither_listed_nor_used(client: Client) -> None:
    model = trained(pairs("pears"))
    pairs(n=6)

    assert "taste" not in page(client, "researcher", ADDRESS)
    assert post(client, {"do": "answer", "model": model.pk}).status_code == 404


@pytest.mark.parametrize("n_models", [1, 3])
def test_the_page_asks_as_much_of_the_database_for_three_models_as_for_one(
    client: Client, n_models: int, django_assert_num_queries: Any
) -> None:
    study = pairs(n=6)
    client.force_login(factories.staff("researcher"))
    for _model in range(n_models):
        preference_models.request(study, embedding="tfidf-svd", seed=0, at=NOON, by="ann")

    with django_assert_num_queries(12):
        client.get(ADDRESS)
