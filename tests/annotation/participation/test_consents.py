"""Consent is given to words: to the very words that are asked, by the rater who is asked."""

from itertools import product

import pytest

from annotation.models import Consent
from annotation.participation import consents
from studies import hashing
from studies.models import ProtocolVersion, Step
from tests import factories, triggers

pytestmark = pytest.mark.django_db

WORDS = ["You can stop at any time.", "You can stop whenever you like.", ""]


def test_consent_is_recorded_once_with_the_hash_of_its_words() -> None:
    study = factories.study()
    rater, step = factories.rater(study), Step.objects.get(key="consent")

    first, again = consents.record_consent(rater, step), consents.record_consent(rater, step)

    assert first == again == Consent.objects.get()
    assert first.text_sha256 == hashing.sha256(step.text)
    assert consents.find_consent(rater, step) == first
    assert consents.has_consented(rater, step)


def test_nobody_owes_consent_where_none_is_asked_for() -> None:
    assert consents.has_consented(factories.rater(factories.study()), None)


@pytest.mark.parametrize(("agreed", "asked"), list(product([None, *WORDS], WORDS)))
def test_only_ones_own_consent_to_the_very_words_counts(agreed: str | None, asked: str) -> None:
    study = factories.study()
    mine, theirs = factories.assignment(study), factories.assignment(study)
    step = Step.objects.get(version=mine.version, key="consent")
    with triggers.lifted():
        Step.objects.filter(pk=step.pk).update(text=asked)
    step.refresh_from_db()
    older = ProtocolVersion.objects.create(study=study, number=9)
    consents.record_consent(theirs.rater, step)
    if agreed is not None:
        before = Step.objects.create(version=older, position=1, key="consent", kind="consent", text=agreed)
        consents.record_consent(mine.rater, before)

    assert consents.has_consented(mine.rater, step) == (agreed == asked)
