"""What lacks of the ways by which people come of themselves: a study is not launched with a door that leads nowhere."""

from collections.abc import Iterator

from django.utils.translation import gettext as _

from annotation.models import ApplicationCall, ProlificRecruitment
from studies.models import Study
from studies.protocol import Finding, Purpose

BEFORE_RATERS = frozenset({Purpose.LAUNCH})


def find_gaps(study: Study) -> Iterator[Finding]:
    """What lacks so that people may come from Prolific, or apply. Two queries."""
    call = ApplicationCall.objects.filter(study=study).first()
    if call and call.is_open and call.instrument_id is None:
        sentence, way_out = _("people may apply, but no questions of eligibility are chosen"), _("choose them")
        yield Finding("error", "", sentence, way_out, BEFORE_RATERS, "applications", "id_instrument")
    row = ProlificRecruitment.objects.filter(study=study).first()
    if row and row.is_open and not row.is_ready:
        sentence = _("people are to come from Prolific, but not all of its three codes are there")
        way_out = _("fill them in, or switch Prolific off")
        yield Finding("error", "", sentence, way_out, BEFORE_RATERS, "prolific", "id_completed_code")
