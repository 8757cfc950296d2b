"""Dawid–Skene beside the majority, raters to ask, and what missing answers leave open: on planted verdicts."""

from typing import Any

import numpy as np
import pytest
from django.db import transaction

from reports import results
from reports.figures import all_figures
from reports.page.statements import statement_lines
from tests.reports import given

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

N_STORIES = 60


def planted() -> dict[str, str]:
    """Of six raters who mostly see what is there, E06 says Yes to everything and E01 leaves out the first story."""
    rng = np.random.default_rng(8)
    truth = rng.random(N_STORIES) < 0.5
    letters = {
        f"E0{n}": "".join("y" if is_yes else "n" for is_yes in np.where(rng.random(N_STORIES) < 0.85, truth, ~truth))
        for n in range(1, 6)
    }
    return letters | {"E01": "-" + letters["E01"][1:], "E06": "y" * N_STORIES}


@pytest.fixture(scope="module")
def document(django_db_setup: None, django_db_blocker: Any) -> Any:
    with django_db_blocker.unblock(), transaction.atomic():
        study = given.closed_study(n_groups=N_STORIES // 2)
        given.verdicts(study, planted())
        document = results.compute(study)
        transaction.set_rollback(True)
    return document


def test_each_answer_by_the_model_stands_beside_the_majority(document: Any) -> None:
    (row,) = document["dawid_skene"]["answers"]
    votes = np.array([[letter == "y" for letter in letters] for letters in planted().values()], dtype=float)
    votes[0, 0] = np.nan
    shares = np.nanmean(votes, axis=0)

    assert (row["n"], row["n_raters"], row["option"]) == (N_STORIES, 6, "yes")
    assert row["n_majority"] == (shares != 0.5).sum() < N_STORIES
    assert row["majority_percent"] == pytest.approx(100 * (shares[shares != 0.5] > 0.5).mean())
    assert row["n_differ"] <= (np.abs(shares - 0.5) < 0.2).sum()
    by_rater = {(part["rater"], part["option"]): part["value"] for part in document["dawid_skene"]["raters"]}
    assert by_rater["E06", "yes"] > 95
    assert by_rater["E06", "no"] < 10
    assert min(by_rater[f"E0{n}", option] for n in range(1, 6) for option in ("yes", "no")) > 60


def test_who_says_yes_to_all_is_named_as_a_question_and_nobody_else(document: Any) -> None:
    rows = document["rater_questions"]["rows"]
    lines = statement_lines(results.read_results(document))

    assert {row["rater"] for row in rows} == {"E06"}
    assert [(row["value"], row["n_answers"]) for row in rows if row["sign"] == "same_answer"] == [(1.0, N_STORIES)]
    (own,) = [line for line in lines if line.key == "rater_questions"]
    assert "E06" in own.statement.sentence
    assert own.statement.sentence.endswith("?")
    assert own.statement.claims == ()


def test_a_missing_answer_widens_the_bounds_of_its_source_alone(document: Any) -> None:
    rows = {row["source"]: row for row in document["missing_answers"]["bounds"] if row["outcome"] == "tests/item-1"}
    first = rows.pop("Source 1")

    assert (first["n_missing"], first["n_expected"]) == (1, 6 * N_STORIES // 2)
    assert first["high"] - first["low"] == pytest.approx(100 / 6 / (N_STORIES // 2))
    assert first["low"] < first["value"] < first["high"]
    for row in rows.values():
        assert row["n_missing"] == 0
        assert row["low"] == row["high"] == pytest.approx(row["value"])


def test_nothing_is_said_of_bounds_by_source_while_the_study_is_sealed(document: Any) -> None:
    assert not all_figures()["missing_answers"].is_shown_sealed
