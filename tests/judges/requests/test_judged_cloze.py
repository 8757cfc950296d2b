"""What a model is told of a filled cloze that it judges: all that people read on the page of the same question."""

import html
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags

from annotation.models import Fill
from annotation.responses import derivation, submission
from judges import catalogue, planning
from studies import protocol
from studies.cloze.text import RAISED
from studies.models import Study
from tests import factories
from tests.annotation import clozes, walk
from tests.replay import replayed

pytestmark = pytest.mark.django_db
# How questions speak of blanks and sections: blank 6, blanks 2 and 3, blank 22, 23 or 24.
PLACES = re.compile(r"\b(blank|section)s?\s+([0-9]+(?:(?:, | and | or )[0-9]+)*)", re.IGNORECASE)


@pytest.fixture
@replayed
def judged() -> Study:
    """One filled text, to be judged."""
    made = clozes.study()
    work = clozes.assignment(made)
    clozes.fill(work)
    submission.submit(work, at=timezone.now())
    study = derivation.derive(made, "judged", derivation.derivable_fills(made))
    Study.objects.filter(pk=study.pk).update(asks_recognition=False)
    study.refresh_from_db()
    return study


def told(study: Study) -> dict[str, str]:
    """What a model is told with each item, by the item's key."""
    factories.plan(study)
    (calls,) = planning.plan_run(study, catalogue.make_stub_judge()).calls.values()
    return {call.item.key: call.request["messages"][-1]["content"] for call in calls if call.item}


def test_a_model_is_told_where_blanks_begin_and_end_and_which_section_is_which(judged: Study) -> None:
    said = told(judged)["s1-c1"]

    assert derivation.ABOUT_NUMBERS in said
    assert "They were ¹brown walking boots¹ and they were wet" in said
    assert [line for line in said.splitlines() if line.startswith("§")] == [
        "§ 1 The Corridor",
        "§ 2 The Compartments",
        "§ 3 The Border",
    ]


def test_a_model_is_told_which_constraint_of_which_section_it_judges(judged: Study) -> None:
    said = told(judged)

    for item in protocol.items_of(protocol.load_protocol(judged.versions.get()).ratings[0]):
        assert item.title in said[item.key]
        assert item.question in said[item.key]


def test_a_model_is_told_all_that_people_read_on_the_page_of_the_same_question(client: Client, judged: Study) -> None:
    prompt = " ".join(told(judged)["s1-c1"].split())
    Study.objects.filter(pk=judged.pk).update(state=Study.State.LIVE)
    rater = walk.come_in(client, judged)
    client.post(reverse("annotation:begin"))
    work = rater.assignments.get()

    client.get(reverse("annotation:assignment", args=[work.code]), follow=True)
    page = client.get(reverse("annotation:story_item", args=[work.code, "judge", "A", "s1-c1"])).content.decode()

    pattern = r'<p [^>]*id="p\d+"[^>]*>(.*?)</p>|<p class="section-note"[^>]*>(.*?)</p>|<h2 id="title-[^>]*>(.*?)</h2>'
    parts = [html.unescape(strip_tags("".join(found))) for found in re.findall(pattern, page, re.DOTALL)]
    assert len(parts) == 10, "three sections, five paragraphs, the step's text, and the title of the question"
    assert [part for part in parts if " ".join(part.split()) not in prompt] == []
    assert len(re.findall(r'class="section-mark"', page)) == 3


@pytest.fixture
@replayed
def mystery() -> Study:
    """One filled text of the demo's cloze, whose questions speak of blanks and sections by their numbers."""
    toml = (Path(settings.BASE_DIR) / "studies" / "demo" / "mystery" / "cloze.toml").read_text()
    made = clozes.study(toml=toml)
    work = clozes.assignment(made)
    clozes.fill(work, {n: f"words for {n}" for n in range(1, 45)})
    submission.submit(work, at=timezone.now())
    study = derivation.derive(made, "judged", derivation.derivable_fills(made))
    Study.objects.filter(pk=study.pk).update(asks_recognition=False)
    study.refresh_from_db()
    return study


def test_every_number_that_a_question_names_is_explained_in_its_prompt(mystery: Study) -> None:
    said = told(mystery)

    questions = [
        (item.key, item.question)
        for item in protocol.items_of(protocol.load_protocol(mystery.versions.get()).ratings[0])
    ]
    named = {key: PLACES.findall(question) for key, question in questions}
    assert len(questions) == 40 + 16 + sum("-k" in key for key, _question in questions)
    assert sum(map(len, named.values())) > 90
    for key, question in questions:
        prompt = said[key]
        assert derivation.ABOUT_NUMBERS in prompt
        text = prompt.partition("Question:")[0] if "Question:" in prompt else prompt
        for kind, listing in named[key]:
            for number in re.findall(r"\d+", listing):
                raised = number.translate(RAISED)
                stands = f"{raised}words for {number}{raised}" if kind.lower() == "blank" else f"\n§ {number} "
                assert stands in text, (key, kind, number)
        for number in re.findall(r"\d+", PLACES.sub("", question)):
            assert number in text, f"{key}: {number} is a thing of the story, which names it"


def test_a_text_without_numbers_is_refused_where_questions_name_them(mystery: Study) -> None:
    fills = list(Fill.objects.select_related("assignment__study"))
    Fill.objects.update(story=None)
    fills[0].refresh_from_db()

    with pytest.raises(derivation.NotDerivable, match=r"s1-c1 speaks of “Blank 1”.*derive the study with numbers"):
        derivation.derive(fills[0].assignment.study, "plain", fills, numbered=False)
