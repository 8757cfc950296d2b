"""What the report page shows: its head, and a section for every figure that has something to say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext as _

from reports.document.model import DocumentSection, ReportTable, find_blocks
from reports.figures import Figure
from reports.figures.base import Row
from reports.page.statements import held_percent, statement_lines
from reports.results import Results


@dataclass(frozen=True)
class ReportSection:
    """A figure with its description."""

    figure: Figure[Any]
    description: Sequence[DocumentSection]


def context(results: Results, *, language: str = "", by_score: bool = True) -> dict[str, Any]:
    """Everything that the template of the whole report needs, by name.

    language : the study's; by_score : whether sources stand in the order of their score
    """
    head = replace(results.head, language=language)
    sections = [
        ReportSection(figure, results.describe(figure, head, by_score=by_score)) for figure, _result in results.visible
    ]
    tables = [table for section in sections for table in find_blocks(section.description, ReportTable)]
    return head_context(results) | {"tables": {table.name for table in tables if table.rows}, "sections": sections}


def head_context(results: Results) -> dict[str, Any]:
    """What the head of the report and its findings need, for which no figure describes what it has."""
    lines = statement_lines(results)
    return {
        "results": results,
        "headline": headline(results),
        "notices": notices(results),
        "highlights": highlights(results),
        "statements": lines,
        "has_intervals": any(line.effect and line.effect.low is not None for line in lines),
        "held_percent": held_percent([line.statement.interval for line in lines if line.effect]),
        "has_neighbours": len(results.sources) > 2 and any(line.statement.is_of_neighbours for line in lines),
        "has_plan": results.study.has_plan,
        "head_notes": [note for figure, result in results.computed for note in figure.head_notes(result)],
        "sources": [row.source for row in results.sources],
    }


def filled_tables(results: Results) -> dict[str, list[Row]]:
    """The rows of each table that has any, of the figures that the page shows."""
    tables = [(name, list(rows)) for figure, result in results.visible for name, rows in figure.rows(result).items()]
    return {name: rows for name, rows in tables if rows}


def headline(results: Results) -> str:
    """The main finding in a sentence; without one, where the study stands."""
    return find_headline(results)[0]


def find_headline(results: Results) -> tuple[str, str]:
    """The main finding in a sentence, what was planned, else of what leads, and how far its first is ahead of the next;
    without one, the title of the study."""
    has_plan = results.study.has_plan
    pairs = sorted(
        results.computed,
        key=lambda pair: (not pair[0].is_first_headline(pair[1]), 0 if has_plan else pair[0].lead),
    )
    for figure, result in pairs:
        if sentence := figure.headline(result, results.head):
            return sentence, figure.lead_difference(result)
    return results.study.title, ""


def notices(results: Results) -> list[str]:
    """What must be read before anything else."""
    of_figures = [notice for figure, result in results.computed for notice in figure.notices(result)]
    return [words for words in (results.study.notice, *of_figures, _unanswered(results), _seal(results)) if words]


def _unanswered(results: Results) -> str:
    if any(figure.has_answers(result) for figure, result in results.computed):
        return ""
    if results.study.state == "closed":
        return _("The study was closed before anybody had submitted a group.")
    return _("Nobody has submitted a group yet.")


def _seal(results: Results) -> str:
    if not results.is_sealed:
        return ""
    if results.study.state == "closed":
        return _("Sealed for readers who stay blind: everything is over all sources together.")
    return _("Sealed until the study is closed: everything is over all sources together.")


def highlights(results: Results) -> list[tuple[str, str]]:
    """The key figures: what it is, and how much."""
    highlights = [highlight for figure, result in results.computed for highlight in figure.highlights(result)]
    return [
        (highlight.words, highlight.number)
        for highlight in sorted(highlights, key=lambda highlight: highlight.position)
    ]
