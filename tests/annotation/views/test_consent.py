"""Consent: nothing begins without it, and it is kept with the version of its text."""

import hashlib

import pytest
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.html import escape

from annotation.models import Consent, Response
from annotation.participation import claims
from studies import protocol
from studies.models import ProtocolVersion, Study
from tests import factories, triggers
from tests.annotation import walk
from tests.annotation.arriving import CONSENT

pytestmark = pytest.mark.django_db


RECORDED_TIME = (
    "Your active time with each story and part: only while the page is visible and you did something within the last "
    "minute."
)


RECORDED_PASTES = "Large pastes into your reasons: that there was one, and how long it was."


def test_consent_is_a_box_that_nobody_has_ticked_and_without_it_nothing_begins(client):
    rater = walk.come_in(client, factories.study())

    page = client.get(CONSENT)
    refused = client.post(CONSENT, {})
    begun = client.post(reverse("annotation:begin"))

    assert "You can stop at any time." in page.text
    assert "checked" not in page.text.split("agrees")[1].split(">")[0]
    assert refused.status_code == 400
    assert refused.text.count("Please tick the box if you agree.") == 2, "in the summary and at the box"
    assert begun.url == CONSENT
    assert (Consent.objects.count(), rater.assignments.count()) == (0, 0)


def test_consent_is_kept_with_the_version_of_its_text_and_a_copy_can_be_kept(client):
    rater = walk.come_in(client, factories.study())

    client.post(CONSENT, {"agrees": "yes"})

    sha256 = hashlib.sha256(b"You can stop at any time.").hexdigest()
    assert rater.consents.get().text_sha256 == sha256
    copy = client.get(reverse("annotation:consent_copy")).text
    assert "You can stop at any time." in copy
    assert sha256[:16] in copy
    assert "not yet" not in copy


@pytest.mark.parametrize("language", ["en", "pt-br"])
def test_consent_and_its_copy_name_what_is_recorded_whatever_the_study_says(client, language):
    study = factories.study()
    with triggers.lifted():
        Study.objects.update(language=language)
    walk.come_in(client, study)

    pages = [client.get(CONSENT).text, client.get("/consent/copy/").text]

    with translation.override(language):
        said = [translation.gettext(each) for each in ("What is recorded", RECORDED_TIME, RECORDED_PASTES)]
    assert language == "en" or RECORDED_TIME not in said
    assert all(escape(each) in page for each in said for page in pages)


def test_a_changed_consent_text_asks_again(client):
    study = factories.study()
    walk.come_in(client, study)
    client.post(CONSENT, {"agrees": "yes"})
    assert client.get("/", follow=True).redirect_chain[-1][0] == "/group/"

    second = ProtocolVersion.objects.create(study=study, number=2)
    for step in study.versions.get(number=1).steps.all():
        changed = "You can stop, and you are paid." if step.kind == "consent" else step.text
        step.pk, step.version, step.text = None, second, changed
        step.save(force_insert=True)
    protocol.freeze(second, purpose=protocol.Purpose.LAUNCH, reason="pay", by="tests", at=timezone.now())

    assert client.get("/", follow=True).redirect_chain[-1][0] == CONSENT


def test_an_answer_before_consent_is_refused(client):
    study = factories.study()
    assignment = claims.claim(walk.come_in(client, study))

    response = walk.give(client, assignment)

    assert response.status_code == 409
    assert "Please give your consent first" in response.text
    assert Response.objects.count() == 0
    assert client.get(walk.address(assignment), follow=True).redirect_chain[-1][0] == CONSENT
