"""What a study amounts to: everything that a report says, as one JSON document, computed once for the same inputs."""

import json
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, Max, Q, Sum

from annotation.models import Assignment, Consent, Fill, Rater, Response, StepTaken, Timing, Withdrawal
from reports import agreeing, beside, cloze, comparing, passing, preferring
from reports.material import Material, is_sealed
from reports.models import Report
from reports.progress import progress
from studies import hashing, protocol
from studies.models import Provenance, Study

# Counts up when a result changes for the same inputs: stored reports of an older number are computed anew.
EDITION = 6


def compute(study: Study, *, blind: bool = False) -> dict[str, Any]:
    """The results of a study, from its rows. While it is live, and for blind readers: nothing by source."""
    material = Material.of(study, blind=blind)
    guesses = [a for a in material.asked if comparing.is_guess(a)]
    found = {
        "study": _about(study),
        "is_sealed": material.sealed,
        "sources": [
            {"source": name, "kind": kind, "n_stories": sum(a["source"] == name for a in material.about.values())}
            for name, kind in material.sources
        ],
        "progress": progress(material),
        "pass_rates": passing.pass_rates(material),
        "ratings": passing.ratings(material),
        "shares": passing.shares(material, but=guesses),
        "agreement": agreeing.agreement_by_item(material),
        "tests_passed": passing.tests_passed(material),
        "preferences": preferring.preferences(material),
        "rankings": comparing.ranking(material),
        "authorship": comparing.authorship(material),
        "checks": passing.checks(material),
        "surveys": passing.surveys(material),
        "cloze": cloze.cloze(study),
        "judges": beside.judges(material),
    }
    # Plain JSON, so that a stored report and a fresh one are the same document.
    return dict(json.loads(json.dumps(found, allow_nan=False)))


def _about(study: Study) -> dict[str, Any]:
    version = study.versions.exclude(frozen_at=None).order_by("-number").first()
    frozen = {"version": version.number, "sha256": version.sha256} if version else None
    return {
        "slug": study.slug,
        "title": study.title,
        "state": study.state,
        "notice": study.notice,
        "seed": study.seed,
        "protocol": frozen,
    }


def fingerprint(study: Study, *, blind: bool = False) -> str:
    """SHA-256 of what the results depend on. Every saved answer counts up its revision, so sums tell of any change.

    Left out is the clock of whoever is at work in a live study: it runs on with every open page, and each look at the
    report would store another. A stored report has it as it was when it was computed.
    """
    sealed, about = blind or is_sealed(study), _about(study)
    answers = Response.objects.filter(assignment__study=study).aggregate(
        n=Count("pk"), revisions=Sum("revision"), last=Max("last_edited_at")
    )
    told = ("story__code", "source__name", "source__kind", "factors")
    sources = Provenance.objects.filter(story__study=study).order_by("story__code").values_list(*told)
    at_last_attempt = Count("steps_taken", filter=Q(steps_taken__attempt=StepTaken.ATTEMPTS))
    raters = study.raters.order_by("pk").annotate(n_last_attempts=at_last_attempt)
    withdrawals = Withdrawal.objects.filter(rater__study=study)
    timings = Timing.objects.filter(assignment__study=study)
    if study.state == Study.State.LIVE:
        timings = timings.exclude(assignment__status=Assignment.Status.OPEN)
    inputs = {
        "edition": EDITION,
        "study": about,
        # A frozen protocol has its own hash.
        "draft": "" if about["protocol"] else _draft(study),
        "answers": {**answers, "last": str(answers["last"])},
        "assignments": list(study.assignments.order_by("pk").values_list("pk", "status")),
        "raters": list(raters.values_list("code", "kind", "is_simulated", "n_last_attempts")),
        "withdrawals": list(withdrawals.order_by("pk").values_list("rater_id", flat=True)),
        "seats": study.seats.filter(rater_kind=Rater.Kind.PERSON).count(),
        "invitations": study.invitations.count(),
        "consents": Consent.objects.filter(rater__study=study).count(),
        "seconds": timings.aggregate(total=Sum("active_seconds"))["total"],
        "fills": list(Fill.objects.filter(assignment__study=study).order_by("pk").values_list("pk", "state")),
        "sealed": sealed,
        # Sealed results do not depend on sources, and nothing else may ask for them.
        "sources": [] if sealed else list(sources),
    }
    return hashing.sha256(hashing.canonical(inputs))


def _draft(study: Study) -> str:
    """SHA-256 of the protocol as far as it is written."""
    version = study.versions.first()
    return hashing.sha256(protocol.document(protocol.read(version))) if version else ""


def report(study: Study, *, at: datetime, by: str, blind: bool = False) -> Report:
    """The stored report of the study as it is now, computed if there is none of the same inputs.

    blind : leave out everything by source though the study is closed
    """
    inputs = fingerprint(study, blind=blind)
    stored = Report.objects.filter(study=study, kind=Report.Kind.RESULTS, fingerprint=inputs).first()
    if stored:
        return stored
    fresh = {"result": compute(study, blind=blind), "made_at": at, "made_by": by}
    try:
        with transaction.atomic():
            return Report.objects.create(study=study, kind=Report.Kind.RESULTS, fingerprint=inputs, **fresh)
    except IntegrityError:
        # Somebody else asked at the same moment.
        return Report.objects.get(study=study, kind=Report.Kind.RESULTS, fingerprint=inputs)


__all__ = ["compute", "fingerprint", "is_sealed", "report"]
