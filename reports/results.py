"""What a study amounts to: every figure of it, as one document, computed once for the same inputs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet

from reports import key_figures
from reports.dataset import Dataset, is_sealed
from reports.document.model import DocumentSection, Head
from reports.document.order import in_order
from reports.figures import Figure, all_figures
from reports.figures.codec import Undecodable, decode, encode
from reports.fingerprints import DATASET, Fingerprints, StudySummary, describe_study, fingerprint, list_editions
from reports.lazy import source_model
from reports.models import Report
from reports.source_digest import source_digest
from stats import garbage_collection
from studies.models import Study


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

    @cached_property
    def sources_by_score(self) -> tuple[str, ...]:
        """The sources, the best first; none where nothing tells which is."""
        names = {row.source for row in self.sources}
        for figure, result in sorted(self.visible, key=lambda pair: pair[0].lead):
            board = figure.leaderboard(result, self.head)
            if board and {leader.name for leader in board.leaders} == names:
                return tuple(str(leader.name) for leader in board.leaders)
        return ()

    def describe(self, figure: Figure[Any], head: Head, *, by_score: bool = True) -> list[DocumentSection]:
        """What a figure says, its sources by their score, or as they are listed: people before models, then by name."""
        sections = figure.describe(self.figures[figure.key], head)
        return in_order(sections, self.sources_by_score) if by_score else list(sections)


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
    source_model.forget_design()
    document = {
        "study": encode(describe_study(study)),
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
    fingerprints = Fingerprints.of(study, blind=blind)
    exact, earlier = _find_stored(study, fingerprints)
    if report := _choose(study, fingerprints, exact, None if anew else earlier):
        return report
    result = compute(study, blind=blind, progress=progress)
    fresh = {
        "inputs": fingerprints.inputs,
        "editions": list_editions(),
        "result": result,
        "is_sealed": result["is_sealed"],
        "readable_by": source_digest(),
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
    fingerprints = Fingerprints.of(study, blind=blind)
    return _choose(study, fingerprints, *_find_stored(study, fingerprints))


def _find_stored(study: Study, fingerprints: Fingerprints) -> tuple[Report | None, Report | None]:
    """The stored report by the editions of now, and the latest of the same study by earlier ones. One query."""
    of_either = Q(fingerprint=fingerprints.whole) | Q(inputs=fingerprints.inputs)
    stored = list(study.reports.filter(of_either, kind=Report.Kind.RESULTS).defer("result").order_by("-made_at", "-pk"))
    exact = next((report for report in stored if report.fingerprint == fingerprints.whole), None)
    return exact, next((report for report in stored if report != exact), None)


def _choose(study: Study, fingerprints: Fingerprints, exact: Report | None, earlier: Report | None) -> Report | None:
    if exact and _is_readable(exact):
        if not exact.inputs:  # stored before editions were noted
            exact.inputs, exact.editions = fingerprints.inputs, list_editions()
            exact.save(update_fields=["inputs", "editions"])
        return exact
    if earlier is None or not study.is_closed:
        return None
    return earlier if _is_readable(earlier) else None


def fit_document(report: Report) -> dict[str, Any]:
    """What the report holds, as figures of now read it: those that came later say nothing in it, and those that are
    gone are left out. What is stored stays."""
    if not report.editions:
        return dict(report.result)
    keys = all_figures().keys()
    later = dict.fromkeys(key for key in keys if key not in report.editions)
    gone = report.editions.keys() - keys
    return {key: value for key, value in (later | report.result).items() if key not in gone}


def read_report(report: Report) -> Results:
    """The results that a stored report holds. Raises Undecodable for one that another version stored."""
    return read_results(fit_document(report))


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
    stored = study.reports.filter(kind=Report.Kind.RESULTS, is_sealed=sealed).defer("result")
    report = stored.order_by("-made_at", "-pk").first()
    return report if report and _is_readable(report) else None


def prune(*, before: datetime) -> int:
    """Delete the reports of closed studies that were made before and that newer ones of the same kind replace; how
    many there were. Those that are kept stay."""
    n_deleted = 0
    for study in Study.objects.filter(reports__made_at__lt=before, reports__is_kept=False).distinct():
        for sealed in (False, True):
            of_kind = _replaceable(study).filter(is_sealed=sealed).order_by("-made_at", "-pk")
            latest = list(of_kind.values_list("pk", flat=True)[:1])
            n_deleted += of_kind.exclude(pk__in=latest).filter(made_at__lt=before).delete()[0]
    return n_deleted


def _is_readable(stored: Report) -> bool:
    """Whether this code can read it; asked once for each version of the code, since reading all of it takes long."""
    if stored.readable_by == source_digest():
        return True
    try:
        read_report(stored)
    except Undecodable:
        return False
    Report.objects.filter(pk=stored.pk).update(readable_by=source_digest())  # a later one may have taken its place
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
    "fit_document",
    "is_outdated",
    "is_sealed",
    "keep",
    "list_editions",
    "list_other_editions",
    "prune",
    "read_report",
    "read_results",
]
