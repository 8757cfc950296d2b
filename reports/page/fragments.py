"""The parts of a report's pages as they are stored: rendered once by report, language and version of the code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from django.db import IntegrityError, transaction
from django.utils import translation

from reports import results
from reports.models import Report, ReportFragment
from reports.page.outline import ReportOutline, outline
from reports.page.pages import SUMMARY, ReportPages
from reports.source_digest import source_digest
from studies.models import Study

OUTLINE = "outline"
BY_NAME = " by name"  # behind the name of a page whose sources stand in the order of their names
WITH_ANSWERS = " with answers"  # behind that of a page for whoever may read them


def obtain_page(
    report: Report, study: Study, name: str, *, is_by_score: bool = True, may_read_answers: bool = False
) -> str | None:
    """The content of a page of the report in the language that is active; None if the report has no such page.

    is_by_score : whether sources stand in the order of their score, where there is one
    may_read_answers : whether scores of filled texts lead to the fills
    Raises Undecodable for a report that another version stored.
    """

    def render() -> str | None:
        pages = _open_pages(report, study)
        return replace(pages, is_by_score=is_by_score, may_read_answers=may_read_answers).render(name)

    stored_as = f"{name}{'' if is_by_score else BY_NAME}{WITH_ANSWERS if may_read_answers else ''}"
    return obtain_part(report, stored_as, render)


def obtain_part(report: Report, name: str, render: Callable[[], str | None]) -> str | None:
    """The part of that name in the language that is active: as it is stored, else rendered and stored unless None."""
    language = translation.get_language() or ""
    stored = _find(report, name, language)
    if stored is not None:
        return stored
    content = render()
    if content is not None:
        _store(report, name, language, content)
    return content


def prepare(report: Report, study: Study) -> None:
    """Render the summary and every section, so that whoever looks first does not wait for them."""
    pages, language = _open_pages(report, study), translation.get_language() or ""
    for name in (SUMMARY, *pages.outline.sections()):
        content = pages.render(name)
        if content is not None:
            _store(report, name, language, content)


def _open_pages(report: Report, study: Study) -> ReportPages:
    document = results.read_report(report)
    stored = _find(report, OUTLINE, "")
    outlined = ReportOutline.read(stored) if stored is not None else _store_outline(report, document)
    return ReportPages(study, report, document, outlined)


def _store_outline(report: Report, document: results.Results) -> ReportOutline:
    fresh = outline(document, document.head, editions=report.editions.keys())
    _store(report, OUTLINE, "", fresh.write())
    return fresh


def _find(report: Report, name: str, language: str) -> str | None:
    stored = report.fragments.filter(name=name, language=language, source_digest=source_digest())
    return stored.values_list("content", flat=True).first()


def _store(report: Report, name: str, language: str, content: str) -> None:
    fresh = {"source_digest": source_digest(), "content": content}
    try:
        with transaction.atomic():
            ReportFragment.objects.update_or_create(report=report, name=name, language=language, defaults=fresh)
    except IntegrityError:
        # A later report took this one's place while its page was rendered.
        return
