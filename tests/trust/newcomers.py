"""People who come of themselves to a study of the world: from Prolific, and by applying."""

from collections.abc import Callable

from django.utils import timezone

from annotation.models import ApplicationCall, ProlificRecruitment
from annotation.participation import applications, arrivals, recruitment
from studies.models import Study
from tests import factories


def arrive(study: Study, secret: Callable[..., str]) -> None:
    """Somebody from Prolific and an applicant, whose ids, name and address only the steward may see.

    secret : a word of a kind that only some may meet
    """
    codes = {name: secret("label", name) for name in ("completed_code", "ended_code", "full_code")}
    row = ProlificRecruitment.objects.create(study=study, is_open=True, minutes=60, **codes)
    participant = recruitment.Participant(secret("identity", "pid"), session=secret("identity", "session"))
    arrivals.arrive(row, participant, at=timezone.now())
    asked = factories.instrument("eligibility", n_items=1, rationale="none", rationale_least=0)
    call = ApplicationCall.objects.create(study=study, is_open=True, instrument=asked)
    who = {"name": secret("identity", "applicant"), "email": f"{secret('identity', 'applies')}@example.org"}
    applications.apply(call, **who, answers={"item-1": "yes"}, at=timezone.now())
