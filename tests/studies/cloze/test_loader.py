"""Clozes in the database: loaded once, published for good, and named by a study folder."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from studies import loader, protocol
from studies.documents.errors import DocumentError
from studies.models import Cloze, Instrument, Step, Study
from studies.publication import AlreadyPublished, explain_published
from tests.studies.cloze.documents import SHOES

pytestmark = pytest.mark.django_db
MYSTERY = Path(__file__).parents[3] / "studies" / "demo" / "mystery"
STUDY = """
slug = "shoes"
title = "Seven Pairs"
cloze = "cloze.toml"

[[steps]]
key = "fill"
kind = "rating"
instrument = "shoes-fill"
scope = "group"
layout = "cloze"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A study that asks people to fill a cloze, and nothing else."""
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "cloze.toml").write_text(SHOES)
    return tmp_path


def test_a_cloze_becomes_an_instrument_to_fill_it_and_one_to_judge_it() -> None:
    made = loader.load_cloze(SHOES)

    assert (made.slug, made.version, made.title) == ("shoes", "1", "Seven Pairs")
    assert made.filling.cloze == made
    assert [i.key for i in made.filling.items.order_by("position")] == [f"blank-0{n}" for n in range(1, 6)]
    assert {made.filling.status, made.judging.status} == {"published"}
    assert made.judging.items.filter(key__startswith="edge").count() == 2


def test_a_cloze_is_loaded_once_and_its_notes_can_be_corrected() -> None:
    first = loader.load_cloze(SHOES)

    second = loader.load_cloze(SHOES.replace("Written for the tests.", "Written for these tests."))

    assert second == first
    assert (Cloze.objects.count(), Instrument.objects.count()) == (1, 2)


def test_a_changed_cloze_under_the_same_version_is_refused() -> None:
    loader.load_cloze(SHOES)

    with pytest.raises(loader.VersionConflict, match="shoes 1 is published and says something else than this file"):
        loader.load_cloze(SHOES.replace("they were wet", "they were dry"))


def test_a_file_does_not_overwrite_a_draft() -> None:
    Cloze.objects.create(document=SHOES)

    with pytest.raises(loader.VersionConflict, match="shoes 1 is there as a draft"):
        loader.load_cloze(SHOES)


def test_a_draft_can_be_edited_until_it_is_published() -> None:
    cloze = Cloze.objects.create(document=SHOES)
    cloze.document = SHOES.replace("Seven Pairs", "Eight Pairs")
    cloze.save()

    loader.publish_cloze(cloze)
    cloze.document = SHOES

    assert cloze.title == "Eight Pairs"
    with pytest.raises(AlreadyPublished, match=str(explain_published("shoes 1"))):
        cloze.save()


def test_a_document_that_is_no_cloze_is_not_kept() -> None:
    with pytest.raises(DocumentError, match="blank 4, follows"):
        Cloze.objects.create(document=SHOES.replace("follows = [2, 3]", "follows = [5]"))

    assert Cloze.objects.count() == 0


def test_the_skeleton_has_a_marker_for_every_blank() -> None:
    assert Cloze(document=SHOES).skeleton.startswith("Between Basel and the border")
    assert "They were {{1}} and they were wet" in Cloze(document=SHOES).skeleton


def test_the_command_loads_a_cloze_file_and_names_both_instruments(tmp_path: Path) -> None:
    (tmp_path / "shoes.toml").write_text(SHOES)
    said = StringIO()

    call_command("load_instrument", str(tmp_path / "shoes.toml"), stdout=said)

    assert [line.split(",")[0] for line in said.getvalue().splitlines()] == [
        "shoes-fill@1: Seven Pairs: the blanks",
        "shoes-judge@1: Seven Pairs: the judgement",
    ]


def test_the_command_says_which_field_of_which_file_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "shoes.toml").write_text(SHOES.replace("section = 3", "section = 4"))

    with pytest.raises(CommandError, match=r"^shoes\.toml: blank 5, section: there is no section 4"):
        call_command("load_instrument", str(tmp_path / "shoes.toml"))


def test_a_study_folder_brings_its_cloze_and_the_text_to_fill(folder: Path) -> None:
    study = loader.load_study(folder)

    step = Step.objects.get(version__study=study)
    assert (step.instrument.slug, step.layout, step.options) == ("shoes-fill", "cloze", {})
    story = study.groups.get().stories.get()
    assert story.text == step.instrument.cloze.skeleton
    assert (story.provenance.source.kind, story.provenance.may_send_out) == ("other", False)


def test_a_study_folder_may_bring_the_text_itself(folder: Path) -> None:
    (folder / "skeleton.txt").write_text(Cloze(document=SHOES).skeleton)
    (folder / "stories.csv").write_text(
        "story,group,text_file,source,source_kind\nshoes,one,skeleton.txt,Us,amateur_writer"
    )

    assert loader.load_study(folder).groups.get().code == "one"


def test_another_text_than_that_of_the_cloze_is_refused(folder: Path) -> None:
    (folder / "stories.csv").write_text("story,group,text,source,source_kind\nshoes,one,Boots {{1}}.,Us,amateur_writer")

    with pytest.raises(DocumentError, match="group one must hold one story, the text of shoes 1 with its markers"):
        loader.load_study(folder)


BAD = {
    "a file that is not there": (
        STUDY.replace("cloze.toml", "shoes.toml"),
        "study.toml: cloze: there is no file “shoes.toml” in the study's folder",
    ),
    "a way out of the folder": (STUDY.replace("cloze.toml", "../x.toml"), "study.toml: cloze: “../x.toml” must name"),
    "another layout": (STUDY.replace('"cloze"\n', '"book"\n', 2), "study.toml: step 1, layout: “book” is not one of"),
    "an unknown option": (
        STUDY + "options = { chck = true }",
        "study.toml: step 1, options: there is no option “chck”; known are constraints, check, way_out",
    ),
    "an option that is no switch": (STUDY + "options = { check = 1 }", "the option check must be true or false"),
    "options that are no table": (STUDY + "options = true", "step 1, options: must be a table"),
    "options without a layout": (
        STUDY.replace('layout = "cloze"', "options = { check = true }"),
        "study.toml: step 1, options: belongs to a comprehension check, which is asked once, or to a step with layout",
    ),
    "another scope": (
        STUDY.replace('"group"', '"stories"'),
        "“Seven Pairs: the blanks” is laid out as a cloze, so it must be asked about each group",
    ),
    "another instrument": (
        STUDY.replace("shoes-fill", "shoes-judge"),
        "“Seven Pairs: the judgement” is laid out as a cloze, but its instrument does not fill one",
    ),
}


@pytest.mark.parametrize(("toml", "said"), BAD.values(), ids=BAD)
def test_a_study_that_could_not_be_filled_is_refused_whole(folder: Path, toml: str, said: str) -> None:
    (folder / "study.toml").write_text(toml)

    with pytest.raises(DocumentError) as refused:
        loader.load_study(folder)

    assert said in str(refused.value)
    assert (Study.objects.count(), Cloze.objects.count()) == (0, 0)


def test_a_faulty_cloze_is_named_by_its_own_file(folder: Path) -> None:
    (folder / "cloze.toml").write_text(SHOES.replace("from = 1\nto = 3", "from = 1\nto = 4"))

    with pytest.raises(DocumentError, match=r"^cloze\.toml: edge 1 → 4: there is no section 4"):
        loader.load_study(folder)


def test_options_edited_by_hand_are_looked_at_before_the_study_is_planned(folder: Path) -> None:
    study = loader.load_study(folder)
    Step.objects.update(options={"check": "yes"})

    found = protocol.collect_findings(study, protocol.load_protocol(protocol.draft(study)))

    errors = protocol.select_errors(found, protocol.Purpose.PLAN)
    assert list(map(str, errors)) == ["“Seven Pairs: the blanks”: the option check must be true or false"]


def test_the_mystery_loads_with_all_switches_on() -> None:
    study = loader.load_study(MYSTERY)

    step = Step.objects.get(version__study=study, layout="cloze")
    assert step.options == {"constraints": True, "check": True, "way_out": True}
    assert step.instrument.items.count() == 44
    assert study.groups.get().stories.get().text.count("{{") == 44
