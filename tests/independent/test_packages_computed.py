"""What a package holds is enough to find the numbers of its report again, and a wrong number is found."""

import json
from functools import reduce
from io import StringIO
from operator import getitem
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from django.core.management import call_command

from reports.export import issues
from stats import variance_components
from studies.models import Study
from tests.independent import variance
from tests.independent.comparison import compare, recomputed
from tests.reports import given
from tests.reports.planted import plant
from tests.reports.test_packages import issued
from tests.reports.test_pages import full_study

pytestmark = pytest.mark.django_db


@pytest.mark.embedded
def test_what_is_not_asked_for_is_not_there_and_the_script_runs_all_the_same(tmp_path: Path) -> None:
    study = full_study()

    _package, archive = issued(study, left_out=["events.csv", "judge_calls.jsonl", "timings.csv"])

    assert not {"events.csv", "judge_calls.jsonl", "timings.csv"} & set(archive.namelist())
    assert recomputed(archive, tmp_path)["differences"] == []
    with pytest.raises(issues.CannotIssue):
        issues.ask(study, by="somebody", left_out=["responses_long.csv"])


@pytest.mark.embedded
def test_the_script_finds_every_number_about_people_and_their_intervals(tmp_path: Path) -> None:
    _package, archive = issued(full_study(), with_sources=True, reason="To compute them anew.")

    result = recomputed(archive, tmp_path)

    assert result["differences"] == []
    assert result["n_computed"] > 100
    assert result["n_intervals"] > 10


@pytest.mark.slow
def test_the_script_finds_every_number_of_judges_beside_people(tmp_path: Path) -> None:
    _package, archive = issued(plant().study, with_sources=True, reason="To compute them anew.")

    result = recomputed(archive, tmp_path)

    assert result["differences"] == []
    assert result["n_computed"] > 500
    assert all(figure["n_computed"] for name, figure in result["figures"].items() if name.startswith("judges_on"))


@pytest.mark.embedded
@pytest.mark.parametrize(
    ("place", "label"),
    [
        (("pass_rates", "items", 0, "overall", "value"), "pass_rates/tests/item-1/.value"),
        (("variance_components", 0, "sources", 0, "wide", "high"), "/wide.high"),
    ],
)
def test_the_script_would_find_a_number_that_is_wrong(place: tuple[str | int, ...], label: str, tmp_path: Path) -> None:
    study = given.closed_study(n_groups=4)
    given.verdicts(study, {"E01": "yynyynyn", "E02": "ynynyyyn"})
    _package, archive = issued(study, with_sources=True, reason="To compute them anew.")
    archive.extractall(tmp_path)
    report = json.loads((tmp_path / "report.json").read_text())
    row: Any = reduce(getitem, place[:-1], report)  # type: ignore[arg-type]
    row[place[-1]] += 1e-6
    (tmp_path / "report.json").write_text(json.dumps(report))

    differences = compare(tmp_path)["differences"]

    assert [row["place"] for row in differences if label in row["place"]] != []


def test_a_rating_weighs_once_in_its_raters_mean_of_a_cluster_however_many_rated_the_story() -> None:
    # Two stories on one premise, of which B reads only the first: 4 and 2 by A are 3, not (4 + 4 + 2) / 3.
    rows = [("A", "g1", "s1", "p", 4.0), ("B", "g1", "s1", "p", 5.0), ("A", "g2", "s2", "p", 2.0)]
    rows += [(rater, "g3", "s3", "q", 1.0) for rater in "AB"]
    ratings = pd.DataFrame(rows, columns=["rater", "group", "story", "cluster", "number"])

    of_package = variance.cell_means(ratings, ratings)

    values = np.array([[4, 2, 1], [5, np.nan, 1]])
    of_report = variance_components.cell_means(values, np.array([0, 0, 1]), np.ones(3, dtype=np.bool_))
    assert of_package.to_numpy().tolist() == of_report.tolist() == [[3, 1], [5, 1]]


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize(("name", "n"), [("ttcw", 7508), ("quiet", 923)])
def test_the_script_finds_the_numbers_of_a_public_release(name: str, n: int, release: Path, tmp_path: Path) -> None:
    call_command("replicate", name, data=release / name, stdout=StringIO(), stderr=StringIO())
    study = Study.objects.get()

    _package, archive = issued(study, with_sources=True, reason="To compute them anew.")
    result: dict[str, Any] = recomputed(archive, tmp_path)

    assert result["differences"] == []
    assert result["n_computed"] >= n
    # Places and checks by log odds have no second formula.
    others = {f"{name}.{place}" for name, figure in result["figures"].items() for place in figure["others"]}
    assert {place.partition(".")[0] for place in others} <= {"progress", "comparisons"}
    assert all(".checks." in place for place in others if place.startswith("comparisons."))
