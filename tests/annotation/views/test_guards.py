"""What happens to a save whose session has ended."""

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import Invitation, Rater, Response
from annotation.participation import invitations, withdrawal
from tests import factories
from tests.annotation import walk
from tests.annotation.walk import begin, give

pytestmark = pytest.mark.django_db


def test_a_script_is_told_401_and_nothing_that_could_pass_for_success(client):
    assignment = begin(client, factories.study())
    client.session.flush()

    answer = give(client, assignment, htmx=True)

    assert (answer.status_code, answer.text) == (401, "Your session has ended.")
    assert answer.headers["Quire-Reason"] == "ended"
    assert not Response.objects.exists()


def test_without_a_script_what_was_written_is_given_back(client):
    assignment = begin(client, factories.study())
    client.session.flush()

    answer = give(client, assignment, "yes", "Long <b>reasons</b>.")

    assert answer.status_code == 401
    assert "Long &lt;b&gt;reasons&lt;/b&gt;." in answer.text
    assert "Open the link in your invitation again" in answer.text
    assert not Response.objects.exists()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda invitation: invitations.replace_link(invitation, at=timezone.now()), "renewed"),
        (lambda invitation: Invitation.objects.update(revoked_at=timezone.now()), "revoked"),
        (lambda invitation: withdrawal.withdraw(invitation.rater, at=timezone.now()), "withdrawn"),
    ],
)
def test_a_script_is_told_why_a_session_has_ended(client, change, reason):
    assignment = begin(client, factories.study())
    change(Invitation.objects.get())

    answer = give(client, assignment, htmx=True)

    assert (answer.status_code, answer.headers["Quire-Reason"]) == (401, reason)


def test_pages_say_why_a_session_has_ended(client):
    assignment = begin(client, factories.study())
    address = walk.address(assignment)

    invitations.replace_link(Invitation.objects.get(), at=timezone.now())
    assert "A new link was made for you" in client.get(address, follow=True).text
    Invitation.objects.update(revoked_at=timezone.now())
    assert "have ended your part in it" in client.get(address, follow=True).text
    assert "Long reasons." in give(client, assignment, "yes", "Long reasons.").text
    withdrawal.withdraw(Rater.objects.get(), at=timezone.now())
    assert "What you wrote has been erased" in client.get(address, follow=True).text


def test_who_comes_in_after_somebody_has_withdrawn_in_that_browser_is_not_taken_for_them(client):
    begin(client, factories.study("pears"))
    client.post(reverse("annotation:withdraw"))
    assignment = begin(client, factories.study())
    invitations.replace_link(assignment.rater.invitation, at=timezone.now())

    answer = give(client, assignment, htmx=True)

    assert (answer.status_code, answer.headers["Quire-Reason"]) == (401, "renewed")
