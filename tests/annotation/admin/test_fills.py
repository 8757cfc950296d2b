"""An editor at the fills of a cloze: reading, shortlisting with a reason, deriving."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Fill
from annotation.responses import submission
from studies.models import Study
from tests.annotation import clozes
from tests.studies.cloze.documents import FILLS

pytestmark = pytest.mark.django_db
LIST = "/admin/annotation/fill/"


@pytest.fixture
def editor(client: Client) -> Client:
    user = User.objects.create_user("editor", password="x", is_staff=True)
    user.groups.add(Group.objects.get(name="researcher"))
    client.force_login(user)
    return client


def fill(*, complete: bool = True, of: Study | None = None) -> Fill:
    work = clozes.assignment(of or clozes.study())
    clozes.fill(work, FILLS if complete else {1: "boots"})
    submission.submit(work, at=timezone.now())
    return Fill.objects.get(assignment=work)


def page(of: Fill) -> str:
    return reverse("admin:annotation_fill_change", args=[of.pk])


def save(client: Client, of: Fill, **given: str):
    said = {"state": "submitted", "reason": "", "edited_text": ""} | given
    response = client.post(page(of), said)
    of.refresh_from_db()
    return response


def test_an_editor_reads_what_was_written(editor: Client) -> None:
    shown = editor.get(page(fill())).text

    assert "They were brown walking boots and they were wet" in shown
    assert "open" not in shown.split("As it was written")[1].split("State")[0]


def test_shortlisting_needs_a_reason_which_is_kept_with_the_name_and_in_the_log(editor: Client) -> None:
    found = fill()

    refused = save(editor, found, state="shortlisted")
    assert "Say why it is shortlisted" in refused.text
    assert found.state == "submitted"

    assert save(editor, found, state="shortlisted", reason="The ticket returns.").status_code == 302
    assert (found.state, found.shortlisted_by, found.reason) == ("shortlisted", "editor", "The ticket returns.")
    assert LogEntry.objects.get().get_change_message() == "Shortlisted: The ticket returns."


def test_an_edited_version_is_kept_beside_what_was_written(editor: Client) -> None:
    found = fill()

    save(editor, found, edited_text="Between Basel and Freiburg …")

    assert found.edited_text == "Between Basel and Freiburg …"
    assert found.assignment.responses.get(item__key="blank-01").value == "brown walking boots"
    assert LogEntry.objects.get().get_change_message() == "edited version changed"


def test_a_text_can_be_taken_off_the_shortlist(editor: Client) -> None:
    found = fill()
    save(editor, found, state="shortlisted", reason="Good.")

    assert "A reason belongs to a text that is shortlisted" in save(editor, found, reason="Good.").text
    save(editor, found)

    assert (found.state, found.shortlisted_by, found.reason) == ("submitted", "", "")


def test_a_dropout_can_be_read_and_not_shortlisted(editor: Client) -> None:
    found = fill(complete=False)

    shown = editor.get(page(found)).text
    save(editor, found, state="shortlisted", reason="Good.")

    assert "They were boots and they were wet; in the heel<br>of the left one lay [open]." in shown
    assert found.state == "dropped_out"


def test_fills_are_neither_added_nor_deleted_by_hand(editor: Client) -> None:
    found = fill()

    assert editor.get(LIST + "add/").status_code == 403
    assert editor.post(f"{LIST}{found.pk}/delete/", {"post": "yes"}).status_code == 403


def test_a_study_is_derived_from_the_chosen_texts(editor: Client) -> None:
    source = clozes.study()
    first, second = fill(of=source), fill(of=source)
    chosen = {"action": "derive", "_selected_action": [first.pk]}

    editor.post(LIST, chosen)
    again = editor.post(LIST, chosen, follow=True)
    editor.post(LIST, chosen | {"_selected_action": [second.pk]})

    slugs = list(Study.objects.filter(slug__contains="judged").values_list("slug", flat=True))
    assert slugs == ["shoes-study-judged", "shoes-study-judged-2"]
    assert "Nothing was made: fill of" in again.text
    assert LogEntry.objects.filter(change_message="became a story of shoes-study-judged").count() == 1


@pytest.mark.parametrize("role", ["coordinator", "designer", "steward", "administrator"])
def test_no_other_role_sees_who_wrote_what(client: Client, role: str) -> None:
    user = User.objects.create_user(role, password="x", is_staff=True)
    user.groups.add(Group.objects.get(name=role))
    client.force_login(user)

    assert client.get(page(fill())).status_code == 403
    assert client.get(LIST).status_code == 403


@pytest.mark.parametrize("n", [1, 3])
def test_the_list_takes_a_fixed_number_of_queries(editor: Client, django_assert_num_queries, n: int) -> None:
    source = clozes.study()
    for _ in range(n):
        fill(of=source)

    with django_assert_num_queries(8):
        assert editor.get(LIST).status_code == 200
