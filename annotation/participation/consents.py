"""Consent: what a rater agreed to, and whether they still have to."""

from django.db import transaction

from annotation.models import Consent, Rater
from studies import hashing
from studies.models import Step


def text_sha256(step: Step) -> str:
    """The version of a consent text: changed words ask again."""
    return hashing.sha256(step.text)


def record_consent(rater: Rater, step: Step) -> Consent:
    """The rater's consent to the text of this step. A second time changes nothing."""
    with transaction.atomic():
        # One at a time for each rater, so that no consent is left out of what the rater's row repeats.
        locked = Rater.objects.select_for_update(no_key=True).get(pk=rater.pk)
        consent, _ = Consent.objects.get_or_create(rater=rater, text_sha256=text_sha256(step), defaults={"step": step})
        rater.consented_to = sorted({*locked.consented_to, consent.text_sha256})
        Rater.objects.filter(pk=rater.pk).update(consented_to=rater.consented_to)
    return consent


def find_consent(rater: Rater, step: Step) -> Consent | None:
    """The rater's consent to the text of this step; None if they have not agreed to it. One query."""
    return rater.consents.filter(text_sha256=text_sha256(step)).first()


def has_consented_before(rater: Rater) -> bool:
    """Whether the rater agreed to some text of this study, perhaps to one that was amended since."""
    return bool(rater.consented_to)


def has_consented(rater: Rater, step: Step | None) -> bool:
    """Whether the rater agreed to the text of this step; True if no step asks for it."""
    return step is None or text_sha256(step) in rater.consented_to
