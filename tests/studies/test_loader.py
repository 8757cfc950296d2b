"""Instruments and studies come in whole or not at all, and what was published stays as it was."""

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from studies import loader
from studies.documents import instrument
from studies.models import Instrument, Item, Provenance, Source, Study
from studies.publication import AlreadyPublished, explain_published

pytestmark = pytest.mark.django_db
DEMO = Path(loader.__file__).parent / "demo"


def ttcw() -> instrument.InstrumentDocument:
    return instrument.read_instrument(instrument.discover()["ttcw"])


@pytest.mark.parametrize("slug", instrument.discover())
def test_every_builtin_instrument_loads_and_says_in_the_database_what_its_file_says(slug: str) -> None:
    document = instrument.read_instrument(instrument.discover()[slug])

    made = loader.load_instrument(document)

    assert made.status == Instrument.Status.PUBLISHED
    assert made.fingerprint == instrument.fingerprint(document)
    # The briefing is taken into a study's own texts and stands in no table.
    assert loader.document_of(made) == replace(document, url="", briefing="")


def test_an_instrument_is_loaded_once() -> None:
    first = loader.load_instrument(ttcw())

    second = loader.load_instrument(ttcw())

    assert (first.pk, Item.objects.count()) == (second.pk, 14)


def test_a_changed_file_under_the_same_version_is_refused() -> None:
    loader.load_instrument(ttcw())
    first, *others = ttcw().items

    with pytest.raises(loader.VersionConflict) as caught:
        loader.load_instrument(replace(ttcw(), items=[replace(first, question="Is it good?"), *others]))

    said = "ttcw 1 is published and asks something else than this file; raise the version in the file"
    assert str(caught.value) == said
    assert Item.objects.filter(question="Is it good?").count() == 0


def test_a_changed_file_under_another_version_is_another_instrument() -> None:
    first = loader.load_instrument(ttcw())

    second = loader.load_instrument(replace(ttcw(), version="2"))

    assert first.pk != second.pk
    assert first.fingerprint == second.fingerprint


def test_a_file_does_not_overwrite_a_draft() -> None:
    Instrument.objects.create(slug="ttcw", version="1", title="Mine")

    with pytest.raises(loader.VersionConflict, match="is there as a draft; publish or delete the draft first"):
        loader.load_instrument(ttcw())


def test_a_published_instrument_never_changes() -> None:
    made = loader.load_instrument(ttcw())
    for name, value in (("title", "Another"), ("language", "de"), ("status", "draft"), ("version", "2")):
        changed = Instrument.objects.get(pk=made.pk)
        setattr(changed, name, value)

        with pytest.raises(AlreadyPublished, match=str(explain_published(changed))):
            changed.save()


def test_a_published_instruments_note_can_be_corrected() -> None:
    made = loader.load_instrument(ttcw())

    made.note = "Spelt right now."
    made.save()

    assert Instrument.objects.get(pk=made.pk).note == "Spelt right now."


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("question", "?"),
        ("background", ""),
        ("options", [{"value": "a", "label": "A"}]),
        ("rationale", "none"),
        ("position", 99),
        ("type", "text"),
    ],
)
def test_an_item_of_a_published_instrument_never_changes(name: str, value: object) -> None:
    item = loader.load_instrument(ttcw()).items.earliest("position")

    setattr(item, name, value)

    with pytest.raises(AlreadyPublished, match="item narrative-ending never changes"):
        item.save()


def test_items_are_neither_added_to_a_published_instrument_nor_taken_from_it() -> None:
    made = loader.load_instrument(ttcw())
    draft = Instrument.objects.create(slug="draft", version="1", title="Draft")
    item = made.items.earliest("position")

    with pytest.raises(AlreadyPublished):
        Item.objects.create(instrument=made, position=15, key="more", type="binary", question="More?")
    with pytest.raises(AlreadyPublished):
        item.delete()
    item.instrument = draft
    with pytest.raises(AlreadyPublished):
        item.save()

    assert made.items.count() == 14


