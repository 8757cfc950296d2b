"""A study for another tool: what it asks about single stories, and nothing of who wrote them."""

import io
import json
import zipfile
from xml.etree import ElementTree

import pytest
from django.contrib.admin.models import LogEntry
from django.db.models import CharField, Value
from django.db.models.functions import Concat
from django.test import Client

from studies.models import Provenance, Source, Step, Study
from studies.tool_exports import all_tools
from studies.tool_exports.files import write_for_tool
from tests import factories

pytestmark = pytest.mark.django_db


KINDS = {
    "scale": {"type": "scale", "settings": {"low": 1, "high": 5, "anchors": {"1": "Flat", "5": "Alive"}}},
    "several": {"type": "multi", "options": [{"value": "a", "label": "Aloud"}, {"value": "b", "label": "By & by"}]},
    "number": {"type": "number", "settings": {"low": 0, "high": 100}},
    "words": {"type": "text"},
    "passages": {"type": "spans"},
}


@pytest.fixture
def study() -> Study:
    """Four stories in two groups; a verdict with a reason, one item of each kind, an order."""
    study = factories.study(n_groups=2, n_stories=2, n_items=1, planned=False, state=Study.State.DRAFT)
    Source.objects.update(name=Concat(Value("CANARY "), "pk", output_field=CharField()))
    for position, (key, fields) in enumerate(KINDS.items(), start=9):
        Step.objects.create(
            version=study.versions.get(),
            position=position,
            key=key,
            kind="rating",
            title=key,
            instrument=factories.instrument(f"one-{key}", n_items=1, rationale="none", rationale_least=0, **fields),
            scope="story",
        )
    return study


def files(study: Study, tool: str) -> dict[str, str]:
    archive = zipfile.ZipFile(io.BytesIO(write_for_tool(study, all_tools()[tool])))
    return {name: archive.read(name).decode() for name in archive.namelist()}


def test_label_studio_has_a_control_for_each_question_and_a_task_for_each_story(study: Study) -> None:
    written = files(study, "label-studio")

    view = ElementTree.fromstring(written["labelling.xml"])
    controls = {tag.get("name"): tag for tag in view if tag.get("toName")}
    assert [(name, tag.tag, tag.get("choice")) for name, tag in controls.items()] == [
        ("tests.item-1", "Choices", "single"),
        ("tests.item-1.reason", "TextArea", None),
        ("scale.item-1", "Choices", "single"),
        ("several.item-1", "Choices", "multiple"),
        ("number.item-1", "Number", None),
        ("words.item-1", "TextArea", None),
    ]
    assert {tag.get("toName") for tag in controls.values()} == {view[0].get("name")}
    points = [(choice.get("alias"), choice.get("value")) for choice in controls["scale.item-1"]]
    assert points == [("1", "1 (Flat)"), ("2", "2"), ("3", "3"), ("4", "4"), ("5", "5 (Alive)")]
    assert [choice.get("value") for choice in controls["several.item-1"]] == ["Aloud", "By & by"]
    texts = [task["data"]["text"] for task in json.loads(written["tasks.json"])]
    assert texts == list(study.stories.order_by("code").values_list("text", flat=True))


def test_potato_has_a_scheme_for_each_question_and_a_line_for_each_story(study: Study) -> None:
    written = files(study, "potato")

    schemes = json.loads(written["config.yaml"])["annotation_schemes"]
    assert [(scheme["name"], scheme["annotation_type"]) for scheme in schemes] == [
        ("tests.item-1", "radio"),
        ("tests.item-1.reason", "text"),
        ("scale.item-1", "radio"),
        ("several.item-1", "multiselect"),
        ("number.item-1", "number"),
        ("words.item-1", "text"),
    ]
    assert (schemes[4]["min_value"], schemes[4]["max_value"]) == (0, 100)
    ids = [json.loads(line)["id"] for line in written["stories.jsonl"].splitlines()]
    assert len(set(ids)) == len(ids) == 4


@pytest.mark.parametrize("tool", all_tools())
def test_what_a_tool_is_not_told_is_named_and_no_source_is_told(study: Study, tool: str) -> None:
    Provenance.objects.filter(story__code="p1s1").update(title="CANARY title")
    study.stories.filter(code="p1s2").update(is_withheld=True, text="")

    written = files(study, tool)

    assert "CANARY" not in "".join(written.values())
    assert "about each of 3 stories" in written["README.md"]
    assert "- passages.item-1: its answers (spans) have no form there" in written["README.md"]
    assert "- ranking: no rating of single stories" in written["README.md"]


def test_who_took_a_study_along_is_logged(study: Study, admin_client: Client) -> None:
    response = admin_client.get(f"/studies/{study.slug}/for/potato.zip")

    assert response["Content-Disposition"] == f'attachment; filename="{study.slug}-potato.zip"'
    assert LogEntry.objects.get().change_message == "study written for potato"
    assert admin_client.get(f"/studies/{study.slug}/for/nothing.zip").status_code == 404
