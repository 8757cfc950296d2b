"""A lost link is replaced: the new one leads to the same rater, the old one says so, and its sessions have ended."""

from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Assignment, Invitation, Rater, ReplacedLink
from annotation.participation import invitations, withdrawal
from config import roles
from studies.models import Study
from tests import factories, triggers
from tests.annotation import walk
from tests.annotation.admin.test_links import LINK
from tests.factories import NOON

pytestmark = pytest.mark.django_db
LISTS = {"invitation": "admin:annotation_invitation_changelist", "rater": "admin:annotation_rater_changelist"}


def address(token: str) -> str:
    return reverse("annotation:invitation", args=[token])


def signed_in(role: str) -> Client:
    client = Client()
    client.force_login(factories.staff(role))
    return client


def choose(client: Client, table: str, *rows: Invitation | Rater, **more: str):
    form = {"action": "replace_link", "_selected_action": [row.pk for row in rows]} | more
    return client.post(reverse(LISTS[table]), form)


def test_a_new_link_leads_to_the_same_rater_and_what_was_saved_there(client: Client) -> None:
    assignment = walk.begin(client, factories.study())
    walk.give(client, assignment)
    token = invitations.replace_link(Invitation.objects.get(), at=NOON)
    elsewhere = Client()

    elsewhere.post(address(token))
    walk.give(elsewhere, assignment, "no", item=2)

    assert walk.said(assignment) == [("yes", "It is so."), ("no", "It is so.")]
    assert (Rater.objects.count(), Assignment.objects.count(), Invitation.objects.count()) == (1, 1, 1)


def test_the_old_link_says_that_it_was_replaced_and_opens_nothing(client: Client) -> None:
    study = factories.study()
    with triggers.lifted():
        Study.objects.update(contact="study@example.org")
    invitation, first = invitations.issue(study)
    client.post(address(first))
    second = invitations.replace_link(invitation, at=NOON)
    third = invitations.replace_link(invitation, at=NOON)

    for token in (first, second):
        stranger = Client()
        pages = [stranger.get(address(token)), stranger.post(address(token))]

        assert {page.status_code for page in pages} == {410}
        assert all("This link has been replaced" in page.text for page in pages)
        assert "study@example.org" in pages[0].text
        assert "sessionid" not in stranger.cookies
    assert Client().get(address(third)).status_code == 200
    assert Client().get(address("x" + third)).status_code == 404


def test_a_session_of_the_old_link_has_ended_on_every_page_and_in_every_save(client: Client) -> None:
    assignment = walk.begin(client, factories.study())
    assert walk.give(client, assignment, htmx=True).status_code == 200

    invitations.replace_link(Invitation.objects.get(), at=NOON)

    assert walk.give(client, assignment, "no", base=1, htmx=True).status_code == 401
    assert client.get(walk.address(assignment)).url == "/again/"
    assert client.get(reverse("annotation:withdraw")).url == "/again/"
    strangers = client.get("/")
    assert strangers.status_code == 200
    assert "Withdraw from the study" not in strangers.text, "of no study"
    assert walk.said(assignment) == [("yes", "It is so.")]


def test_a_session_that_began_before_links_could_be_replaced_goes_on(client: Client) -> None:
    assignment = walk.begin(client, factories.study())
    session = client.session
    del session["link"]
    session.save()

    assert walk.give(client, assignment, htmx=True).status_code == 200


def test_a_link_that_nobody_has_opened_is_replaced_too() -> None:
    invitation, lost = invitations.issue(factories.study())

    token = invitations.replace_link(invitation, at=NOON)

    assert invitations.find_by_token(token, at=NOON) == invitation
    assert invitations.find_by_token(lost, at=NOON) is None
    assert invitations.find_replaced(lost) == invitation


def test_only_hashes_of_replaced_links_are_kept() -> None:
    invitation, lost = invitations.issue(factories.study())

    token = invitations.replace_link(invitation, at=NOON)

    rows = str(list(ReplacedLink.objects.values())) + str(list(Invitation.objects.values()))
    assert ReplacedLink.objects.get().token_sha256 == invitations.hash_token(lost)
    assert lost not in rows
    assert token not in rows


def test_after_closing_a_new_link_opens_onto_withdrawing_for_whoever_took_part(client: Client) -> None:
    study = factories.study()
    assignment = walk.begin(client, study)
    unused, _ = invitations.issue(study)
    Study.objects.update(state="closed")
    study.refresh_from_db()

    token = invitations.replace_link(Invitation.objects.get(rater=assignment.rater), at=NOON)

    assert Client().post(address(token), {"withdraw": ""}).url == reverse("annotation:withdraw")
    unused.refresh_from_db()
    with pytest.raises(invitations.CannotReplace, match="The study is over, and nobody has come in by this link"):
        invitations.replace_link(unused, at=NOON)


