"""What raters are told: of stories where they read some, of a text where they fill one, of questions where that is all.

The pages of the way through a cloze are looked at, the sheet among them, and none may speak of stories or groups.
"""

import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment
from annotation.participation import invitations
from annotation.progress import work
from studies import protocol
from studies.models import Instrument, ProtocolVersion, Step, Study
from tests import factories, triggers
from tests.annotation import clozes, walk

pytestmark = pytest.mark.django_db
OF_STORIES = re.compile(r"\b(stor(?:y|ies)|groups?|read|reading)\b", re.IGNORECASE)


def words(page: str) -> str:
    """What the page's main part and its foot say."""
    told = re.search(r"<main.*</main>.*?(?=</body>)", page, re.DOTALL)
    assert told, "the page has no main part"
    return " ".join(re.sub(r"(?s)<template.*?</template>|<[^>]+>", " ", told[0]).split())


def link(study: Study) -> str:
    _, token = invitations.issue(study)
    return reverse("annotation:invitation", args=[token])


def page_of(assignment: Assignment, name: str) -> str:
    return reverse(f"annotation:{name}", args=[assignment.code])


def filled(client: Client, study: Study) -> Assignment:
    """A rater's text, every blank of it filled."""
    assignment = walk.begin(client, study)
    clozes.fill(assignment)
    return assignment


def survey(*, rationale: str) -> Instrument:
    return factories.instrument("survey", n_items=1, type="text", rationale=rationale, rationale_least=0)


def with_survey(study: Study, *, scope: str = "once", rationale: str = "none") -> Study:
    """The study with a survey at its end, as if it had been planned with it."""
    version = study.versions.get()
    asked = survey(rationale=rationale)
    with triggers.lifted():
        Step.objects.create(version=version, position=9, key="after", kind="rating", instrument=asked, scope=scope)
        return factories.freeze_anew(study)


def test_a_link_says_what_the_study_asks_of_people(client: Client) -> None:
    fills, reads = clozes.study(), factories.study()
    with triggers.lifted():
        Study.objects.update(minutes=40)

    told_fills, told_reads = words(client.get(link(fills)).text), words(client.get(link(reads)).text)

    assert "You are invited to fill in the blanks of a text." in told_fills
    assert "about 40 minutes Questions" in told_fills
    assert "You are invited to read stories and to say what you think of them." in told_reads
    assert "about 40 minutes for one group of stories" in told_reads


def test_no_page_of_the_way_through_a_cloze_speaks_of_stories(client: Client) -> None:
    study = clozes.study()
    told = {"invitation": client.get(url := link(study)).text}
    client.post(url)
    told["consent"] = client.get(reverse("annotation:consent")).text
    told["consent copy"] = client.get(reverse("annotation:consent_copy")).text
    client.post(reverse("annotation:consent"), {"agrees": "yes"})
    told["begin"] = client.get(reverse("annotation:begin")).text
    client.post(reverse("annotation:begin"))
    assignment = Assignment.objects.get()
    told["sheet"] = client.get(page_of(assignment, "assignment"), follow=True).text
    told["overview"] = client.get(page_of(assignment, "overview")).text
    clozes.fill(assignment)
    told["check"] = client.get(page_of(assignment, "check")).text
    told["receipt"] = client.post(page_of(assignment, "check"), follow=True).text
    told["done"] = client.get(reverse("annotation:done")).text
    told["withdraw"] = client.get(reverse("annotation:withdraw")).text
    told["withdrawn"] = client.post(reverse("annotation:withdraw"), follow=True).text
    way_out = reverse("annotation:stop", args=[walk.begin(client, study).code, "fill"])
    told["stopped"] = client.post(way_out, {"section": "1"}, follow=True).text

    found = {name: OF_STORIES.findall(words(page)) for name, page in told.items()}

    assert "1. The Corridor" in words(told["sheet"])
    assert "You stopped at section 1" in words(told["stopped"])
    # The consent's own box, and what a check of one's reading does, are about reading the page.
    assert words(told["consent"]).count("I have read this") == 1
    assert {name: each for name, each in found.items() if each} == {"consent": ["read"]}


