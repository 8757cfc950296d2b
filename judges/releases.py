"""Derived texts released for sending: what writers filled into a cloze, and what models wrote, in one action."""

from collections.abc import Collection
from datetime import datetime

from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Substr
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from judges.models import TextRelease
from studies.models import Provenance, Source, Story, Study

LONGEST_BEGINNING = 160  # letters, by which a text is known again
NOT_WAITING = gettext_lazy("%(value)s is not among the texts that wait to be released.")


class CannotRelease(ValueError):
    """These texts cannot be released so; the message says why."""


def find_releasable(study: Study) -> list[Story]:
    """The derived texts of the study that may not be sent yet, by code. One query.

    Each has its beginning and the name of its source.
    Derived is what was filled into a cloze of ours and what a model wrote; whatever was printed elsewhere has a licence
    of its own, which is entered where it is.
    """
    derived = Q(fill__isnull=False) | Q(provenance__source__kind=Source.Kind.MODEL)
    closed = study.stories.filter(derived, is_withheld=False, provenance__may_send_out=False)
    rows = closed.annotate(beginning=Substr("text", 1, LONGEST_BEGINNING), source_name=F("provenance__source__name"))
    return list(rows.defer("text").distinct().order_by("code"))


@transaction.atomic
def release(
    study: Study, codes: Collection[str], *, licence: str = "", reason: str, by: str, at: datetime
) -> TextRelease:
    """Let these derived texts go to outside providers. Raises CannotRelease.

    licence : written beside each of them; as it is if empty
    """
    # Of two that release the same text at once, the second must be told of the first.
    Study.objects.select_for_update().get(pk=study.pk)
    if not reason.strip():
        raise CannotRelease(_("Say why these texts may be sent."))
    if not codes:
        raise CannotRelease(_("Choose at least one text."))
    if unknown := sorted(set(codes) - {story.code for story in find_releasable(study)}):
        raise CannotRelease(NOT_WAITING % {"value": unknown[0]})
    rows = Provenance.objects.filter(story__study=study, story__code__in=codes)
    rows.update(may_send_out=True, **({"licence": licence.strip()} if licence.strip() else {}))
    return TextRelease.objects.create(
        study=study, codes=sorted(codes), licence=licence.strip(), reason=reason.strip(), by=by, at=at
    )
