"""Links are issued and revoked in the admin, shown once and stored nowhere."""

import re
from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import (
    Invitation,
)
from annotation.participation import invitations
from tests import factories
from tests.annotation.conftest import url

pytestmark = pytest.mark.django_db


LINK = re.compile(r"http://testserver/r/([\w-]{43})/")


# ── links ──────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_links_are_shown_once_and_stored_nowhere(staff: Client) -> None:
    study = factories.study()

    page = staff.post(url("annotation_invitation", "issue"), {"study": study.pk, "n": 3, "label": "London"})

    tokens = LINK.findall(page.content.decode())
    assert len(set(tokens)) == 3
    assert page.headers["Cache-Control"] == "max-age=0, no-cache, no-store, must-revalidate, private"
    issued = Invitation.objects.order_by("pk")
    assert [i.label for i in issued] == ["London 1", "London 2", "London 3"]
    assert [i.token_sha256 for i in issued] == [invitations.hash_token(token) for token in tokens]
    pages = [
        url("annotation_invitation"),
        url("annotation_invitation", "change", issued[0].pk),
        reverse("admin:records"),
    ]
    for each in pages:
        assert not [token for token in tokens if token in staff.get(each).content.decode()]
    assert not LogEntry.objects.filter(change_message__contains=tokens[0]).exists()


def test_a_link_that_was_issued_lets_somebody_in(staff: Client) -> None:
    study = factories.study()

    page = staff.post(url("annotation_invitation", "issue"), {"study": study.pk, "n": 1})

    (token,) = LINK.findall(page.content.decode())
    opened = invitations.find_by_token(token, at=timezone.now())
    assert opened == Invitation.objects.get()


def test_a_link_can_be_for_some_groups_and_for_a_time(staff: Client) -> None:
    study = factories.study(n_groups=3)
    until = (timezone.now() + timedelta(days=2)).replace(second=0, microsecond=0)

    staff.post(
        url("annotation_invitation", "issue"),
        {"study": study.pk, "n": 1, "groups": "plot1, plot3", "expires_at": until.strftime("%Y-%m-%dT%H:%M")},
    )

    invitation = Invitation.objects.get()
    assert [g.code for g in invitation.groups.all()] == ["plot1", "plot3"]
    assert invitation.expires_at == until


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"groups": "plot9"}, "plums has no group plot9; it has plot1."),
        ({"n": "0"}, "Ensure this value is greater than or equal to 1."),
        ({"n": "201"}, "Ensure this value is less than or equal to 200."),
        ({"expires_at": "2020-01-01T12:00"}, "This has passed; give a later time, or none."),
        ({"study": "0"}, "That choice is not one of the available choices."),
    ],
)
def test_links_that_make_no_sense_are_not_issued(staff: Client, given: dict[str, str], said: str) -> None:
    study = factories.study()

    page = staff.post(url("annotation_invitation", "issue"), {"study": study.pk, "n": "1"} | given)

    assert said in page.content.decode()
    assert Invitation.objects.count() == 0


def test_looking_at_the_form_issues_nothing(staff: Client) -> None:
    study = factories.study()

    page = staff.get(url("annotation_invitation", "issue"), {"study": study.pk})

    assert f'<option value="{study.pk}" selected>' in page.content.decode()
    assert Invitation.objects.count() == 0


def test_a_revoked_link_opens_nothing(staff: Client) -> None:
    invitation, token = invitations.issue(factories.study())
    assert invitations.find_by_token(token, at=timezone.now()) == invitation

    staff.post(url("annotation_invitation"), {"action": "revoke", "_selected_action": [invitation.pk]})

    assert invitations.find_by_token(token, at=timezone.now()) is None
    assert "revoked" in staff.get(url("annotation_invitation")).content.decode()
