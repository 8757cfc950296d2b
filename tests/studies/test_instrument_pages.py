"""The pages on which instruments are written: what they take, what they refuse, and what comes out."""

import re
import tomllib
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from studies import instrument_drafts, loader
from studies.documents.instrument import discover, fingerprint, parse_instrument, read_instrument, write_instrument
from studies.items import all_types
from studies.models import Instrument, Item
from tests import factories
from tests.studies.items.forms import posted

pytestmark = pytest.mark.django_db


@pytest.fixture
def designer(client: Client) -> Client:
    client.force_login(factories.staff("designer"))
    return client


def page(client: Client, name: str, *args: Any, query: str = "") -> str:
    return client.get(reverse(f"instruments:{name}", args=args) + query).content.decode()


SCALE = {
    "question": "How tiring was it?",
    "type": "scale",
    "setting_low": "1",
    "setting_high": "5",
    "setting_anchors.1": "Not at all",
    "setting_anchors.5": "Very",
    "rationale": "none",
}


def seen_on(html: str) -> str:
    """What the form of the question says that its reader saw; the form above it says so of the title."""
    return posted(html).getlist("seen")[-1]


def post_question(client: Client, draft: Instrument, key: str = "", **fields: Any) -> Any:
    seen = seen_on(page(client, "show", draft.pk, query=f"?question={key}" if key else "?new=yes"))
    address = reverse(
        "instruments:question" if key else "instruments:new_question", args=[draft.pk, *filter(None, [key])]
    )
    return client.post(address, {"seen": seen, "act": "save", **fields})


def test_the_source_as_a_browser_sends_it_is_the_one_that_a_file_would_bring(designer: Client) -> None:
    draft = instrument_drafts.begin_draft("Feelings")
    seen = posted(page(designer, "show", draft.pk)).getlist("seen")[0]
    head = {"title": "Feelings", "language": "en", "seen": seen, "note": "For all.\r\nOf us."}

    designer.post(f"/instruments/{draft.pk}/", head | {"citation": "A. Author\r\n(2026)."})

    draft.refresh_from_db()
    assert (draft.citation, draft.note) == ("A. Author\n(2026).", "For all.\nOf us.")


def test_a_question_is_written_with_the_fields_of_its_type(designer: Client) -> None:
    draft = instrument_drafts.begin_draft("How it went")

    assert post_question(designer, draft, **SCALE).status_code == 302

    item = draft.items.get()
    assert (item.key, item.type, item.position) == ("how-tiring-was-it", "scale", 1)
    assert item.settings == {"low": 1, "high": 5, "anchors": {"1": "Not at all", "5": "Very"}}


def test_a_scale_without_words_at_an_end_is_refused_at_the_field_and_keeps_what_was_typed(designer: Client) -> None:
    draft = instrument_drafts.begin_draft("How it went")

    answer = post_question(designer, draft, **(SCALE | {"setting_anchors.5": ""}))

    assert answer.status_code == 400
    assert 'href="#id_setting_anchors">Words at the points: Has no words for 5' in answer.content.decode()
    assert 'value="Not at all"' in answer.content.decode()
    assert not draft.items.exists()


def shown(html: str) -> dict[str, str]:
    """Words by point as the fields of a scale show them; those that go with the form unseen have no field."""
    fields = re.findall(r'<input type="text" name="setting_anchors\.(-?\d+)" value="([^"]*)"', html)
    return dict(fields)


@pytest.mark.parametrize(("low", "high"), [("0", "10"), ("-3", "3"), ("5", "9"), ("-3", "1"), ("1", "3")])
def test_words_for_the_ends_that_were_shown_are_for_the_ends_that_are_posted(
    designer: Client, low: str, high: str
) -> None:
    draft = instrument_drafts.begin_draft("How it went")
    fields = SCALE | {"setting_anchors-shown": "1 5", "setting_low": low, "setting_high": high}

    answer = post_question(designer, draft, **fields)

    assert answer.status_code == 302
    assert draft.items.get().settings["anchors"] == {low: "Not at all", high: "Very"}


def test_a_scale_has_a_field_for_each_point_that_was_chosen_before_anything_is_saved(designer: Client) -> None:
    draft = instrument_drafts.begin_draft("How it went")
    fields = SCALE | {"setting_anchors-shown": "1 5", "setting_low": "0", "setting_high": "10", "act": "choose_type"}

    answer = post_question(designer, draft, **(fields | {"setting_anchors.3": "Somewhat"}))

    assert answer.status_code == 200
    words = {"0": "Not at all", "3": "Somewhat", "10": "Very"}
    assert shown(answer.content.decode()) == {str(point): words.get(str(point), "") for point in range(11)}


def test_words_at_points_that_a_refused_scale_has_not_come_back_with_them(designer: Client) -> None:
    draft = instrument_drafts.begin_draft("How it went")
    fields = SCALE | {"setting_anchors-shown": "1 5", "setting_anchors.4": "Rather", "setting_high": "3"}

    refused = posted(post_question(designer, draft, **(fields | {"question": ""})).content.decode())
    form = {name: str(refused[name]) for name in refused if name.startswith("setting_")} | {"setting_high": "5"}
    again = post_question(designer, draft, **(SCALE | {"setting_anchors.5": ""} | form))

    assert again.status_code == 302
    assert draft.items.get().settings["anchors"] == {"1": "Not at all", "4": "Rather", "5": "Very"}


