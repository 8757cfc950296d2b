"""Packages that are asked for by a page or a command: recorded first, made by a worker, kept until somebody in them
withdraws."""

from __future__ import annotations

import hashlib
import logging
import tempfile
from collections.abc import Collection, Iterator
from dataclasses import asdict
from datetime import datetime
from typing import IO, Any

import kombu.exceptions
from celery import current_app
from django.db import transaction
from django.http import StreamingHttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import Rater
from reports import results
from reports.dataset import is_sealed
from reports.export.content import PackageContent
from reports.export.package import CALLS, TABLES, write_package
from reports.models import ExportPackage, PackageDownload, PackagePiece, Report
from studies import story_edits
from studies.models import Study

log = logging.getLogger(__name__)
PIECE_BYTES = 512 * 1024
IN_MEMORY_BYTES = 4 * 1024 * 1024


class CannotIssue(ValueError):
    """There can be no such package; the message says why. field : which field of the form it is about"""

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.field = field


def ask(
    study: Study,
    *,
    by: str,
    with_sources: bool = False,
    is_public: bool = False,
    reason: str = "",
    left_out: Collection[str] = (),
) -> ExportPackage:
    """The record of a package that is to be made. Raises CannotIssue.

    Whoever asks has made sure that `by` may see answers, and sources if they are to stand in it.
    """
    if with_sources and is_sealed(study):
        raise CannotIssue(_("Sources are sealed until the study is closed."), field="sources")
    if with_sources and not reason.strip():
        raise CannotIssue(_("Say why sources are needed."), field="reason")
    optional = {name for name, table in TABLES.items() if not table.is_needed} | {CALLS}
    if unknown := sorted(set(left_out) - optional):
        raise CannotIssue(_("%(name)s cannot be left out.") % {"name": unknown[0]}, field="files")
    return ExportPackage.objects.create(
        study=study,
        with_sources=with_sources,
        is_public=is_public,
        reason=reason.strip() if with_sources else "",
        left_out=sorted(left_out),
        asked_by=by,
        asked_at=timezone.now(),
    )


def queue(package: ExportPackage) -> None:
    """Tell a worker, once the record is committed."""
    transaction.on_commit(lambda: _send(package))


def _send(package: ExportPackage) -> None:
    try:
        current_app.send_task("reports.tasks.make_package", args=[package.pk])
    except (kombu.exceptions.OperationalError, OSError) as error:
        log.warning("package %s could not be queued (%s)", package.pk, type(error).__name__)


def make(package: ExportPackage, stream: IO[bytes]) -> None:
    """Write the package into the stream, and into its record what is in it and its sum. Raises what writing raises."""
    content = PackageContent(package.study, with_sources=package.with_sources, is_public=package.is_public)
    report, editions = _obtain_report(package, content)
    counted = _Counted(stream)
    summary = write_package(
        content,
        counted,  # type: ignore[arg-type]
        report=report,
        editions=editions,
        reason=package.reason,
        left_out=package.left_out,
        progress=lambda n_done, n_files: _say_progress(package, n_done, n_files),
    )
    package.sha256, package.n_bytes = counted.digest.hexdigest(), counted.n_bytes
    package.files, package.excluded = [asdict(file) for file in summary.files], summary.excluded
    codes = content.assignments.order_by().values_list("rater__code", flat=True).distinct()
    package.raters = sorted(codes)
    package.problem, package.ended_at = "", timezone.now()
    package.save()


def _obtain_report(package: ExportPackage, content: PackageContent) -> tuple[dict[str, Any], str]:
    """The report that goes along, and in a sentence by which editions it was computed where these are others now.

    Where readers are left out it is none that the study's page shows, so it is computed for the package alone.
    """
    if content.left_out_readers:
        return results.compute(package.study, blind=True, without=content.left_out_readers), ""
    stored = results.ensure_report(
        package.study, at=timezone.now(), by=package.asked_by, blind=not package.with_sources
    )
    results.keep(stored)
    return results.fit_document(stored), _describe_editions(stored)


