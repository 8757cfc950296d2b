"""The rail beside every page of a study: *Overview*, then *Make*, *Run*, *Judge*, *Read*, of each what the account may
see there. Each opens under its heading; at first only that of the page is open, or that of the study's state, since all
23 entries together do not fit a screen. The report of a closed study stands with *Overview*, always in sight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from django import template
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext_lazy

from studies.access import Access
from studies.addresses import find_page
from studies.models import Study
from studies.protocol import PARTS, Finding, read_rows
from studies.protocol import latest as latest_version
from studies.source_findings import collect_draft_findings

register = template.Library()

# The pages on which a study is designed, whose rail says how each part stands: the findings cost some queries.
MARKED_PAGES = ("overview", *PARTS)
# Of the rail that was drawn, by which the rest of the page knows what is open without asking again.
CURRENT, FINDINGS = "current part", "findings of the draft"
DESIGNS = "studies.change_study"


@dataclass(frozen=True)
class RailEntry:
    """One page.

    permission : needed in the study to see it
    address : the name of its URL; pages of the apps above are linked by name
    """

    key: str
    title: Promise
    address: str
    permission: str


OVERVIEW = RailEntry("overview", pgettext_lazy("rail", "Overview"), "studies:overview", "studies.view_study")
SECTIONS: tuple[tuple[Promise, tuple[RailEntry, ...]], ...] = (
    (
        pgettext_lazy("part of the rail", "Make"),
        (
            RailEntry("steps", pgettext_lazy("rail", "What is asked"), "designer:steps", "studies.view_step"),
            RailEntry("stories", pgettext_lazy("rail", "Stories"), "studies:stories", "studies.view_story"),
            RailEntry(
                "rater_information",
                pgettext_lazy("rail", "What raters are told"),
                "designer:rater_information",
                "studies.view_study",
            ),
            RailEntry(
                "reading_plan", pgettext_lazy("rail", "Who reads what"), "designer:reading_plan", "studies.view_study"
            ),
            RailEntry(
                "analysis_plan",
                pgettext_lazy("rail", "Analysis plan"),
                "studies:analysis_plan",
                "studies.view_provenance",
            ),
            RailEntry("rehearsal", pgettext_lazy("rail", "Rehearse"), "designer:rehearsal", "studies.change_study"),
            RailEntry("launch", pgettext_lazy("rail", "Launch"), "designer:launch", "studies.view_study"),
            RailEntry("changes", pgettext_lazy("rail", "Changes"), "designer:changes", "studies.view_study"),
            RailEntry(
                "members", pgettext_lazy("rail", "People with access"), "studies:members", "studies.view_membership"
            ),
        ),
    ),
    (
        pgettext_lazy("part of the rail", "Run"),
        (
            RailEntry("people", pgettext_lazy("rail", "People"), "designer:people", "annotation.view_invitation"),
            RailEntry(
                "addresses", pgettext_lazy("rail", "Addresses"), "designer:addresses", "annotation.view_identity"
            ),
            RailEntry("payments", pgettext_lazy("rail", "Payments"), "designer:payments", "annotation.view_identity"),
            RailEntry("monitor", pgettext_lazy("rail", "Monitor"), "designer:monitor", "annotation.view_assignment"),
            RailEntry(
                "answer_imports",
                pgettext_lazy("rail", "Answers from elsewhere"),
                "designer:answer_imports",
                "annotation.view_answerimport",
            ),
        ),
    ),
    (
        pgettext_lazy("part of the rail", "Judge"),
        (
            RailEntry("runs", pgettext_lazy("rail", "Runs"), "judges:runs", "judges.view_run"),
            RailEntry("judges", pgettext_lazy("rail", "Judges"), "judges:judges", "judges.view_judge"),
            RailEntry("prompts", pgettext_lazy("rail", "Prompts"), "judges:prompts", "judges.view_prompt"),
            RailEntry(
                "scores", pgettext_lazy("rail", "Scores from elsewhere"), "judges:scores", "judges.view_scorecard"
            ),
        ),
    ),
    (
        pgettext_lazy("part of the rail", "Read"),
        (
            RailEntry("report", pgettext_lazy("rail", "Report"), "reports:show", "reports.view_report"),
            RailEntry("rationales", pgettext_lazy("rail", "Reasons"), "reports:rationales", "annotation.view_response"),
            RailEntry("exports", pgettext_lazy("rail", "Exports"), "reports:exports", "reports.view_report"),
            RailEntry("methods", pgettext_lazy("rail", "Methods"), "reports:methods", "reports.view_report"),
        ),
    ),
)
REPORT = SECTIONS[-1][1][0]
# The section in which a study of that state is worked on, by its place.
MAKE, RUN, READ = 0, 1, 3
_SECTION_BY_STATE: dict[str, int] = {
    Study.State.DRAFT: MAKE,
    Study.State.LIVE: RUN,
    Study.State.PAUSED: RUN,
    Study.State.CLOSED: READ,
}


@dataclass(frozen=True)
class PartMark:
    """How a part stands: error, something blocks; warning, with their number; good, nothing is to be said.

    sentences : what is wrong there or could be better, for whoever points at it
    """

    kind: str
    sentences: tuple[str, ...] = ()

    @property
    def sign(self) -> str:
        """What stands in its shape."""
        return {"error": "!", "warning": str(len(self.sentences))}.get(self.kind, "")

    @property
    def label(self) -> str:
        """The same in words: what its number counts."""
        if self.kind == "good":
            return _("in order")
        if self.kind == "error":
            return _("blocks the launch")
        n = len(self.sentences)
        return ngettext("%(n)d warning, which blocks nothing", "%(n)d warnings, which block nothing", n) % {"n": n}

    @property
    def title(self) -> str:
        return "\n".join([capfirst(self.label), *(f"– {capfirst(sentence)}" for sentence in self.sentences)])


@dataclass(frozen=True)
class Link:
    title: str
    url: str
    is_current: bool
    mark: PartMark | None = None


@dataclass(frozen=True)
class RailSection:
    """The links under one heading. is_open : whether they are in sight before anybody opens it"""

    title: str
    links: tuple[Link, ...]
    is_open: bool


@dataclass(frozen=True)
class NextPart:
    """Where the design of a draft goes on. sentence : what is open there"""

    sentence: str
    title: str
    url: str


@register.inclusion_tag("studies/rail.html", takes_context=True)
def study_rail(context: template.Context, current: str) -> dict[str, Any]:
    """The rail for the account that asks, with the page of that key marked as the current one."""
    access: Access = context["access"]
    context.render_context[CURRENT] = current
    mark_by_part = _mark_parts(context, access) if current in MARKED_PAGES else {}

    def link(entry: RailEntry) -> Link:
        address = reverse(entry.address, args=[access.study.slug])
        return Link(str(entry.title), address, entry.key == current, mark_by_part.get(entry.key))

    top, sections = _arrange(access, current)
    titles = [
        entry.title
        for entry in chain(top, *(entries for _title, entries, _is_open in sections))
        if entry.key == current
    ]
    return {
        "top": [link(entry) for entry in top],
        "sections": [
            RailSection(str(title), tuple(map(link, entries)), is_open) for title, entries, is_open in sections
        ],
        "current": titles[0] if titles else "",
        # Above a folded rail, where the report would be two presses away.
        "report": link(REPORT) if REPORT in top and current != REPORT.key else None,
    }


def _arrange(access: Access, current: str) -> tuple[list[RailEntry], list[tuple[Promise, list[RailEntry], bool]]]:
    """What stands on top, and the sections that the account may see anything of, each with whether it is open."""
    is_closed = access.study.state == Study.State.CLOSED
    top = [entry for entry in ((OVERVIEW, REPORT) if is_closed else (OVERVIEW,)) if access.may(entry.permission)]
    place_by_key = {entry.key: place for place, (_title, entries) in enumerate(SECTIONS) for entry in entries}
    open_place = place_by_key.get(current, _SECTION_BY_STATE[access.study.state])
    sections = []
    for place, (title, entries) in enumerate(SECTIONS):
        visible = [entry for entry in entries if entry not in top and access.may(entry.permission)]
        if visible:
            sections.append((title, visible, place == open_place))
    return top, sections


@register.inclusion_tag("studies/next_part.html", takes_context=True)
def next_part(context: template.Context) -> dict[str, NextPart | None]:
    """The next open task of a draft, for its designers; after the rail, whose findings it uses."""
    findings = context.render_context.get(FINDINGS)
    access: Access = context["access"]
    if findings is None or not access.may(DESIGNS):
        return {"next": None}
    return {"next": find_next_part(access, findings, current=context.render_context[CURRENT])}


def find_next_part(access: Access, findings: Sequence[Finding], *, current: str) -> NextPart:
    """What blocks the launch, wherever it is; else what is worth a thought on another page; else the rehearsal."""
    slug = access.study.slug
    title_by_part = {
        entry.key: str(entry.title)
        for entry in (OVERVIEW, *chain.from_iterable(entries for _title, entries in SECTIONS))
    }
    errors = [finding for finding in findings if finding.level == "error"]
    for finding in [*errors, *(finding for finding in findings if finding.place != current)]:
        # Prolific and applications are parts of People.
        title = title_by_part.get(finding.place, title_by_part["people"])
        return NextPart(capfirst(finding.sentence), title, find_page(slug, finding.place, finding.anchor))
    sentence = _("Everything is in order: rehearse it once, then launch")
    return NextPart(sentence, title_by_part["rehearsal"], find_page(slug, "rehearsal"))


def _mark_parts(context: template.Context, access: Access) -> dict[str, PartMark]:
    """The mark of every part of a draft, by the key of its entry; none for a study that is designed no more.

    The findings that a page has collected serve here as well; other pages collect what needs no seats.
    """
    study = access.study
    if not study.is_draft:
        return {}
    findings: Sequence[Finding] | None = context.get("findings")
    if findings is None:
        findings = collect_draft_findings(access, read_rows(latest_version(study)), at=timezone.now())
    context.render_context[FINDINGS] = findings
    marks = {}
    for part in PARTS:
        of_part = [finding for finding in findings if finding.place == part]
        levels = {finding.level for finding in of_part}
        kind = "error" if "error" in levels else "warning" if levels else "good"
        marks[part] = PartMark(kind, tuple(finding.sentence for finding in of_part))
    # Nothing follows automatically: an empty list of findings is no launch.
    del marks["launch"]
    return marks
