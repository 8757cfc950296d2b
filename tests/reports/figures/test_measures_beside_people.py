"""Scores from elsewhere beside people, by hand: six stories in three pairs, their verdicts and their choices."""

from math import sqrt
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from reports import results
from studies.models import Study
from tests import factories
from tests.replay import replayed
from tests.reports import given
from tests.reports.test_preferences import CHOSEN, FIRST, choices, paired

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

# Shares of Yes are 100, 0, 50, 0, 100, 50.
VERDICTS = {"V1": "ynynyn", "V2": "ynnnyy"}
SCORES = "story,value\np1s1,3\np1s2,1\np2s1,2\np2s2,1\np3s1,2.5\np3s2,0.5\n"
RHO, TAU = 12 / sqrt(272), 8 / sqrt(168)


@pytest.fixture
@replayed
def study() -> Study:
    """Most prefer the first story of pairs 1 and 3; of pair 2 two of four do."""
    study = paired()
    choices(study, CHOSEN, FIRST)
    given.verdicts(study, VERDICTS)
    return study


def score(tmp_path: Path, content: str, metric: str = "reward", **options: Any) -> None:
    (tmp_path / "scores.csv").write_text(content)
    call_command("import_scores", "plums", tmp_path / "scores.csv", metric=metric, scored_by="Us", **options)


def test_coefficients_and_pairs_are_those_by_hand(study: Study, tmp_path: Path) -> None:
    score(tmp_path, SCORES)

    result = results.compute(study)["measures_beside_people"]

    (measure,) = result["measures"]
    assert (measure["metric"], measure["better"], measure["scored_by"], result["has_people"]) == (
        *("reward-1", "higher", "Us"),
        True,
    )
    row = next(row for row in measure["correlations"] if row["outcome"] == "tests/item-1")
    assert (row["n"], row["n_tied"], row["n_tied_people"]) == (6, 2, 6)
    rho, tau = row["coefficients"]
    assert (rho["value"], tau["value"]) == (pytest.approx(RHO), pytest.approx(TAU))
    assert rho["interval"]["n_resampled"] == 3
    assert rho["floor"]["mean"] == pytest.approx(0, abs=0.1)
    (pairs,) = measure["accuracies"]
    assert (pairs["value"], pairs["n"], pairs["n_tied"], pairs["floor"]["mean"]) == (
        *(100.0, 2, 0),
        pytest.approx(50, abs=5),
    )


def test_a_score_of_which_lower_is_better_is_turned(study: Study, tmp_path: Path) -> None:
    score(tmp_path, SCORES, better="lower")

    (measure,) = results.compute(study)["measures_beside_people"]["measures"]

    row = next(row for row in measure["correlations"] if row["outcome"] == "tests/item-1")
    assert [part["value"] for part in row["coefficients"]] == [pytest.approx(-RHO), pytest.approx(-TAU)]
    assert measure["accuracies"][0]["value"] == 0.0


def test_a_score_of_pairs_stands_beside_choices_alone(study: Study, tmp_path: Path) -> None:
    score(tmp_path, "first,second,value\np1s2,p1s1,-2\np2s1,p2s2,1\np3s1,p3s2,0\n")

    report = results.compute(study)

    (measure,) = report["measures_beside_people"]["measures"]
    assert measure["correlations"] == []
    assert (measure["accuracies"][0]["value"], measure["accuracies"][0]["n_tied"]) == (75.0, 1)
    assert report["measures"] == []


def test_without_people_it_says_so_and_while_live_or_blind_there_is_nothing(tmp_path: Path, client: Client) -> None:
    study = given.closed_study()
    score(tmp_path, "story,value\np1s1,3\np1s2,1\np2s1,2\np2s2,1\n")
    client.force_login(factories.staff("researcher"))

    page = client.get("/reports/plums/figures/all/").content.decode()

    assert "No person has answered anything about these stories yet" in page
    assert results.compute(study, blind=True)["measures_beside_people"] is None
    Study.objects.update(state="live", closed_at=None)
    assert results.compute(Study.objects.get())["measures_beside_people"] is None
    assert "measures-people-h" not in client.get("/reports/plums/figures/all/").content.decode()
