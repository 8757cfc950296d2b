"""What a study's results depend on, as fingerprints: the same inputs are computed once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Max, OuterRef, Q, Subquery, Sum, TextField
from django.db.models.functions import Cast

from annotation.models import Assignment, Consent, Fill, Rater, Response, Timing, Withdrawal
from judges.models import Attempt, ReferenceSet
from reports import dataset
from reports.dataset import is_sealed
from reports.figures import all_figures
from reports.figures.codec import encode
from reports.rationales import codings
from studies import hashing, protocol
from studies.models import Amendment, ProtocolVersion, Provenance, Study


@dataclass(frozen=True, kw_only=True)
class FrozenProtocol:
    version: int
    sha256: str


@dataclass(frozen=True, kw_only=True)
class StudySummary:
    slug: str
    title: str
    state: str
    notice: str
    seed: int
    protocol: FrozenProtocol | None
    has_plan: bool = False


def describe_study(study: Study) -> StudySummary:
    return _describe(study, _last_version(study))


def _describe(study: Study, version: ProtocolVersion | None) -> StudySummary:
    return StudySummary(
        slug=study.slug,
        title=study.title,
        state=study.state,
        notice=study.notice,
        seed=study.seed,
        protocol=FrozenProtocol(version=version.number, sha256=version.sha256) if version else None,
        has_plan=version is not None and protocol.plan_of(version) is not None,
    )


def _last_version(study: Study) -> ProtocolVersion | None:
    """The version that holds now, with the digest of the last amendment as `last_amendment`. One query."""
    last = Amendment.objects.filter(study=OuterRef("study")).order_by("-number").values("digest")[:1]
    return study.frozen_versions.annotate(last_amendment=Subquery(last)).last()


DATASET = "dataset"  # its edition stands beside those of the figures; no figure is called so


def fingerprint(study: Study, *, blind: bool = False) -> str:
    """SHA-256 of what the results depend on: the study, and by which editions of the figures they are computed."""
    return Fingerprints.of(study, blind=blind).whole


def list_editions() -> dict[str, int]:
    """The edition of each figure as it is computed now, and of how a study is read."""
    return {DATASET: dataset.EDITION, **{figure.key: figure.edition for figure in all_figures().values()}}


@dataclass(frozen=True)
class Fingerprints:
    """whole : of a report by the editions of now; inputs : of the study alone, whatever the editions"""

    whole: str
    inputs: str

    @classmethod
    def of(cls, study: Study, *, blind: bool) -> Fingerprints:
        inputs, editions = _read_inputs(study, blind=blind), list_editions()
        whole = {"edition": editions.pop(DATASET), "figures": editions, **inputs}
        return cls(hashing.sha256(hashing.canonical_json(whole)), hashing.sha256(hashing.canonical_json(inputs)))


def _read_inputs(study: Study, *, blind: bool) -> dict[str, Any]:
    """What a study's results depend on. Every saved answer counts up its revision, so sums tell of any change. Whatever
    is added here has the reports of closed studies computed anew.

    Left out is the clock of whoever is at work in a live study: it runs on with every open page, and each look at the
    report would store another. A stored report has it as it was when it was computed.
    """
    version = _last_version(study)
    sealed, about = blind or is_sealed(study), encode(_describe(study, version))
    answers = Response.objects.filter(assignment__study=study).aggregate(
        n=Count("pk"), revisions=Sum("revision"), last=Max("last_edited_at")
    )
    fields = ("story__code", "source__name", "source__kind", "factors")
    sources = Provenance.objects.filter(story__study=study).order_by("story__code").values_list(*fields)
    raters = study.raters.order_by("pk").annotate(n_failed=Count("steps_taken", filter=~Q(steps_taken__wrong=[])))
    withdrawals = Withdrawal.objects.filter(rater__study=study)
    timings = Timing.objects.filter(assignment__study=study)
    if not study.is_closed:
        timings = timings.exclude(assignment__status=Assignment.Status.OPEN)
    reference_sets = ReferenceSet.objects.filter(study=study).order_by("name")
    return {
        "study": about,
        # A frozen protocol has its own hash.
        "last_amendment": getattr(version, "last_amendment", None),
        "draft": "" if about["protocol"] else _draft_sha256(study),
        "reference_sets": list(reference_sets.values_list("name", "sha256")),
        "answers": {**answers, "last": str(answers["last"])},
        "assignments": list(study.assignments.order_by("pk").values_list("pk", "status")),
        "raters": list(raters.values_list("code", "kind", "is_simulated", "n_failed")),
        "withdrawals": list(withdrawals.order_by("pk").values_list("rater_id", flat=True)),
        "seats": study.seats.filter(rater_kind=Rater.Kind.PERSON).count(),
        "invitations": study.invitations.count(),
        "consents": Consent.objects.filter(rater__study=study).count(),
        "seconds": timings.aggregate(total=Sum("active_seconds"))["total"],
        "fills": list(Fill.objects.filter(assignment__study=study).order_by("pk").values_list("pk", "state")),
        # A request that is still on its way changes the cost when it comes back.
        "requests": Attempt.objects.filter(call__run__study=study, call__run__drift_check=None).aggregate(
            n=Count("pk"), in_flight=Count("pk", filter=Q(outcome="")), total=Cast(Sum("cost"), TextField())
        ),
        "themes": codings.inputs(study),
        "sealed": sealed,
        # Sealed results do not depend on sources, and nothing else may ask for them.
        "sources": [] if sealed else list(sources),
    }


def _draft_sha256(study: Study) -> str:
    """SHA-256 of the protocol as far as it is written."""
    version = study.versions.first()
    return hashing.sha256(protocol.write_document(protocol.load_protocol(version))) if version else ""
