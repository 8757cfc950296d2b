"""Novelty and near-copies beside a stored reference set: by hand, on the page, sealed, and where there is nothing."""

import csv
import io
from typing import Any

import numpy as np
import pytest
from django.test import Client

from judges.laboratory import embeddings, reference_sets
from judges.models import ReferenceSet
from reports import results
from reports.figures import all_figures
from studies import hashing
from studies.models import Story, Study
from tests import factories, triggers
from tests.factories import NOON
from tests.replay import replayed
from tests.reports import given

pytestmark = pytest.mark.django_db

TEXTS = {
    "p1s1": "The ferry stopped at noon and nobody asked why it had.",
    "p1s2": "She planted the last of the plums behind the old house.",
    "p2s1": "The ferry stopped at noon and everybody asked why.",
    "p2s2": "A letter came.",
}


@pytest.fixture
@replayed
def study() -> Study:
    study = given.closed_study()
    with triggers.lifted():
        for code, text in TEXTS.items():
            Story.objects.filter(study=study, code=code).update(text=text, sha256=hashing.sha256(text))
    reference_sets.store(study, "The study’s own stories", by="tests", at=NOON)
    return study


def test_novelty_is_the_distance_to_the_nearest_others(study: Study) -> None:
    (row,) = results.compute(study)["novelty"]

    rows = embeddings.find_embedding("tfidf-svd").vectors(list(TEXTS.values()))
    distances = 1 - rows @ rows.T
    np.fill_diagonal(distances, np.inf)
    assert [story["story"] for story in row["stories"]] == list(TEXTS)
    assert [story["distances"][0] for story in row["stories"]] == pytest.approx(distances.min(axis=1))
    assert [story["nearest"] for story in row["stories"]][:3:2] == ["p2s1", "p1s1"]
    overall, first, second = [mean for mean in row["means"] if mean["k"] == 1]
    assert overall["value"] == pytest.approx(distances.min(axis=1).mean())
    assert first["value"] == pytest.approx(distances.min(axis=1)[[0, 2]].mean())
    assert (first["source"], first["n"], second["n"]) == ("Source 1", 2, 2)
    too_few = [(mean["k"], mean["value"], mean["why"]["code"], mean["why"]["values"]["n"]) for mean in row["means"][3:]]
    assert too_few == [(k, None, "too_few_neighbours", 3) for k in (10, 25)]


def test_a_near_copy_is_named_with_the_story_that_has_it(study: Study) -> None:
    (row,) = results.compute(study)["near_copies"]

    # Eleven words make seven sequences of five; the first two stand in p2s1, which has nine words and five sequences.
    shares = {story["story"]: (story["nearest"], story["percent"]) for story in row["stories"]}
    assert shares["p1s1"] == ("p2s1", pytest.approx(100 * 2 / 7))
    assert shares["p2s1"] == ("p1s1", pytest.approx(100 * 2 / 5))
    assert shares["p1s2"] == ("", 0)
    assert shares["p2s2"] == ("", None)
    assert [(part["source"], part["n"], part["n_near"]) for part in row["by_source"]] == [
        ("", 3, 2),
        ("Source 1", 2, 2),
        ("Source 2", 1, 0),
    ]


def test_the_page_and_the_files_name_set_embedding_and_number(client: Client, study: Study) -> None:
    client.force_login(factories.staff("researcher"))

    page = " ".join(client.get("/reports/plums/figures/all/").text.split())

    short = ReferenceSet.objects.get().sha256[:12]
    assert "Novelty beside “The study’s own stories”" in page
    assert "nearest of 4 stories of plums, 0 for the same, by tfidf-svd, on shared words (version 3)." in page
    assert page.count(f"The set was stored as {short}.") == 2
    assert "p2s1: 40 % stands in p1s1" in page
    file = b"".join(client.get("/reports/plums/novelty-by-story.csv").streaming_content).decode()  # type: ignore[attr-defined]
    rows = list(csv.DictReader(io.StringIO(file)))
    assert next((row["story"], row["source"], row["n_references"]) for row in rows) == ("p1s1", "Source 1", "4")
    figure: Any = all_figures()["novelty"]
    text = " ".join(" ".join(figure.lines(results.read_results(results.compute(study)).figures["novelty"])).split())
    assert "Novelty beside “The study’s own stories”" in text
    assert "p2s1 Source 1 p1s1 .36" in text


def test_nothing_of_it_is_told_while_the_study_is_sealed_or_without_a_set(study: Study) -> None:
    Study.objects.update(state="live", closed_at=None)
    study.refresh_from_db()
    sealed = results.compute(study)
    assert (sealed["novelty"], sealed["near_copies"]) == ([], [])

    before = results.fingerprint(study)
    ReferenceSet.objects.all().delete()
    assert results.fingerprint(study) != before
    Study.objects.update(state="closed", closed_at=NOON)
    study.refresh_from_db()
    assert results.compute(study)["novelty"] == []


def test_an_embedding_that_gives_no_vectors_any_more_says_why(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings.all_kinds()["tfidf-svd"], "version", "of another day")

    (row,) = results.compute(study)["novelty"]

    assert row["means"] == row["stories"] == []
    assert row["why"]["code"] == "no_vectors"
    assert "version of another day by now" in row["why"]["values"]["why"]
