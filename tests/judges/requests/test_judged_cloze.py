"""What a model is told of a filled cloze that it judges: all that people read on the page of the same question."""

import html
import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags

from annotation.responses import derivation, submission
from judges import catalogue, planning
from studies import protocol
from studies.models import Study
from tests import factories
from tests.annotation import clozes, walk

pytestmark = pytest.mark.django_db


@pytest.fixture
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