def _describe_editions(report: Report) -> str:
    """In a sentence for the README, by which editions a report was computed that would be computed by others now."""
    if not results.is_outdated(report):
        return ""
    rows = results.list_other_editions(report)
    names = [f"{row.figure.key if row.figure else results.DATASET} {row.before} (now {row.now})" for row in rows]
    of_others = f": {', '.join(names)}" if names else ""
    return (
        f"The report was computed on {report.made_at:%Y-%m-%d} and stays as it was. Some of it is of other editions "
        f"than Quire has now{of_others}; there `recompute.py` can find other numbers."
    )


def _say_progress(package: ExportPackage, n_done: int, n_files: int) -> None:
    package.n_files_done, package.n_files = n_done, n_files
    package.save(update_fields=["n_files_done", "n_files"])


class _Counted:
    """A stream that only goes forward, with the sum of what went through it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.digest = hashlib.sha256()
        self.n_bytes = 0

    def write(self, data: Any) -> int:
        self.digest.update(data)
        self.n_bytes += len(data)
        return self._stream.write(data)

    def flush(self) -> None:
        self._stream.flush()


def make_and_keep(package: ExportPackage) -> None:
    """Make the package and keep its bytes. One that was made before stays as it is; a failure is recorded."""
    if package.is_made:
        return
    n_erased = _count_erased(package.study)
    try:
        with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES) as stream:
            make(package, stream)
            stream.seek(0)
            _keep(package, stream, n_erased=n_erased)
    except Exception as error:
        log.exception("package %s could not be made", package.pk)
        package.pieces.all().delete()
        package.sha256, package.problem, package.ended_at = "", type(error).__name__, timezone.now()
        package.save()


def _count_erased(study: Study) -> int:
    return story_edits.find_erased().filter(study=study).count()


def _keep(package: ExportPackage, stream: IO[bytes], *, n_erased: int) -> None:
    """Store the bytes, and nothing if somebody in it has withdrawn since it was read, or the writer of a text in it.

    n_erased : how many texts of the study were erased before it was read
    """
    package.pieces.all().delete()
    for number, data in enumerate(iter(lambda: stream.read(PIECE_BYTES), b"")):
        PackagePiece.objects.create(package=package, number=number, data=data)
    codes = package.study.raters.exclude(withdrawal=None).values_list("code", flat=True)
    if set(codes) & set(package.raters) or _count_erased(package.study) != n_erased:
        package.pieces.all().delete()


def read_pieces(package: ExportPackage) -> Iterator[bytes]:
    """The bytes of the package, piece by piece, from the database as they are read."""
    for data in package.pieces.order_by("number").values_list("data", flat=True).iterator(chunk_size=1):
        yield bytes(data)


def record_download(package: ExportPackage, *, by: str, at: datetime) -> None:
    PackageDownload.objects.create(package=package, by=by, at=at)


def find_package(study: Study, sha256: str) -> ExportPackage | None:
    """The latest package of that sum that still has its bytes."""
    packages = study.packages.filter(sha256=sha256, pieces__number=0)
    return packages.order_by("-asked_at", "-pk").first()


def find_packages(study: Study, *, with_sources: bool) -> list[ExportPackage]:
    """The packages of the study that still have their bytes, the latest first; blind ones alone unless asked."""
    packages = study.packages.filter(pieces__number=0)
    return list(packages if with_sources else packages.filter(with_sources=False))


def to_response(package: ExportPackage) -> StreamingHttpResponse:
    """The package as a download."""
    name = f"{package.study.slug}-{package.sha256[:12]}.zip"
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Content-Length": str(package.n_bytes)}
    return StreamingHttpResponse(read_pieces(package), content_type="application/zip", headers=headers)


def find_packages_with(rater: Rater) -> list[ExportPackage]:
    """The packages that were issued with answers of the rater in them, the latest first."""
    packages = ExportPackage.objects.filter(study=rater.study_id).exclude(sha256="")
    return [package for package in packages if rater.code in package.raters]


def forget_bytes(rater: Rater, stories: Collection[int], **_kwargs: object) -> None:
    """Remove the bytes of every package with answers of the rater, or with their stories; that it was issued is kept.

    stories : ids of the stories that were emptied with the rater's answers
    """
    with_stories = ExportPackage.objects.filter(study__stories__in=stories).values_list("pk", flat=True)
    packages = {*with_stories, *(package.pk for package in find_packages_with(rater))}
    PackagePiece.objects.filter(package__in=packages).delete()
