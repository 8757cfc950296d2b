"""The rail beside every page of a study: *Make*, *Run*, *Judge*, *Read*, of each what the account may see there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import template
from django.contrib.auth.models import AnonymousUser, User
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import pgettext_lazy

from studies.access import Access

register = template.Library()


@dataclass(frozen=True)
class RailEntry:
    """One page.

    permission : needed to see it; in this study, or for a page of the admin in all of them
    address : the name of its URL; pages of the apps above are linked by name
    lookup : of a list of the admin, the field that names the study
    """

    key: str
    title: Promise
    address: str
    permission: str
    lookup: str = ""

    @property
    def is_of_admin(self) -> bool:
        return self.address.startswith("admin:")

    def is_open_to(self, access: Access, user: User | AnonymousUser) -> bool:
        return user.has_perm(self.permission) if self.is_of_admin else access.may(self.permission)

    def url(self, access: Access) -> str:
        if self.lookup:
            return f"{reverse(self.address)}?{self.lookup}={access.study.pk}"
        return reverse(self.address, args=[access.study.pk if self.is_of_admin else access.study.slug])


SECTIONS: tuple[tuple[Promise, tuple[RailEntry, ...]], ...] = (
    (
        pgettext_lazy("part of the rail", "Make"),
        (
            RailEntry("overview", pgettext_lazy("rail", "Overview"), "studies:overview", "studies.view_study"),
            RailEntry("setup", pgettext_lazy("rail", "Set up"), "admin:studies_study_change", "studies.view_study"),
            RailEntry(
                "stories",
                pgettext_lazy("rail", "Stories"),
                "admin:studies_story_changelist",
                "studies.view_story",
                lookup="study__id__exact",
            ),
            RailEntry(
                "members", pgettext_lazy("rail", "People with access"), "studies:members", "studies.view_membership"
            ),
        ),
    ),
    (
        pgettext_lazy("part of the rail", "Run"),
        (
            RailEntry(
                "raters",
                pgettext_lazy("rail", "Raters"),
                "admin:annotation_rater_changelist",
                "annotation.view_rater",
                lookup="study__id__exact",
            ),
            RailEntry(
                "links",
                pgettext_lazy("rail", "Links"),
                "admin:annotation_invitation_changelist",
                "annotation.view_invitation",
                lookup="study__id__exact",
            ),
        ),
    ),
    (
        pgettext_lazy("part of the rail", "Judge"),
        (
            RailEntry("runs", pgettext_lazy("rail", "Runs"), "judges:runs", "judges.view_run"),
            RailEntry("judges", pgettext_lazy("rail", "Judges"), "judges:judges", "judges.view_judge"),
            RailEntry("prompts", pgettext_lazy("rail", "Prompts"), "judges:prompts", "judges.view_prompt"),
        ),
    ),
    (
        pgettext_lazy("part of the rail", "Read"),
        (
            RailEntry("report", pgettext_lazy("rail", "Report"), "reports:show", "reports.view_report"),
            RailEntry("exports", pgettext_lazy("rail", "Exports"), "reports:exports", "reports.view_report"),
        ),
    ),
)


@dataclass(frozen=True)
class Link:
    title: str
    url: str
    is_current: bool
    is_of_admin: bool


@register.inclusion_tag("studies/rail.html", takes_context=True)
def study_rail(context: template.Context, current: str) -> dict[str, Any]:
    """The rail for the account that asks, with the page of that key marked as the current one."""
    access: Access = context["access"]
    user = context["request"].user
    sections = [
        (title, [Link(str(e.title), e.url(access), e.key == current, e.is_of_admin) for e in entries])
        for title, every in SECTIONS
        if (entries := [entry for entry in every if entry.is_open_to(access, user)])
    ]
    titles = [link.title for _title, links in sections for link in links if link.is_current]
    return {"sections": sections, "current": titles[0] if titles else ""}