@pytest.mark.parametrize(
    ("obstacle", "sentence"),
    [
        ("withdrawn", "E01 has withdrawn, so there is no place to come back to."),
        ("revoked", "This link was revoked. To let the person in again, issue a link for a new rater."),
        ("expired", "This link has expired, and so would a new one for the same rater. Issue a link for a new rater."),
    ],
)
def test_what_is_in_the_way_of_a_new_link_is_said_and_nothing_changes(obstacle: str, sentence: str) -> None:
    study = factories.study()
    invitation, _ = invitations.issue(study, expires_at=NOON + timedelta(days=1))
    rater = invitations.ensure_rater(invitation)
    if obstacle == "withdrawn":
        withdrawal.withdraw(rater, at=NOON)
    elif obstacle == "revoked":
        invitations.revoke(invitation, at=NOON)
    at = NOON + timedelta(days=2) if obstacle == "expired" else NOON
    invitation = Invitation.objects.get()

    with pytest.raises(invitations.CannotReplace) as error:
        invitations.replace_link(invitation, at=at)

    assert str(error.value) == sentence
    assert not ReplacedLink.objects.exists()
    assert Invitation.objects.get().token_sha256 == invitation.token_sha256


def test_of_a_link_that_was_revoked_the_replaced_one_opens_nothing_either() -> None:
    invitation, lost = invitations.issue(factories.study())
    invitations.replace_link(invitation, at=NOON)

    invitations.revoke(invitation, at=NOON)

    assert Client().get(address(lost)).status_code == 404


# ── by the staff ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("table", LISTS)
def test_a_coordinator_is_asked_first_and_shown_the_new_link_once(table: str) -> None:
    study, coordinator = factories.study(), signed_in("coordinator")
    taken, _ = invitations.issue(study, label="London")
    rater = invitations.ensure_rater(taken)
    row = taken if table == "invitation" else rater

    asked = choose(coordinator, table, row)
    assert "E01 (London), " in asked.text
    assert not LINK.search(asked.text)
    assert not ReplacedLink.objects.exists()
    shown = choose(coordinator, table, row, confirmed="yes")

    (token,) = LINK.findall(shown.text)
    assert invitations.find_by_token(token, at=NOON) == taken
    assert "no-store" in shown.headers["Cache-Control"]
    assert LogEntry.objects.get().change_message == "replaced by a new link"
    assert token not in coordinator.get(reverse(LISTS[table])).text


def test_the_list_says_for_whom_there_can_be_no_new_link() -> None:
    study, coordinator = factories.study(), signed_in("coordinator")
    taken, gone = (invitations.ensure_rater(invitations.issue(study)[0]) for _ in range(2))
    withdrawal.withdraw(gone, at=NOON)
    by_hand = factories.rater(study, "Expert")

    asked = choose(coordinator, "rater", taken, gone, by_hand)
    shown = choose(coordinator, "rater", taken, gone, by_hand, confirmed="yes")
    nobody = choose(coordinator, "rater", by_hand, confirmed="yes")

    assert "E02 has withdrawn" in asked.text
    assert len(LINK.findall(shown.text)) == 1
    assert "None of these people opened a link." in nobody.text


@pytest.mark.parametrize("role", sorted(set(roles.ROLES) - {"coordinator"}))
@pytest.mark.parametrize("table", LISTS)
def test_no_other_role_can_make_a_new_link(role: str, table: str) -> None:
    invitation, token = invitations.issue(factories.study())
    rater = invitations.ensure_rater(invitation)

    answer = choose(signed_in(role), table, invitation if table == "invitation" else rater, confirmed="yes")

    assert not LINK.search(answer.text)
    assert invitations.find_by_token(token, at=NOON) == invitation


def test_the_command_prints_the_new_link() -> None:
    invitation, _ = invitations.issue(factories.study())
    invitations.ensure_rater(invitation)
    out = StringIO()

    call_command("new_link", "plums", "E01", stdout=out)

    token = out.getvalue().strip().strip("/").split("/")[-1]
    assert invitations.find_by_token(token, at=NOON) == invitation


@pytest.mark.parametrize(
    ("study", "code", "sentence"),
    [
        ("pears", "E01", "there is no study “pears”; there are: plums"),
        ("plums", "E07", "there is nobody with the code “E07” in plums"),
        ("plums", "gpt", "there is nobody with the code “gpt” in plums"),
        ("plums", "Expert", "Expert in plums did not come in by a link, so there is none to replace"),
        ("plums", "E01", "E01 has withdrawn, so there is no place to come back to."),
    ],
)
def test_the_command_says_what_is_in_the_way(study: str, code: str, sentence: str) -> None:
    plums = factories.study()
    withdrawal.withdraw(invitations.ensure_rater(invitations.issue(plums)[0]), at=NOON)
    factories.rater(plums, "Expert")
    factories.rater(plums, "gpt", kind=Rater.Kind.MODEL)

    with pytest.raises(CommandError) as error:
        call_command("new_link", study, code)

    assert str(error.value) == sentence