def test_the_words_sought_are_there_where_stories_are_read(client: Client) -> None:
    assignment = walk.begin(client, factories.study())

    assert OF_STORIES.findall(words(client.get(page_of(assignment, "overview")).text))
    assert OF_STORIES.findall(words(client.get(page_of(assignment, "check")).text))


@pytest.mark.parametrize("fills", [True, False])
@pytest.mark.parametrize("once", [{"kind": "rating"}, {"kind": "practice"}])
def test_a_page_takes_for_a_cloze_what_the_protocol_does(client: Client, *, fills: bool, once: dict[str, str]) -> None:
    study = with_survey(clozes.study() if fills else factories.study())
    with triggers.lifted():
        Step.objects.filter(key="after").update(layout="cloze", **once)
        factories.freeze_anew(study)
    assignment = walk.begin(client, study)

    mine = work.load_work(assignment.code, rater=assignment.rater_id, at=timezone.now())

    assert mine is not None
    assert mine.protocol.fills_text == fills


def test_a_text_being_filled_says_how_many_blanks_are_left(client: Client) -> None:
    assignment = walk.begin(client, clozes.study())
    clozes.say(assignment, 1, "slippers")

    told = words(client.get(page_of(assignment, "overview")).text)

    assert "Overview of this text" in told
    assert "4 blanks left" in told
    assert "1 of 5 filled" in told


def test_what_is_asked_after_the_blanks_is_a_question_again(client: Client) -> None:
    assignment = walk.begin(client, with_survey(clozes.study(), scope="group"))

    assert "6 questions left" in words(client.get(page_of(assignment, "overview")).text)


def test_the_receipt_of_a_text_counts_its_blanks(client: Client) -> None:
    assignment = filled(client, clozes.study())

    told = words(client.post(page_of(assignment, "check"), follow=True).text)

    assert "What you wrote is submitted and safe." in told
    assert "Blanks filled 5 Active time" in told


def test_the_receipt_of_a_text_counts_what_was_asked_beside_the_blanks(client: Client) -> None:
    assignment = filled(client, with_survey(clozes.study(), scope="group"))
    factories.answer(assignment, step="after", letter="", value="Hard.", why="")

    told = words(client.post(page_of(assignment, "check"), follow=True).text)

    assert "Blanks filled 5 Answers 1 Active time" in told


def test_the_receipt_of_a_group_counts_stories_and_answers(client: Client) -> None:
    assignment = walk.begin(client, factories.study(n_stories=2))
    walk.answer_all(client, assignment)

    told = words(client.post(page_of(assignment, "check"), follow=True).text)

    assert "Your answers to this group are complete and safe." in told
    assert "Stories 2 Answers 7 Active time" in told


def test_pastes_into_reasons_are_told_only_where_reasons_are_asked_for(client: Client) -> None:
    told = {}
    for name, study in (
        ("fills", clozes.study()),
        ("fills and says why", with_survey(clozes.study("with-reasons"), rationale="optional")),
        ("reads", factories.study()),
    ):
        walk.come_in(client, study)
        told[name] = "Large pastes into your reasons" in client.get(reverse("annotation:consent")).text

    assert told == {"fills": False, "fills and says why": True, "reads": True}


def test_a_study_that_only_asks_surveys_is_not_planned_and_so_invites_nobody() -> None:
    made = Study.objects.create(slug="survey", title="A survey")
    version = ProtocolVersion.objects.create(study=made, number=1)
    Step.objects.create(version=version, position=1, key="consent", kind="consent", text="Well?")
    Step.objects.create(
        version=version, position=2, key="asked", kind="rating", instrument=survey(rationale="none"), scope="once"
    )

    with pytest.raises(protocol.NotPlannable, match="no step asks an instrument about stories or groups"):
        factories.plan(made)
