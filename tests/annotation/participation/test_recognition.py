"""Knowing a story: asked before a group, said later as a flag, and shown in the long file."""

import pytest
from django.urls import reverse

from annotation.models import Assignment, Recognition, Response
from annotation.participation import claims, recognition
from annotation.progress.refusals import Refusal
from reports.export import long_table
from studies import protocol
from studies.models import Provenance, Source, Step, Story, Study
from tests import factories, triggers
from tests.annotation.walk import HTMX, address, begin, give, said

pytestmark = pytest.mark.django_db


def asked(assignment: Assignment) -> str:
    return reverse("annotation:recognition", args=[assignment.code])


@pytest.mark.parametrize(
    ("text", "opening"),
    [
        ("One. Two.", "One. Two."),
        ("It was *late*. " + "Nobody came that evening, though all were asked. " * 5, None),
        ("word " * 200, "word " * 60 + "…"),
        ("“Stop!” she said. “Who is it?”\n\nNobody.", "“Stop!” she said. “Who is it?” Nobody."),
    ],
)
def test_an_opening_is_whole_sentences_enough_to_recognise_a_story_by(text, opening):
    wanted = opening or "It was late. " + " ".join(["Nobody came that evening, though all were asked."] * 3)

    assert recognition.opening_lines(text) == wanted.strip()


def test_before_a_group_its_opening_lines_are_shown_and_nothing_else(client):
    study = factories.study(recognition=True)
    for source in Source.objects.all():
        with triggers.lifted():
            Source.objects.filter(pk=source.pk).update(name=f"CANARY {source.pk}")
    Provenance.objects.update(title="CANARY title")
    assignment = begin(client, study)

    page = client.get(address(assignment), follow=True)

    assert page.redirect_chain[-1][0] == asked(assignment)
    for code in assignment.seat.order:
        assert f"The {code} began." in page.text
    assert "Do you know any of these?" in page.text
    assert "CANARY" not in page.text
    assert Source.objects.filter(name__startswith="CANARY").count() == 4, "they are there to leak"


@pytest.mark.parametrize(
    ("n_stories", "offer"),
    [(1, "If you have read it before, you are offered another one"), (2, "If you have read one of them before")],
)
def test_the_offer_of_another_group_speaks_of_as_many_stories_as_there_are(client, n_stories, offer):
    assignment = begin(client, factories.study(recognition=True, n_stories=n_stories, comparative=n_stories > 1))

    assert offer in client.get(asked(assignment)).text


def test_opening_lines_stand_below_a_premise_that_other_groups_may_share(client):
    study = factories.study(recognition=True)
    with triggers.lifted():
        Study.objects.update(shows_premise=True)
    assignment = begin(client, study)

    page = client.get(asked(assignment)).text

    places = [page.index(said) for said in ("Premise 1", *(f"The {code} began." for code in assignment.seat.order))]
    assert places == sorted(places)


def test_a_premise_wrapped_by_an_editor_runs_on_and_keeps_its_paragraphs(client):
    study = factories.study(recognition=True)
    long = "A man who had bought the greenhouse came on a Saturday, with his"
    with triggers.lifted():
        Study.objects.update(shows_premise=True)
        study.groups.update(premise=f"{long}\ndaughter, and asked.\n\nWrite what was said then.")

    page = client.get(asked(begin(client, study))).text

    assert f'<p class="" lang="en">{long} daughter, and asked.\n\nWrite what was said then.</p>' in page


def test_a_no_goes_on_to_the_first_story_and_is_asked_once(client):
    assignment = begin(client, factories.study(recognition=True))

    onward = client.post(asked(assignment), {"knows": "no"}, follow=True)

    assert onward.redirect_chain[-1][0] == address(assignment)
    assert client.get(asked(assignment), follow=True).redirect_chain[-1][0] == address(assignment)
    assignment.refresh_from_db()
    assert (assignment.status, assignment.read_before) == ("open", False)
    assert not Recognition.objects.exists()


def test_a_yes_gives_the_seat_back_and_another_group_is_offered(client):
    study = factories.study(n_groups=2, k=1, recognition=True)
    assignment = begin(client, study)

    offered = client.post(asked(assignment), {"knows": "yes"}, follow=True)

    assert offered.redirect_chain[-1][0] == reverse("annotation:begin")
    assignment.refresh_from_db()
    assert (assignment.status, assignment.read_before, assignment.seat.is_taken) == ("given_up", True, False)
    client.post(reverse("annotation:begin"))
    other = assignment.rater.assignments.get(status="open")
    assert other.group != assignment.group
    assert claims.claim(factories.rater(study)).group == assignment.group, "the place is there for somebody else"


def test_a_yes_after_a_no_changes_nothing(client):
    assignment = begin(client, factories.study(recognition=True))
    client.post(asked(assignment), {"knows": "no"})
    give(client, assignment)

    client.post(asked(assignment), {"knows": "yes"})

    assert not recognition.give_back_seat(Assignment.objects.get(), at=factories.NOON)
    assert Assignment.objects.get().status == "open"
    assert said(assignment) == [("yes", "It is so.")]


