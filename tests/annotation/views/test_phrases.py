"""The words of raters' pages: what is read is called what the study calls it, and durations and lists read well."""

import json
import re

import pytest
from django.test import Client
from django.utils.html import strip_tags

from annotation.models import Assignment
from annotation.participation import invitations
from annotation.progress import phrases
from annotation.progress.languages import Words
from annotation.templatetags.times import in_words
from annotation.views.rater.presenters.questions import MissingAnswer
from studies.models import Item, ProtocolVersion, Step, Study
from studies.protocol import load_protocol
from studies.protocol.frozen import write_document
from studies.vocabulary import TextKind
from tests import factories, triggers
from tests.annotation.walk import address, begin, give

pytestmark = pytest.mark.django_db


def words_of(client: Client, url: str) -> str:
    return " ".join(strip_tags(client.get(url).content.decode()).split())


def test_every_phrase_is_there_for_every_kind_of_text():
    for phrase, by_kind in phrases.PHRASES.items():
        assert set(by_kind) == set(TextKind), phrase
        said = {phrases.say(phrase, kind, letter="A", number=1, n=2) for kind in TextKind}
        assert len(said) == len(TextKind), phrase


@pytest.mark.parametrize(("kind", "name"), [("story", "Story"), ("idea", "Idea"), ("text", "Text")])
def test_pages_call_what_is_read_what_the_study_calls_it(client: Client, kind: str, name: str):
    factories.study(n_stories=2, planned=False)
    Study.objects.update(title="Plums", text_kind=kind, shows_premise=True)
    factories.plan(Study.objects.get())
    assignment = begin(client, Study.objects.get())
    with triggers.lifted():
        Study.objects.update(asks_recognition=True)
    Assignment.objects.update(read_before=False)
    plural = {"story": "stories", "idea": "ideas", "text": "texts"}[kind]

    desk = words_of(client, address(assignment))

    assert f"{name} A of two" in desk
    assert f"What both {plural} were written to" in desk
    assert f"I recognise this {kind}" in desk
    assert f"2 {plural} to finish" in desk
    assert ("Story A" in desk) == (kind == "story")
    assert f"{name} A" in words_of(client, f"/a/{assignment.code}/overview/")
    assert f"{name} B" in words_of(client, f"/a/{assignment.code}/check/")


@pytest.mark.parametrize("kind", ["idea", "text"])
def test_no_page_of_the_way_calls_an_idea_or_a_text_a_story(client: Client, kind: str):
    factories.study(n_stories=2, planned=False)
    Study.objects.update(title="Plums", text_kind=kind, minutes=20, asks_recognition=True, description="")
    with triggers.lifted():
        Item._base_manager.update(question="Is it so?", title="")
    factories.plan(Study.objects.get())
    token = invitations.issue(Study.objects.get())[1]
    pages = [client.get(f"/r/{token}/")]
    client.post(f"/r/{token}/")
    pages.append(client.get("/consent/"))
    client.post("/consent/", {"agrees": "yes"})
    pages.append(client.get("/group/"))
    client.post("/group/")
    assignment = Assignment.objects.get(seat__isnull=False)
    pages.append(client.get(f"/a/{assignment.code}/recognition/"))
    client.post(f"/a/{assignment.code}/recognition/", {"knows": "no"})
    pages.append(client.get(address(assignment)))
    for letter in "AB":
        give(client, assignment, letter=letter)
    pages.append(client.get(f"/a/{assignment.code}/s/ranking/"))
    pages.append(client.get(f"/a/{assignment.code}/check/"))

    for page in pages:
        assert page.status_code == 200
        readable = re.sub(
            r"<script.*?</script>|(?:id|class|for|name|href|action|data-[a-z]+|aria-controls|"
            r'aria-labelledby|hx-[a-z-]+|src)="[^"]*"',
            "",
            page.text,
            flags=re.DOTALL,
        )
        assert not re.findall(r".{0,40}\bstor(?:y|ies)\b.{0,20}", readable, flags=re.IGNORECASE)


def test_only_another_word_than_story_stands_in_the_frozen_document():
    version = ProtocolVersion.objects.get(study=factories.study(planned=False))
    before = json.loads(write_document(load_protocol(version)))

    Study.objects.update(text_kind="idea")
    version = ProtocolVersion.objects.get()

    assert "text_kind" not in before
    assert json.loads(write_document(load_protocol(version))) == before | {"text_kind": "idea"}


def test_no_minutes_are_less_than_a_minute():
    assert [in_words(n) for n in (0, 1, 60, 95)] == [
        "less than a minute",
        "1\xa0min",
        "1\xa0h",
        "1\xa0h\xa035\xa0min",
    ]


def test_no_colon_follows_a_name_that_is_a_sentence():
    names = ("Endings", "Is it good?", "It is.", "And so…")

    assert [MissingAnswer("", Words(n), "", "Open.").rest for n in names] == [": Open.", " Open.", " Open.", " Open."]


@pytest.mark.parametrize(
    ("unit", "counted"), [("sentences", "2 sentences, at least one sentence"), ("words", "3 words, at least one word")]
)
def test_the_counter_beside_the_reasons_counts_what_is_asked_for(client: Client, unit: str, counted: str):
    study = factories.study(planned=False)
    instrument = factories.instrument("counted", rationale_unit=unit)
    Step.objects.filter(key="tests").update(instrument=instrument)
    factories.plan(study)
    assignment = begin(client, study)
    factories.answer(assignment, letter="A", item=1, why="One. Two three")

    assert counted in words_of(client, address(assignment))