def test_a_draft_can_be_edited_until_it_is_published() -> None:
    draft = Instrument.objects.create(slug="draft", version="1", title="Draft")
    item = Item.objects.create(instrument=draft, position=1, key="one", type="binary", question="Oen?")
    item.question = "One?"
    item.save()

    loader.publish(draft)

    item.question = "Two?"
    with pytest.raises(AlreadyPublished):
        item.save()
    assert draft.fingerprint == instrument.fingerprint(loader.document_of(draft))


def test_a_draft_that_cannot_be_asked_is_not_published() -> None:
    draft = Instrument.objects.create(slug="draft", version="1", title="Draft")
    Item.objects.create(instrument=draft, position=1, key="one", type="choice", question="Which?", options=[])

    with pytest.raises(instrument.DocumentError):
        loader.publish(draft)

    assert Instrument.objects.get(pk=draft.pk).status == Instrument.Status.DRAFT


@pytest.mark.parametrize("folder", ["harbour", "orchard"])
def test_the_demonstration_studies_load(folder: str) -> None:
    made = loader.load_study(DEMO / folder)

    assert {len(g.stories.all()) for g in made.groups.all()} == {4}
    assert Provenance.objects.filter(story__study=made, factors__has_key="tier").count() == made.stories.count()


def test_a_source_has_one_kind_in_all_studies(tmp_path: Path) -> None:
    Source.objects.create(name="Manner A", kind=Source.Kind.OTHER)

    with pytest.raises(instrument.DocumentError) as caught:
        loader.load_study(DEMO / "harbour")

    assert str(caught.value) == (
        "stories.csv: story h1b, source_kind: “Manner A” is known as other, not expert_writer; "
        "a source has one kind, so correct it or rename the source"
    )
    assert Study.objects.count() == 0


def test_the_command_loads_a_builtin_instrument_by_its_slug() -> None:
    said = StringIO()

    call_command("load_instrument", "ttcw", stdout=said)

    mark = instrument.fingerprint(ttcw())[:12]
    assert said.getvalue() == f"ttcw@1: Torrance Test of Creative Writing, 14 items, {mark}\n"


def test_the_command_loads_an_instrument_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(instrument.discover()["ttcw"].read_text().replace('slug = "ttcw"', 'slug = "mine"'))

    call_command("load_instrument", str(file), stdout=StringIO())

    assert Instrument.objects.get().slug == "mine"


def test_the_command_loads_the_tests_of_the_release_as_the_published_version(tmp_path: Path) -> None:
    file = tmp_path / "ttcw_all_tests.json"
    prompt = "A good end is earned.\n\nGiven the story above, answer."
    test = {
        "torrance_dimension": "Fluency",
        "category": "Narrative Ending",
        "question": "Is it?",
        "full_prompt": prompt,
    }
    file.write_text(json.dumps([test]))

    call_command("load_instrument", str(file), stdout=StringIO())

    item = Item.objects.get()
    assert str(item.instrument) == "ttcw published"
    assert (item.key, item.question, item.background) == ("narrative-ending", "Is it?", "A good end is earned.")


@pytest.mark.data
def test_the_release_itself_loads(release: Path) -> None:
    call_command("load_instrument", str(release / "ttcw" / "ttcw_all_tests.json"), stdout=StringIO())

    assert Instrument.objects.get().items.count() == 14


def test_an_unknown_instrument_is_named_with_those_there_are() -> None:
    with pytest.raises(CommandError) as caught:
        call_command("load_instrument", "nothing")

    there = ", ".join(instrument.discover())
    assert str(caught.value) == f"nothing: there is no such file, and the built-in instruments are {there}"


def test_the_command_loads_a_study_and_says_what_comes_next() -> None:
    said = StringIO()

    call_command("load_study", str(DEMO / "harbour" / "study.toml"), stdout=said)

    assert said.getvalue() == "harbour: 12 stories in 3 groups. Next: manage.py plan harbour\n"


def test_a_study_is_not_loaded_twice() -> None:
    loader.load_study(DEMO / "harbour")

    with pytest.raises(CommandError) as caught:
        call_command("load_study", str(DEMO / "harbour"))

    assert str(caught.value) == "study.toml: slug: there is a study “harbour” already; choose another slug"
    assert Study.objects.count() == 1