def test_neither_yes_nor_no_is_asked_again(client):
    assignment = begin(client, factories.study(recognition=True))

    again = client.post(asked(assignment), {"knows": "perhaps"})

    assert again.status_code == 400
    assert "Please say whether you know one of them." in again.text
    assert Assignment.objects.get().read_before is None


@pytest.mark.parametrize("htmx", [False, True])
def test_no_answer_is_taken_and_no_story_shown_before_it_is_said(client, htmx):
    assignment = begin(client, factories.study(recognition=True))

    refused = give(client, assignment, htmx=htmx)
    story = client.get(reverse("annotation:story", args=[assignment.code, "A"]), follow=True)

    assert refused.status_code == 409
    assert Refusal.OWES_RECOGNITION.sentence in refused.text
    assert story.redirect_chain[-1][0] == asked(assignment)
    assert not Response.objects.exists()


def test_where_the_protocol_does_not_ask_the_group_begins_at_once(client):
    assignment = begin(client, factories.study(recognition=False))

    assert client.get("/", follow=True).redirect_chain[-1][0] == address(assignment)
    assert client.get(asked(assignment), follow=True).redirect_chain[-1][0] == address(assignment)
    assert "I recognise this story" not in client.get(address(assignment)).text


def test_without_a_reading_desk_nobody_is_asked(client):
    study = factories.study(recognition=True, planned=False)
    Step.objects.filter(key="tests").delete()
    factories.plan(study)
    assignment = begin(client, study)

    assert client.get("/", follow=True).redirect_chain[-1][0] != asked(assignment)
    assert client.get("/").status_code == 302


def test_the_frozen_protocol_says_whether_it_is_asked():
    study = factories.study(recognition=True)

    assert '"asks_recognition":true' in protocol.current(study).document


@pytest.fixture
def assignment(client):
    made = begin(client, factories.study(recognition=True))
    client.post(asked(made), {"knows": "no"})
    give(client, made)
    return made


def flag(client, assignment, knows, letter="A", **more):
    url = reverse("annotation:recognised", args=[assignment.code, letter])
    return client.post(url, {"knows": knows}, **more)


def test_a_story_is_flagged_and_the_flag_taken_back_while_the_work_stands(client, assignment):
    pressed = flag(client, assignment, "yes", headers=HTMX)
    known = list(Recognition.objects.values_list("story__code", flat=True))
    page = client.get(address(assignment)).text
    back = flag(client, assignment, "no")

    assert 'aria-pressed="true"' in pressed.text
    assert known == [assignment.seat.order[0]]
    assert 'aria-pressed="true"' in page
    assert back.url == reverse("annotation:assignment", args=[assignment.code])
    assert not Recognition.objects.exists()
    assert said(assignment) == [("yes", "It is so.")]
    assert Assignment.objects.get().status == "open"


def test_a_story_flagged_twice_has_one_flag(client, assignment):
    for _ in range(2):
        flag(client, assignment, "yes")

    assert Recognition.objects.count() == 1


@pytest.mark.parametrize(("letter", "status"), [("D", 409), ("Z", 404)])
def test_a_story_that_cannot_be_read_yet_cannot_be_flagged(client, assignment, letter, status):
    assert flag(client, assignment, "yes", letter).status_code == status
    assert not Recognition.objects.exists()


def test_after_submission_no_flag_changes(client, assignment):
    Assignment.objects.update(status="submitted")

    assert flag(client, assignment, "yes").status_code == 409
    assert not Recognition.objects.exists()


def test_the_long_file_says_for_each_row_whether_its_story_was_known(client, assignment):
    give(client, assignment, letter="B")
    flag(client, assignment, "yes", "B")
    unasked = factories.assignment(assignment.study)
    factories.answer(unasked)

    rows = list(long_table.rows(assignment.study, with_sources=False))

    first, second = assignment.seat.order[:2]
    said = {(row["rater"], row["story"]): row["read_before"] for row in rows}
    assert said == {
        (assignment.rater.code, first): "no",
        (assignment.rater.code, second): "yes",
        (unasked.rater.code, unasked.seat.order[0]): "",
    }
    assert Story.objects.count() == 4


def test_an_opening_keeps_the_lines_of_verse_and_lets_wrapped_prose_run_on():
    verse = "The ferry does not wait for us,\n    it never did; the gulls, the rope,"
    prose = "A man who had bought the greenhouse came on a Saturday, with his\ndaughter, and asked whether it was so."

    assert recognition.opening_lines(f"{verse}\n\nIt ended.") == f"{verse}\n\nIt ended."
    assert recognition.opening_lines(f"{prose}\n\nIt ended.") == prose.replace("\n", " ")


def test_the_opening_of_a_dialogue_does_not_end_with_the_name_of_whoever_speaks_next():
    lines = [
        "MARGIT. You have put the chair on the table.",
        "JONAS.  So that it does not get wet.",
        "MARGIT. It rains.",
    ]
    dialogue = "\n".join([*lines, *lines])

    opening = recognition.opening_lines(f"A kitchen. Two chairs.\n\n{dialogue}")

    assert opening == "A kitchen. Two chairs.\n\n" + "\n".join(lines[:2])
