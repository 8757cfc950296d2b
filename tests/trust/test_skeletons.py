"""One page for all stories: tags and attributes are the same, whoever wrote the words."""

import re
from collections import defaultdict
from html.parser import HTMLParser

import pytest
from django.test import Client
from django.urls import reverse

from annotation import responses
from annotation.models import Assignment
from annotation.participation import consents, invitations
from annotation.responses import submission
from annotation.views.rater.presenters import pages
from judges import catalogue, prompts, runs
from judges.requests import texts
from studies.models import Provenance, Source, Story, Study
from studies.typography import paragraphs
from tests import factories
from tests.replay import replayed

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
TEXTS = {
    "p1s1": "Salt came first.\n\nThen the boat, and *nobody* in it.\n\nWe waited.",
    "p1s2": "The algorithm of the tide is old.\n\nIt hums in the *wires* of the pier.\n\nA testament.",
    "p1s3": "“No,” she said — and left.\n\nHe *stayed*; why not?\n\nThe end.",
    "p1s4": "One.\n\nTwo is *a* longer paragraph that goes on and says rather more than the first did.\n\nIII.",
}
HTMX = {"HX-Request": "true", "HX-Target": "questions"}


class Skeleton(HTMLParser):
    """Tags with their attributes, in order, without a word of text."""

    def __init__(self) -> None:
        super().__init__()
        self.bones: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.bones.append(" ".join([tag, *(f"{name}={value}" for name, value in sorted(attrs))]))

    def handle_endtag(self, tag: str) -> None:
        self.bones.append(f"/{tag}")


def skeleton(page: str, mine: Assignment) -> tuple[str, ...]:
    """The skeleton of a page of that assignment, with what belongs to it and to the session under one name."""
    told = page.replace(mine.code, "CODE")
    told = re.sub(r'(name="csrfmiddlewaretoken" value=")\w+|(\d{4}-\d\d-\d\dT)[\d:.+]+', r"\1\2", told)
    parser = Skeleton()
    parser.feed(told)
    return tuple(parser.bones)


@pytest.fixture
@replayed
def study() -> Study:
    """Four stories by four kinds of sources, one of which nothing is known about; four places, each order once."""
    study = factories.study(k=4, planned=False, state=Study.State.DRAFT)
    for n, (code, text) in enumerate(TEXTS.items()):
        story = Story.objects.get(code=code)
        story.text = text
        story.save()
        Source.objects.filter(provenances__story=story).update(kind=Source.Kind.values[n])
    Provenance.objects.filter(story__code="p1s2").update(url="https://example.org/x", factors={"size": "70B"})
    Provenance.objects.filter(story__code="p1s4").delete()
    factories.plan(study)
    Study.objects.update(state=Study.State.LIVE)
    return Study.objects.get()


@pytest.fixture
def at_work(study: Study) -> list[tuple[Client, Assignment]]:
    """Four raters, each in a place of their own, so that every story stands once in every place."""
    return [_at_work(study) for _ in range(4)]


def _at_work(study: Study) -> tuple[Client, Assignment]:
    client = Client()
    invitation, token = invitations.issue(study)
    client.post(reverse("annotation:invitation", args=[token]))
    invitation.refresh_from_db()
    assert invitation.rater is not None
    step = study.versions.get().steps.get(key="consent")
    consents.record_consent(invitation.rater, step)
    return client, factories.assignment(study, invitation.rater)


def by_page(at_work: list[tuple[Client, Assignment]]) -> dict[str, dict[str, tuple[str, ...]]]:
    """The skeleton of every page at every stage: page → the story that it shows (or the first) → skeleton."""
    found: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for client, mine in at_work:
        order = responses.letters(mine.seat.order)

        def look(name: str, story: str, address: str, client: Client = client, mine: Assignment = mine) -> None:
            for manner, headers in (("page", {}), ("partial", HTMX)):
                response = client.get(address, headers=headers)
                assert response.status_code == 200, f"{name}: {response.status_code}"
                found[f"{name}, {manner}"][story] = skeleton(response.content.decode(), mine)

        def at(page: str, *args: str, mine: Assignment = mine) -> str:
            return reverse(f"annotation:{page}", args=[mine.code, *args])

        for letter, code in order.items():
            look(f"{letter} fresh", code, at("story_item", "tests", letter, "item-1"))
            factories.answer(mine, letter=letter)
            look(f"{letter} answered", code, at("story_item", "tests", letter, "item-1"))
            look(f"{letter} next", code, at("story_item", "tests", letter, "item-2"))
            look(f"{letter} again", code, at("story", letter))
            factories.answer(mine, letter=letter, item=2)
        look("ranking and guesses", mine.seat.order[0], at("part", "ranking"))
        look("check", mine.seat.order[0], at("check"))
        factories.answer_all(mine)
        submission.submit(mine, at=factories.NOON)
        look("receipt", mine.seat.order[0], at("receipt"))
    return found


def unlike(found: dict[str, dict[str, tuple[str, ...]]]) -> list[str]:
    return [name for name, skeletons in found.items() if len(set(skeletons.values())) > 1]


def test_every_page_has_one_skeleton_for_all_stories(at_work: list[tuple[Client, Assignment]]) -> None:
    found = by_page(at_work)

    assert unlike(found) == []
    assert {len(stories) for stories in found.values()} == {4}, "not every story was seen in every place"
    assert len(found) == 2 * (4 * 4 + 3)


def test_a_mark_on_one_sources_stories_would_be_seen(
    at_work: list[tuple[Client, Assignment]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def marked(text: str) -> list[paragraphs.Paragraph]:
        return paragraphs.number_paragraphs(text.replace("algorithm", "*algorithm*"))

    monkeypatch.setattr(pages, "number_paragraphs", marked)

    assert "A fresh, page" in unlike(by_page(at_work))


def test_a_prompt_says_the_same_around_every_story(study: Study) -> None:
    run = runs.start(study, catalogue.make_stub_judge(), by="tests")
    around = defaultdict(set)
    for call in run.calls.exclude(story=None).select_related("story", "item"):
        said = prompts.strip_marks(" ".join(message["content"] for message in texts.render(call.request)["messages"]))
        assert call.story.text in said
        around[call.item.key, call.step_id].add(said.replace(call.story.text, ""))

    assert {len(found) for found in around.values()} == {1}
