"""What a study amounts to: every figure of it, as one document, computed once for the same inputs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, Max, OuterRef, Q, QuerySet, Subquery, Sum, TextField
from django.db.models.functions import Cast

from annotation.models import Assignment, Consent, Fill, Rater, Response, Timing, Withdrawal
from judges.models import Attempt, ReferenceSet
from reports import dataset, key_figures
from reports.dataset import Dataset, is_sealed
from reports.document.model import Head
from reports.figures import Figure, all_figures
from reports.figures.codec import Undecodable, decode, encode
from reports.models import Report
from reports.rationales import codings
from stats import garbage_collection
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


@dataclass(frozen=True, kw_only=True)
class SourceRow:
    source: str
    kind: str
    n_stories: int


@dataclass(frozen=True, kw_only=True)
class Results:
    """figures : the result of each figure by its key, None where the study asks nothing that it is about"""

    study: StudySummary
    is_sealed: bool
    sources: tuple[SourceRow, ...]
    figures: dict[str, Any]

    @property
    def head(self) -> Head:
        return Head(
            title=self.study.title,
            is_sealed=self.is_sealed,
            is_closed=self.study.state == "closed",
            sources=tuple(row.source for row in self.sources),
        )

    @property
    def computed(self) -> list[tuple[Figure[Any], Any]]:
        """The figures that have a result, in the order of the page."""
        pairs = [(figure, self.figures[key]) for key, figure in all_figures().items()]
        return [(figure, result) for figure, result in pairs if result is not None]

    @property
    def visible(self) -> list[tuple[Figure[Any], Any]]:
        """The figures that have something to say, in the order of the page."""
        has_answers = any(figure.has_answers(result) for figure, result in self.computed)
        return [
            (figure, result)
            for figure, result in self.computed
            if (has_answers or not figure.needs_answers) and not figure.is_empty(result)
        ]


@garbage_collection.only_new()
def compute(
    study: Study,
    *,
    blind: bool = False,
    without: frozenset[str] = frozenset(),
    progress: Callable[[int, int], None] = lambda done, n: None,
) -> dict[str, Any]:
    """The results of a study, from its rows, as one document. While it is live, and for blind readers: nothing by
    source.

    without : codes of judges and metrics that are left out
    progress : told before each figure how many are computed, and of how many
    """
    progress(0, len(all_figures()))
    data = Dataset.of(study, blind=blind, without=without)
    sources = [source.name for source in data.source_by_story.values()]
    figures: dict[str, Any] = {}
    for key, figure in all_figures().items():
        progress(len(figures), len(all_figures()))
        is_hidden = data.is_sealed and not figure.is_shown_sealed
        figures[key] = figure.nothing if is_hidden else figure.compute(data)
    document = {
        "study": encode(_about(study)),
        "is_sealed": data.is_sealed,
        "sources": [
            encode(SourceRow(source=name, kind=kind, n_stories=sources.count(name))) for name, kind in data.sources
        ],
        **{key: encode(result) for key, result in figures.items()},
    }
    # Plain JSON, so that a stored report and a fresh one are the same document.
    return dict(json.loads(json.dumps(document, allow_nan=False)))


def read_results(document: dict[str, Any]) -> Results:
    """The results that a document holds. Raises Undecodable for one that another version stored."""
    figures = all_figures()
    head = {"study": StudySummary, "is_sealed": bool, "sources": tuple[SourceRow, ...]}
    if document.keys() != head.keys() | figures.keys():
        raise Undecodable(f"the document has {', '.join(sorted(document.keys() ^ (head.keys() | figures.keys())))}")
    return Results(
        **{name: decode(kind, document[name], name) for name, kind in head.items()},
        figures={key: decode(figure.result | None, document[key], key) for key, figure in figures.items()},
    )


def _about(study: Study) -> StudySummary:
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
    return _Fingerprints.of(study, blind=blind).whole


def list_editions() -> dict[str, int]:
    """The edition of each figure as it is computed now, and of how a study is read."""
    return {DATASET: dataset.EDITION, **{figure.key: figure.edition for figure in all_figures().values()}}


@dataclass(frozen=True)
class _Fingerprints:
    """whole : of a report by the editions of now; inputs : of the study alone, whatever the editions"""

    whole: str
    inputs: str

    @classmethod
    def of(cls, study: Study, *, blind: bool) -> _Fingerprints:
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
        "requests": Attempt.objects.filter(call__run__study=study).aggregate(
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


def ensure_report(
    study: Study,
    *,
    at: datetime,
    by: str,
    blind: bool = False,
    anew: bool = False,
    progress: Callable[[int, int], None] = lambda done, n: None,
) -> Report:
    """The stored report of the study as it is now, computed if there is none of the same inputs. That of a closed study
    stays what it was when figures come to be computed otherwise.

    blind : leave out everything by source though the study is closed
    anew : by the editions of now, also where a closed study has a report by earlier ones
    """
    fingerprints = _Fingerprints.of(study, blind=blind)
    exact, earlier = _find_stored(study, fingerprints)
    if report := _choose(study, fingerprints, exact, None if anew else earlier):
        return report
    fresh = {
        "inputs": fingerprints.inputs,
        "editions": list_editions(),
        "result": compute(study, blind=blind, progress=progress),
        "made_at": at,
        "made_by": by,
    }
    try:
        with transaction.atomic():
            if exact:  # of the same inputs, but by a version that wrote it in another form
                exact.delete()
            report = Report.objects.create(
                study=study, kind=Report.Kind.RESULTS, fingerprint=fingerprints.whole, **fresh
            )
            key_figures.record(report)
            if not study.is_closed:  # else every look would leave one behind
                _replaceable(study).exclude(pk=report.pk).delete()
            return report
    except IntegrityError:
        # Somebody else asked at the same moment.
        return Report.objects.get(study=study, kind=Report.Kind.RESULTS, fingerprint=fingerprints.whole)


def _replaceable(study: Study) -> QuerySet[Report]:
    return Report.objects.filter(study=study, kind=Report.Kind.RESULTS, is_kept=False)


def find_report(study: Study, *, blind: bool = False) -> Report | None:
    """The stored report of the study as it is now; None if it must be computed."""
    fingerprints = _Fingerprints.of(study, blind=blind)
    return _choose(study, fingerprints, *_find_stored(study, fingerprints))


def _find_stored(study: Study, fingerprints: _Fingerprints) -> tuple[Report | None, Report | None]:
    """The stored report by the editions of now, and the latest of the same study by earlier ones. One query."""
    of_either = Q(fingerprint=fingerprints.whole) | Q(inputs=fingerprints.inputs)
    stored = list(study.reports.filter(of_either, kind=Report.Kind.RESULTS).order_by("-made_at", "-pk"))
    exact = next((report for report in stored if report.fingerprint == fingerprints.whole), None)
    return exact, next((report for report in stored if report != exact), None)


def _choose(study: Study, fingerprints: _Fingerprints, exact: Report | None, earlier: Report | None) -> Report | None:
    if exact and _is_readable(exact):
        if not exact.inputs:  # stored before editions were noted
            exact.inputs, exact.editions = fingerprints.inputs, list_editions()
            exact.save(update_fields=["inputs", "editions"])
        return exact
    if earlier is None or not study.is_closed:
        return None
    _fit(earlier)
    return earlier if _is_readable(earlier) else None


def _fit(report: Report) -> None:
    """Let a report by earlier editions be read: figures that came later say nothing in it, and those that are gone are
    left out. What is stored stays."""
    keys = all_figures().keys()
    later = dict.fromkeys(key for key in keys if key not in report.editions)
    gone = report.editions.keys() - keys
    report.result = {key: value for key, value in (later | report.result).items() if key not in gone}


@dataclass(frozen=True)
class OtherEdition:
    """A figure that is computed otherwise now. before, now : its editions; figure : None for how a study is read"""

    figure: Figure[Any] | None
    before: int
    now: int


def list_other_editions(report: Report) -> list[OtherEdition]:
    """What was computed by another edition in the report than it would be now; empty where that is not known."""
    now, figures = list_editions(), all_figures()
    return [
        OtherEdition(figures.get(key), before, now[key])
        for key, before in report.editions.items()
        if key in now and now[key] != before
    ]


def is_outdated(report: Report) -> bool:
    """Whether the report would be computed by other editions, or of other figures, now."""
    return bool(report.editions) and report.editions != list_editions()


def keep(report: Report) -> None:
    """Keep a report that somebody asked to keep, or that stands in a package: no later one replaces it."""
    if not report.is_kept:
        Report.objects.filter(pk=report.pk).update(is_kept=True)


def find_older_report(study: Study, *, blind: bool = False) -> Report | None:
    """The latest report that was stored for readers who may see as much; None if there is none that can be read."""
    sealed = blind or is_sealed(study)
    stored = study.reports.filter(kind=Report.Kind.RESULTS, result__is_sealed=sealed)
    report = stored.order_by("-made_at", "-pk").first()
    if report and report.editions:
        _fit(report)
    return report if report and _is_readable(report) else None


def prune(*, before: datetime) -> int:
    """Delete the reports of closed studies that were made before and that newer ones of the same kind replace; how
    many there were. Those that are kept stay."""
    n_deleted = 0
    for study in Study.objects.filter(reports__made_at__lt=before, reports__is_kept=False).distinct():
        for sealed in (False, True):
            of_kind = _replaceable(study).filter(result__is_sealed=sealed).order_by("-made_at", "-pk")
            latest = list(of_kind.values_list("pk", flat=True)[:1])
            n_deleted += of_kind.exclude(pk__in=latest).filter(made_at__lt=before).delete()[0]
    return n_deleted


def _is_readable(stored: Report) -> bool:
    try:
        read_results(stored.result)
    except Undecodable:
        return False
    return True


__all__ = [
    "DATASET",
    "OtherEdition",
    "Results",
    "compute",
    "ensure_report",
    "find_older_report",
    "find_report",
    "fingerprint",
    "is_outdated",
    "is_sealed",
    "keep",
    "list_editions",
    "list_other_editions",
    "prune",
    "read_results",
]
