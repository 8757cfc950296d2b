"""What explanations are like: counted by hand, and by who gave them, by source and by verdict."""

import io
from typing import Any

import pytest
from django.core.management import call_command

from annotation.models import Rater
from annotation.responses import Answer
from reports import results
from reports.dataset.explained_answers import measure
from studies.models import Study
from tests import triggers
from tests.reports import given

pytestmark = pytest.mark.embedded

TITLES = ("narrative pacing", "plot")


@pytest.mark.parametrize(
    ("rationale", "name", "value"),
    [
        ("One two  three", "words", 3),
        ("No mark at all", "sentences", 1),
        ("It works. Does it? Yes… it does!", "sentences", 4),
        ("It drops to 3.5 in the middle", "sentences", 1),
        ("I’m not sure", "first_person", 1),
        ("It is mine.", "first_person", 1),
        ("Time in Rome", "first_person", 0),
        ("The Plots thicken", "plot", 1),
        ("A plotted course", "plot", 0),
        ("She writes “the sea was glass” and stops", "quotes", 1),
        ('the word "glass"', "quotes", 1),
        ("It’s the writer’s own", "quotes", 0),
        ('An inch is 1"', "quotes", 0),
        ("The plot, and Narrative Pacing", "other_items", 2),
        ("Narrative pacings", "other_items", 0),
    ],
)
def test_a_feature_is_counted_as_by_hand(rationale: str, name: str, value: float) -> None:
    assert measure(rationale, TITLES, n_passages=0)[name] == value


def test_a_passage_marked_in_the_story_is_a_quotation() -> None:
    assert measure("As marked.", TITLES, n_passages=1)["quotes"] == 1


def explained_study() -> Study:
    study = given.closed_study()
    reasons = {"E01": "I like the plot. It moves.", "gpt": "First, look at it. Then decide. It fails."}
    rows = [
        given.Row(
            *("test", rater, f"plot{group}", f"p{group}s{n}", "tests", "item-1"),
            Answer(value="yes" if n == 1 else "no", rationale=reasons[rater]),
            kind=Rater.Kind.MODEL if rater == "gpt" else Rater.Kind.PERSON,
        )
        for rater in reasons
        for group in (1, 2)
        for n in (1, 2)
    ]
    given.bring(study, rows)
    return study


def parts_of(study: Study) -> dict[tuple[str, str, str], dict[str, Any]]:
    result = results.compute(study)["explanation_features"]
    return {(part["rater"], part["part"], part["of"]): part for part in result["parts"]}


@pytest.mark.django_db
def test_people_and_each_judge_are_told_apart_by_source_and_by_verdict() -> None:
    parts = parts_of(explained_study())

    assert {key: part["n"] for key, part in parts.items()} == {
        (rater, *part): n
        for rater in ("", "gpt")
        for part, n in {
            ("all", ""): 4,
            ("source", "Source 1"): 2,
            ("source", "Source 2"): 2,
            ("verdict", "yes"): 2,
            ("verdict", "no"): 2,
        }.items()
    }
    values = {rater: {f["feature"]: f["value"] for f in parts[rater, "all", ""]["features"]} for rater in ("", "gpt")}
    features = ("words", "sentences", "first_person", "plot", "quotes", "other_items")
    assert values[""] == dict(zip(features, (6, 2, 100, 100, 0, 0), strict=True))
    assert values["gpt"] == dict(zip(features, (8, 3, 0, 0, 0, 0), strict=True))


@pytest.mark.django_db
def test_words_of_english_are_not_looked_for_in_other_languages() -> None:
    study = explained_study()
    with triggers.lifted():
        Study.objects.update(language="pt-br")

    result = results.compute(Study.objects.get(pk=study.pk))["explanation_features"]

    assert result["names"] == ["words", "sentences", "quotes", "other_items"]
    assert {len(part["features"]) for part in result["parts"]} == {4}


@pytest.mark.django_db
def test_nothing_by_source_is_told_while_the_study_is_live() -> None:
    study = explained_study()
    assert ("", "source", "Source 1") in parts_of(study)
    Study.objects.update(state="live", closed_at=None)

    assert {part for _rater, part, _of in parts_of(Study.objects.get())} == {"all", "verdict"}


@pytest.mark.django_db
def test_the_page_names_who_explained_and_what_is_counted() -> None:
    explained_study()
    out = io.StringIO()
    call_command("report", "plums", stdout=out)

    words = out.getvalue().split("What are explanations like?")[1]
    assert "First person, %" in words
    assert "People" in words
    assert "gpt" in words
