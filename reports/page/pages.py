"""The pages of a report in three depths: its summary, a section for each question, and each figure with all it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from reports.document.model import DocumentSection, Note, Phrase, ReportTable, TextBlock, find_blocks
from reports.document.phrases import plain
from reports.figures import Figure, all_figures
from reports.models import Report
from reports.page.context import ReportSection, context, head_context, headline, notices
from reports.page.excerpt import SECTION_HEIGHT, Excerpt, excerpt
from reports.page.line_breaks import kept_together
from reports.page.outline import REFUSED, ReportOutline
from reports.page.sections import FINDINGS, METHODS, SECTIONS, SectionKind
from reports.page.silence import SilentFigures, list_silent
from reports.page.summary import ReportSummary
from reports.results import Results
from studies.models import Study

SUMMARY, ALL = "summary", "all"
OF_FIGURE = "figure:"


def name_of_figure(slug: str) -> str:
    """The name of the page of a figure, or of all of them, by its name in addresses."""
    return ALL if slug == ALL else f"{OF_FIGURE}{slug.replace('-', '_')}"


def shows_all_of_figures(name: str) -> bool:
    """Whether the page shows figures with all they have; it leads those who may read answers to them."""
    return name == ALL or name.startswith(OF_FIGURE)


def pages_of(name: str) -> set[str]:
    """What has pages of its own to which a page leads, by its name: of a section what its figures are about."""
    figures = all_figures().items()
    return {figure.pages_of for key, figure in figures if name in (figure.section, f"{OF_FIGURE}{key}")}


@dataclass(frozen=True)
class SectionLink:
    title: Promise | str
    address: str
    is_current: bool


@dataclass(frozen=True)
class ShownFigure:
    """A figure on the page of its section. excerpt : None where it is only named"""

    figure: Figure[Any]
    description: Sequence[DocumentSection]
    excerpt: Excerpt | None
    sentence: Phrase

    @property
    def opening(self) -> Phrase:
        """The sentence, if what is shown does not say it anyhow."""
        blocks = self.excerpt.blocks if self.excerpt else ()
        said = {plain(block.words) for block in blocks if isinstance(block, TextBlock)}
        return "" if plain(self.sentence) in said else self.sentence

    @property
    def notes(self) -> list[Note]:
        """What stands in the margin of the figure's own page."""
        return [note for section in self.description for note in section.margin]

    @property
    def files(self) -> list[str]:
        """The names of its CSV files that have rows."""
        tables = find_blocks(self.description, ReportTable)
        return list(dict.fromkeys(table.name for table in tables if table.name and table.rows))


@dataclass
class ReportPages:
    """The pages of one report in the language that is active.

    Their links lead from where a page stands up to the address of the report, so that they are the same at the address
    of the report as it is now and at that of the stored one.
    """

    study: Study
    report: Report
    results: Results
    outline: ReportOutline
    is_by_score: bool = True
    may_read_answers: bool = False
    descriptions: dict[str, list[DocumentSection]] = field(default_factory=dict)

    def render(self, name: str) -> str | None:
        """The content of the page of that name; None if this report has no such page."""
        content = self._find(name)
        if content is None:
            return None
        template, page = content
        return kept_together(render_to_string(f"reports/{template}.html", self._shared(name) | page))

    def _find(self, name: str) -> tuple[str, dict[str, Any]] | None:
        if name == SUMMARY:
            return "summary", self._summary()
        if name == ALL:
            return "all", self._all()
        if name.startswith(OF_FIGURE):
            key = name.removeprefix(OF_FIGURE)
            return ("figure", self._figure(all_figures()[key])) if key in self.outline.shown else None
        if name == FINDINGS:
            return "findings", head_context(self.results)
        if name in self.outline.sections():
            return "section", self._section(SECTIONS[name])
        return None

    def _shared(self, name: str) -> dict[str, Any]:
        is_deep = shows_all_of_figures(name)
        up = "" if name == SUMMARY else "../../" if is_deep else "../"
        return {
            "study": self.study,
            "report": self.report,
            "results": self.results,
            "notices": notices(self.results),
            "links": self._links(name, up),
            "up": up,
            "is_whole": name == ALL,
            "is_by_score": self.is_by_score,
            "may_read_answers": self.may_read_answers,
            "other_order": "?order=name" if self.is_by_score else "./",
            "has_order": name not in (SUMMARY, FINDINGS, METHODS) and len(self.results.sources_by_score) > 1,
        }

    def _links(self, name: str, up: str) -> list[SectionLink]:
        current = all_figures()[name.removeprefix(OF_FIGURE)].section if name.startswith(OF_FIGURE) else name
        sections = [SECTIONS[key] for key in self.outline.sections()]
        return [
            SectionLink(_("Summary"), up or "./", current == SUMMARY),
            *(SectionLink(kind.title, f"{up}{kind.key}/", current == kind.key) for kind in sections),
            SectionLink(_("All on one page"), f"{up}figures/{ALL}/", current == ALL),
        ]

    def _all(self) -> dict[str, Any]:
        page = context(self.results, language=self.study.language, by_score=self.is_by_score)
        return page | {"sections": [part for part in page["sections"] if part.figure.key in self.outline.shown]}

    def _summary(self) -> dict[str, Any]:
        contents = [(SECTIONS[key], self.outline.figures_in(key)) for key in self.outline.sections() if key != FINDINGS]
        return {
            "headline": headline(self.results),
            "summary": ReportSummary.of(self.results, self._head),
            "contents": contents,
            "silent": self._silent,
        }

    def _section(self, kind: SectionKind) -> dict[str, Any]:
        parts: list[ShownFigure] = []
        height = 0.0
        for figure in self.outline.figures_in(kind.key):
            description = self.describe(figure)
            part = excerpt(description)
            is_open = not parts or height + part.height <= SECTION_HEIGHT
            height += part.height if is_open else SECTION_HEIGHT
            parts.append(ShownFigure(figure, description, part if is_open else None, self._sentence(figure)))
        return {
            "kind": kind,
            "figures": [part for part in parts if part.excerpt],
            "others": [part for part in parts if not part.excerpt],
            "tables": {name for part in parts for name in part.files},
        }

    def _figure(self, figure: Figure[Any]) -> dict[str, Any]:
        description = self.describe(figure)
        return {
            "section": ReportSection(figure, description),
            "kind": SECTIONS[figure.section],
            "tables": {table.name for table in find_blocks(description, ReportTable) if table.rows},
        }

    def _sentence(self, figure: Figure[Any]) -> Phrase:
        """What the figure finds first; "" if it states nothing."""
        statements = figure.statements(self.results.figures[figure.key], self._head)
        return next((statement.sentence for statement in statements), "")

    def describe(self, figure: Figure[Any]) -> list[DocumentSection]:
        if figure.key not in self.descriptions:
            self.descriptions[figure.key] = self.results.describe(figure, self._head, by_score=self.is_by_score)
        return self.descriptions[figure.key]

    @cached_property
    def _head(self) -> Any:
        return replace(self.results.head, language=self.study.language)

    @property
    def _silent(self) -> SilentFigures:
        refused = {key: self.describe(all_figures()[key]) for key, why in self.outline.silent.items() if why == REFUSED}
        return list_silent(self.outline, refused, is_closed=self.results.study.state == "closed")
