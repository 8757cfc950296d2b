"""Celery tasks: the nightly reports."""

import logging
from datetime import timedelta

from celery import shared_task
from django.db.models import Q
from django.utils import timezone

from reports import results
from studies.models import Study

log = logging.getLogger(__name__)

# After closing, late answers of judges and erasures still change results for a while.
RECENT = timedelta(days=30)


@shared_task  # type: ignore[untyped-decorator]
def nightly() -> int:
    """Compute and store the report of each live or recently closed study whose inputs changed; how many there were."""
    now = timezone.now()
    due = Study.objects.filter(
        Q(state__in=[Study.State.LIVE, Study.State.PAUSED]) | Q(state=Study.State.CLOSED, closed_at__gte=now - RECENT)
    )
    n_stored = 0
    for study in due:
        try:
            n_stored += results.ensure_report(study, at=now, by="nightly").made_at == now
        except Exception:
            # One study that cannot be computed must not cost the others their report.
            log.exception("no nightly report of %s", study.slug)
    return n_stored
