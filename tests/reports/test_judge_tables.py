"""Vectors, neighbours and scores of ideas are in a package with sources alone, vectors only beside their texts."""

import csv
import io
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from studies.models import Provenance, Study
from tests import triggers
from tests.independent.comparison import recomputed
from tests.reports import judge_readings
from tests.reports.packaged import MAKERS, study_of_probabilities
from tests.reports.test_packages import issued

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
OF_SOURCES = {"cloze": "fill_vectors.csv", "references": "neighbours.csv", "nsv": "idea_scores.csv"}


def rows(package: ZipFile, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(package.read(name).decode(), newline="")))


def made(name: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> Study:
    return MAKERS[name](monkeypatch, folder)


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_SOURCES)
def test_what_tells_of_a_source_is_in_no_blind_package(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    study = made(name, monkeypatch, tmp_path)

    with_sources = issued(study, with_sources=True, reason="To see that they are there.")[1]
    blind = issued(study)[1]

    assert len(rows(with_sources, OF_SOURCES[name])) > 5
    assert rows(blind, OF_SOURCES[name]) == []


def test_vectors_of_texts_that_may_not_travel_are_in_no_public_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    study = made("cloze", monkeypatch, tmp_path)
    with triggers.lifted():
        free = Provenance.objects.filter(story__study=study).order_by("pk")[0]
        Provenance.objects.filter(pk=free.pk).update(may_redistribute=True)
        Provenance.objects.filter(story__study=study).exclude(pk=free.pk).update(may_redistribute=False)

    package = issued(study, with_sources=True, is_public=True, reason="To publish it.")[1]

    assert {row["story"] for row in rows(package, "fill_vectors.csv")} == {free.story.code}
    result: dict[str, Any] = recomputed(package, tmp_path)
    assert result["differences"] == []
    surprise = result["figures"]["cloze_surprise"]
    assert surprise["others"]["texts.raw"] == 40
    assert "not in this package" in surprise["why"]["texts.raw"]
    assert result["figures"]["cloze_scores"]["others"] == {}  # from the distances in the report


def test_judges_stand_with_model_and_prompt_and_scores_with_their_direction(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    judges = rows(issued(made("wordings", monkeypatch, tmp_path))[1], "judge_runs.csv")

    assert [row["rater"] for row in judges] == ["another", "masked", "wording-1", "wording-2", "wording-3"]
    assert len({row["prompt"] for row in judges[2:]}) == 3
    assert len({(row["endpoint"], row["model"], row["parameters"]) for row in judges[2:]}) == 1
    assert [row["personas"] for row in judges[:3]] == ["", "planted 1", ""]


def test_probabilities_are_of_readings_of_stories_as_they_are() -> None:
    study = study_of_probabilities()
    before = rows(issued(study)[1], "judge_probabilities.csv")
    run, yes = study.runs.get(), ("tests", "item-1", "p01s1")
    work = judge_readings.read(run, "plot01", {yes: "yes"}, intervention="title-1")
    judge_readings.grade(run, work, {yes: {"yes": 1.0, "no": 0.0}})

    after = issued(study)[1]

    assert rows(after, "judge_probabilities.csv") == before
    assert "altered" in {row["status"] for row in rows(after, "responses_long.csv")}


def test_scores_from_elsewhere_stand_with_what_is_better(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    scores = rows(issued(made("scores", monkeypatch, tmp_path))[1], "judge_runs.csv")

    assert [(row["rater"], row["is_run"], row["better"], row["about"]) for row in scores] == [
        ("distance-1", "False", "lower", "stories"),
        ("of-pairs-1", "False", "higher", "pairs"),
        ("reward-1", "False", "higher", "stories"),
    ]
