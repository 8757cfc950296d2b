"""Links of studies that are not open: not launched yet, paused, or closed."""

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse

from annotation.models import Rater
from annotation.participation import invitations
from studies.models import Study
from tests import factories, triggers

pytestmark = pytest.mark.django_db


def link(study: Study) -> str:
    return reverse("annotation:invitation", args=[invitations.issue(study)[1]])


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        ("draft", "Nobody can begin yet. Once the study is open, this link lets you in."),
        ("paused", "Nobody can begin just now. Once the study is resumed, this link lets you in."),
        ("closed", "It is no longer possible to take part."),
    ],
)
def test_a_link_says_at_once_that_the_study_is_not_open_and_whom_to_write_to(client, method, state, sentence):
    address = link(factories.study(state=state))

    page = getattr(client, method)(address)

    assert page.status_code == 200
    assert sentence in page.text
    assert "us@example.org" in page.text
    assert "Continue" not in page.text
    assert "Withdraw" not in page.text
    assert (Session.objects.count(), Rater.objects.count()) == (0, 0)


@pytest.mark.parametrize("state", ["draft", "paused", "closed"])
def test_a_link_to_a_study_without_a_contact_names_its_sender(client, state):
    study = factories.study(state=state)
    with triggers.lifted():
        Study.objects.update(contact="")

    assert "For questions, write to the person who sent you the link." in client.get(link(study)).text


@pytest.mark.parametrize(
    ("state", "sentence"),
    [("paused", "your link leads you back to where you were"), ("closed", "What you saved is kept")],
)
def test_by_the_link_of_a_study_that_is_not_open_whoever_took_part_can_withdraw(client, state, sentence):
    study = factories.study()
    address = link(study)
    Client().post(address)
    Study.objects.filter(pk=study.pk).update(state=state)

    page = client.get(address)
    late = client.post(address)  # the Continue of a page that was opened before
    begun = client.session.get("rater")
    withdrawing = client.post(address, {"withdraw": ""})

    assert sentence in page.text
    assert '<button type="submit" name="withdraw"' in page.text
    assert (late.status_code, begun) == (200, None)
    assert withdrawing["Location"] == reverse("annotation:withdraw")
    assert client.get(reverse("annotation:withdraw")).status_code == 200