@pytest.mark.parametrize("high", ["20", "many", ""])
def test_no_words_are_lost_where_from_and_to_cannot_be(designer: Client, high: str) -> None:
    draft = instrument_drafts.begin_draft("How it went")
    words = {f"setting_anchors.{point}": f"words {point}" for point in range(1, 8)}
    fields = SCALE | words | {"setting_anchors-shown": "1 7", "setting_high": high, "question": ""}

    refused = posted(post_question(designer, draft, **fields).content.decode())

    kept = [refused[name] for name in refused if name.startswith("setting_anchors.") and refused[name]]
    assert sorted(kept) == sorted(words.values())


def test_the_fields_of_another_type_come_before_anything_is_saved(designer: Client) -> None:
    draft = instrument_drafts.begin_draft("How it went")

    answer = post_question(designer, draft, question="What helped?", type="multi", rationale="none", act="choose_type")

    assert answer.status_code == 200
    assert 'name="setting_at_most"' in answer.content.decode()
    assert "What helped?" in answer.content.decode()
    assert not draft.items.exists()


def test_options_keep_their_values_when_their_order_changes(designer: Client) -> None:
    draft = instrument_drafts.begin_draft("How it went")
    fields = {"question": "Where?", "type": "choice", "rationale": "none"}
    post_question(designer, draft, **fields, options="At home\r\nIn a train")

    post_question(designer, draft, "where", **fields, options="In a train\r\nAt home\r\nElsewhere")

    assert [(o["value"], o["label"]) for o in draft.items.get().options] == [
        ("in-a-train", "In a train"),
        ("at-home", "At home"),
        ("elsewhere", "Elsewhere"),
    ]


def test_the_right_answer_is_named_by_its_words(designer: Client) -> None:
    draft = instrument_drafts.begin_draft("Check")
    fields = {"question": "Who reads?", "type": "choice", "rationale": "none", "options": "An expert\nA machine"}

    post_question(designer, draft, **fields, setting_correct="an expert")

    assert draft.items.get().settings == {"correct": "an-expert"}


def test_the_second_to_save_a_question_is_shown_what_the_first_saved(designer: Client) -> None:
    draft = instrument_drafts.begin_draft("How it went")
    post_question(designer, draft, **SCALE)
    seen = seen_on(page(designer, "show", draft.pk, query="?question=how-tiring-was-it"))
    Item.objects.update(question="How tiring did you find it?")

    address = reverse("instruments:question", args=[draft.pk, "how-tiring-was-it"])
    answer = designer.post(address, {"seen": seen, "act": "save", **SCALE})

    assert answer.status_code == 409
    assert "How tiring did you find it?" in answer.content.decode()
    assert draft.items.get().question == "How tiring did you find it?"


def test_questions_change_places_and_go(designer: Client) -> None:
    draft = instrument_drafts.begin_draft("How it went")
    for question in ("First?", "Second?", "Third?"):
        post_question(designer, draft, question=question, type="binary", rationale="none")

    designer.post(reverse("instruments:question", args=[draft.pk, "third"]), {"act": "earlier"})
    designer.post(reverse("instruments:question", args=[draft.pk, "first"]), {"act": "remove"})

    assert [item.question for item in draft.items.order_by("position")] == ["Third?", "Second?"]


def test_words_of_the_source_that_are_changed_count_as_adapted(designer: Client) -> None:
    published = loader.load_instrument(read_instrument(discover()["pds"]))
    draft = instrument_drafts.copy_draft(published, title="Our scales")
    item = next(item for item in draft.items.all() if "question" in item.quoted)
    fields = {name: getattr(item, name) for name in ("type", "options", "settings", "rationale", "is_skippable")}

    instrument_drafts.save_item(draft, {**fields, "question": "In our words?"}, item=item)

    assert "question" not in item.quoted
    assert "question" in item.adapted
    assert fingerprint(loader.document_of(draft))


def test_a_copy_is_the_next_version_or_an_instrument_of_its_own(designer: Client) -> None:
    published = loader.load_instrument(read_instrument(discover()["ttcw"]))
    copies = []
    for title in (published.title, "Our tests", "Our tests"):
        designer.post(reverse("instruments:copy", args=[published.pk]), {"title": title})
        copies.append(Instrument.objects.latest("pk"))

    assert [copy.slug for copy in copies] == [published.slug, "our-tests", "our-tests-2"]
    assert copies[0].version != published.version
    assert {copy.items.count() for copy in copies} == {14}


def test_publishing_is_asked_first_and_makes_it_final(designer: Client) -> None:
    draft = instrument_drafts.begin_draft("How it went")
    address = reverse("instruments:publish", args=[draft.pk])
    assert designer.post(address).status_code == 400  # nothing is asked yet
    post_question(designer, draft, **SCALE)

    assert "One question becomes final" in designer.get(address).content.decode()
    designer.post(address)

    draft.refresh_from_db()
    assert draft.status == Instrument.Status.PUBLISHED
    assert draft.fingerprint
    designer.post(reverse("instruments:question", args=[draft.pk, "how-tiring-was-it"]), {"act": "remove"})
    designer.post(reverse("instruments:delete", args=[draft.pk]))
    assert draft.items.count() == 1


