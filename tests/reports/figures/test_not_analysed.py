"""Answers of judges that no figure analyses are named, at every kind of item and of judge, and no others."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from annotation.models import Rater
from annotation.responses import Answer
from annotation.responses.imports import Row
from reports import results
from studies.items import all_types
from studies.models import Step, Study
from tests import factories
from tests.annotation import clozes
from tests.reports import given
from tests.reports.test_cloze import model as fill_as_model
from tests.studies.cloze.documents import FILLS

pytestmark = pytest.mark.django_db
# Counts of answers and costs of requests name every judge, whatever it answered.
COUNTS = ("progress", "judge_costs")
VALUES = {
    "binary": "yes",
    "choice": "expert",
    "multi": ["plot"],
    "number": 3,
    "pair": "p1s1",
    "ranking": "p1s2 > p1s1",
    "scale": 4,
    "text": "The last line did.",
}
# What models answer to these stands in figures; of what metrics answer in their place, choices in pairs alone.
OF_MODELS = {
    *("binary about a story", "choice about a story", "number about a story", "scale about a story"),
    *("pair about a group", "ranking about a group"),
}


def steps() -> Iterator[tuple[str, str, str]]:
    """Every type of item about a story and about a group: key of the step, type, scope."""
    for name, kind in all_types().items():
        for scope in ("group",) if kind.about_stories else ("story", "group"):
            yield f"{name}-{scope}", name, scope


def study_of_every_kind() -> Study:
    study = factories.study(n_stories=2, comparative=False, planned=False, state="draft")
    version = study.versions.get()
    version.steps.filter(key="tests").delete()
    for position, (key, name, scope) in enumerate(steps(), start=2):
        example = all_types()[name].example["item"]
        fields = {part: example[part] for part in ("options", "settings") if part in example}
        instrument = factories.instrument(
            f"p-{key}", n_items=1, type=name, rationale="none", rationale_least=0, **fields
        )
        Step.objects.create(
            version=version, position=position, key=key, kind="rating", title=key, instrument=instrument, scope=scope
        )
    factories.plan(study)
    study.seats.all().delete()
    study.state, study.closed_at = "closed", factories.NOON
    study.save()
    return study


def rows(study: Study, rater: str, kind: str, key: str, name: str, scope: str) -> Iterator[Row]:
    for story in study.stories.order_by("code").values_list("code", flat=True) if scope == "story" else [""]:
        about = story or "p1s1"
        passage = {"story": about, "paragraph": 1, "text": f"The {about} began."}
        value: Any = [passage] if name == "spans" else VALUES[name]
        yield Row("test", rater, "plot1", story, key, "item-1", Answer(value=value), kind)


def test_answers_are_named_if_and_only_if_no_figure_names_their_judge() -> None:
    study = study_of_every_kind()
    cases = [(f"{kind} {key}", kind, key, name, scope) for key, name, scope in steps() for kind in ("model", "metric")]
    for rater in ("E01", "E02"):
        given.bring(study, [row for s in steps() for row in rows(study, rater, Rater.Kind.PERSON, *s)])
    for judge, kind, *step in cases:
        given.bring(study, list(rows(study, judge.replace(" ", "-"), kind, *step)))

    document = results.compute(study)

    named = {row["judge"].replace("-", " ", 1) for row in document["judges"].pop("not_analysed")}
    figures = json.dumps({key: figure for key, figure in document.items() if key not in COUNTS})
    in_figures = {judge for judge, *_case in cases if f'"{judge.replace(" ", "-")}"' in figures}
    assert in_figures == {
        *(f"model {name}-{scope}" for _key, name, scope in steps() if f"{name} about a {scope}" in OF_MODELS),
        "metric pair-group",
    }
    assert named == {judge for judge, *_case in cases} - in_figures


def test_blanks_that_models_fill_stand_with_who_filled_them() -> None:
    study = clozes.study()
    fill_as_model(study, "gpt", FILLS)
    Study.objects.filter(pk=study.pk).update(state="closed")
    study.refresh_from_db()

    document = results.compute(study)

    assert [writer["rater"] for writer in document["cloze"]["writers"]] == ["gpt"]
    assert document["judges"] == {"compared": [], "not_analysed": []}


def test_a_judge_that_refuses_every_group_stands_there_with_what_is_lost() -> None:
    study = given.closed_study(n_groups=2)
    lost = {"declined": 1, "unreadable": 1, "missing": 0, "expected": 2, "answered": 0}
    for kind, group in (("declined", "plot1"), ("unreadable", "plot2")):
        given.bring(study, [Row("test", "gpt", group, "", "ranking", "item-1", Answer(outcome=kind), "model")])

    document = results.compute(study)

    (row,) = document["judges_on_rankings"]
    assert (row["judge"], {name: row["outcomes"][name] for name in lost}) == ("gpt", lost)
    assert all("why" in part for score in row["scores"] for part in score["parts"])
    assert document["judges"]["not_analysed"] == []
