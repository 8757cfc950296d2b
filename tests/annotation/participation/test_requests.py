"""Requests to be erased, honoured by the staff, and by the rater's own link after the study has closed."""

from io import StringIO

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.contrib.contenttypes.models import ContentType
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Rater, Withdrawal
from annotation.participation import invitations, withdrawal
from annotation.responses import verification
from studies.models import Study
from tests import factories
from tests.annotation.participation.test_withdrawal import n_with, speak
from tests.factories import NOON

pytestmark = pytest.mark.django_db


def test_a_label_leaves_the_log_of_the_admin_too(admin_client: Client) -> None:
    study = factories.study()
    invitation, _ = invitations.issue(study, label="Canary Jones")
    rater = invitations.ensure_rater(invitation)
    address = reverse("admin:annotation_invitation_change", args=[invitation.pk])
    admin_client.post(address, {"label": "Canary Jones II", "groups": []})
    log = {
        "user_id": User.objects.get().pk,
        "action_flag": 2,
        "object_repr": "Canary Jones",
        "change_message": "Canary",
    }
    LogEntry.objects.create(
        content_type=ContentType.objects.get_for_model(invitation), object_id=str(invitation.pk), **log
    )
    assert n_with("Canary") > 2, "it is there to leave"

    withdrawal.withdraw(rater, at=NOON)

    assert n_with("Canary") == 0
    assert LogEntry.objects.filter(object_repr="erased").exists()


def steward() -> Client:
    user = User.objects.create_user("steward", is_staff=True)
    user.groups.add(Group.objects.get(name="steward"))
    client = Client()
    client.force_login(user)
    return client


@pytest.mark.parametrize("state", ["live", "paused", "closed"])
def test_staff_honour_a_request_in_every_state_of_the_study_after_they_were_asked(state: str) -> None:
    study = factories.study()
    mine = factories.assignment(study)
    speak(mine, "canary")
    Study.objects.filter(pk=study.pk).update(state=state)
    client, chosen = steward(), {"action": "withdraw", "_selected_action": [mine.rater.pk]}
    raters = reverse("admin:annotation_rater_changelist")

    asked = client.post(raters, chosen).content.decode()
    assert f"{mine.rater.code}, " in asked
    assert "1 answer" in asked
    assert n_with("canary") > 0

    client.post(raters, chosen | {"confirmed": "yes"})

    assert n_with("canary") == 0
    assert Withdrawal.objects.get().rater == mine.rater
    assert verification.verify().faults == []


def test_nobody_without_the_right_can_withdraw_a_rater() -> None:
    mine = factories.assignment(factories.study())
    user = User.objects.create_user("coordinator", is_staff=True)
    user.groups.add(Group.objects.get(name="coordinator"))
    client = Client()
    client.force_login(user)
    chosen = {"action": "withdraw", "_selected_action": [mine.rater.pk], "confirmed": "yes"}

    client.post(reverse("admin:annotation_rater_changelist"), chosen)

    assert not Withdrawal.objects.exists()


def test_a_model_is_not_withdrawn() -> None:
    study = factories.study()
    rater = Rater.objects.create(study=study, code="gpt", kind="model")
    chosen = {"action": "withdraw", "_selected_action": [rater.pk], "confirmed": "yes"}

    steward().post(reverse("admin:annotation_rater_changelist"), chosen)

    assert not Withdrawal.objects.exists()
    with pytest.raises(CommandError, match="there is nobody with the code “gpt”"):
        call_command("withdraw", study.slug, "gpt", "--yes")


def test_the_command_says_what_it_would_do_and_does_it_when_told() -> None:
    study = factories.study()
    mine = factories.assignment(study)
    speak(mine, "canary")
    Study.objects.filter(pk=study.pk).update(state="closed")
    out = StringIO()

    call_command("withdraw", study.slug, mine.rater.code, stdout=out)
    assert "Would erase of E01 in plums: their answers (1)" in out.getvalue()
    assert n_with("canary") > 0
    call_command("withdraw", study.slug, mine.rater.code, "--yes", stdout=out)

    assert n_with("canary") == 0
    with pytest.raises(CommandError, match=r"study “x”.*: plums$"):
        call_command("withdraw", "x", "E01")


def test_the_link_of_a_closed_study_opens_onto_withdrawing_alone(client: Client) -> None:
    study = factories.study()
    _, token = invitations.issue(study)
    link = reverse("annotation:invitation", args=[token])
    client.post(link)
    mine = factories.assignment(study, Rater.objects.get())
    speak(mine, "canary")
    Study.objects.filter(pk=study.pk).update(state="closed")
    client.logout()
    _, unused = invitations.issue(study)

    page = client.get(link)
    assert "The study has closed" in page.content.decode()
    assert client.get(reverse("annotation:withdraw")).status_code == 302, "looking begins no session"
    assert "Withdraw" not in client.get(reverse("annotation:invitation", args=[unused])).text
    assert client.post(link, {"withdraw": ""})["Location"] == reverse("annotation:withdraw")
    assert client.get(reverse("annotation:home"), follow=True).redirect_chain[-1][0] == reverse("annotation:closed")
    client.post(reverse("annotation:withdraw"))

    assert n_with("canary") == 0
    assert client.get(link).status_code == 410