def test_a_draft_that_a_study_asks_is_not_deleted(designer: Client) -> None:
    study = factories.study(planned=False)
    draft = instrument_drafts.begin_draft("How it went")
    study.versions.get().steps.create(position=99, key="exit", kind="rating", scope="once", instrument=draft)

    answer = designer.post(reverse("instruments:delete", args=[draft.pk]), follow=True)

    assert study.title in answer.content.decode()
    assert Instrument.objects.filter(pk=draft.pk).exists()


@pytest.mark.parametrize("name", discover())
def test_every_built_in_instrument_is_written_as_it_was_read(name: str) -> None:
    document = read_instrument(discover()[name])

    assert parse_instrument(tomllib.loads(write_instrument(document)), name) == document


def test_an_instrument_saved_as_a_file_is_read_again_as_a_draft(designer: Client) -> None:
    published = loader.load_instrument(read_instrument(discover()["pds"]))
    text = designer.get(reverse("instruments:export", args=[published.pk])).content
    again = text.replace(b'version = "', b'version = "9')

    designer.post(reverse("instruments:new"), {"from_file": "yes", "file": SimpleUploadedFile("pds.toml", again)})

    draft = Instrument.objects.latest("pk")
    assert draft.status == Instrument.Status.DRAFT
    assert fingerprint(loader.document_of(draft)) == published.fingerprint


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"\xff\xfe", "not UTF-8 text"),
        (b"title = ", "not an instrument file"),
        (b'title = "x"', "an instrument has at least one item"),
        (b"x" * 1_000_001, "too large"),
    ],
)
def test_a_file_that_is_no_instrument_is_refused_with_the_reason(
    designer: Client, content: bytes, sentence: str
) -> None:
    file = SimpleUploadedFile("mine.toml", content)

    answer = designer.post(reverse("instruments:new"), {"from_file": "yes", "file": file})

    assert answer.status_code == 400
    assert sentence in answer.content.decode()
    assert not Instrument.objects.exists()


@pytest.mark.parametrize("kind", all_types())
def test_every_type_can_be_written_on_the_page_and_is_shown_as_raters_see_it(designer: Client, kind: str) -> None:
    """The example of each type, through the form that its declaration makes."""
    draft = instrument_drafts.begin_draft("One of each")
    example = all_types()[kind].example["item"]
    fields = {"question": example["question"], "type": kind, "rationale": "none"}
    fields |= {"options": "\n".join(o["label"] for o in example.get("options", []))}
    for name, value in example.get("settings", {}).items():
        if isinstance(value, dict):
            fields |= {f"setting_{name}.{point}": words for point, words in value.items()}
        else:
            fields[f"setting_{name}"] = value

    shown = designer.post(reverse("instruments:preview", args=[draft.pk]), fields).content.decode()
    assert post_question(designer, draft, **fields).status_code == 302

    item = draft.items.get()
    assert (item.type, item.settings) == (kind, example.get("settings", {}))
    assert [o["label"] for o in item.options] == [o["label"] for o in example.get("options", [])]
    assert "A language model is told:" in shown
    assert example["question"] in shown


def test_the_shelf_costs_the_same_for_one_instrument_and_three(
    designer: Client, django_assert_num_queries: Any
) -> None:
    instrument_drafts.begin_draft("One")
    designer.get(reverse("instruments:shelf"))
    with django_assert_num_queries(7):
        page(designer, "shelf")
    instrument_drafts.begin_draft("Two")
    instrument_drafts.begin_draft("Three")
    with django_assert_num_queries(7):
        page(designer, "shelf")


def test_without_instruments_of_ones_own_the_pages_are_read_only(client: Client) -> None:
    published = loader.load_instrument(read_instrument(discover()["pds"]))
    client.force_login(factories.staff("coordinator"))

    assert "Copy as a draft" not in page(client, "show", published.pk)
    assert client.get(reverse("instruments:copy", args=[published.pk])).status_code == 403


def test_a_key_that_none_can_be_finds_no_question(designer: Client) -> None:
    draft = Instrument.objects.create(slug="tired", version="1", title="Tired")
    show = reverse("instruments:show", args=[draft.pk])

    shown = designer.get(show + "?question=%00")
    previewed = designer.post(reverse("instruments:preview", args=[draft.pk]), SCALE | {"key": "a\x00"})

    assert (shown.status_code, previewed.status_code) == (400, 200)


def test_the_page_of_an_instrument_says_what_its_scores_are_made_of(designer: Client) -> None:
    published = loader.load_instrument(read_instrument(discover()["pds"]))

    page = designer.get(reverse("instruments:show", args=[published.pk])).content.decode()

    assert '<dt lang="en">Psychological depth</dt>' in page
    assert "mean of Authenticity, Empathy, Engagement, Emotion Provocation, Narrative Complexity" in page
