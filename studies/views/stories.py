"""The stories of a study by group, and one as raters read it; in a draft they are corrected, moved and removed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.core.paginator import Page, Paginator
from django.db.models import Count, F, QuerySet, Sum
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from studies import formatting, story_edits
from studies.access import Access
from studies.action_log import log_action
from studies.documents.stories import MOST_IN_GROUP
from studies.models import Provenance, Story, StoryGroup, Study
from studies.story_edits import EditRefused, StoriesFinal
from studies.story_import import imports
from studies.story_import.files import STORIES
from studies.typography.paragraphs import Paragraph, number_paragraphs
from studies.views.edits import EditForm
from studies.views.guards import require_in_study
from studies.views.story_imports import StoryFileForm

MAY_CHANGE = "studies.change_story"
# Who sends texts out and who wrote them: a coordinator, who stays blind, sees none of it.
SEES_SOURCES = "studies.view_provenance"
MAY_MAKE = "studies.add_study"
ON_A_PAGE = 50
MOST_GROUPS_TO_CHOOSE = 200
_MEMBERSHIP = re.compile(r"\d{1,18}\.\d{1,18}")
REGROUPINGS = ("alone", "pairs", "size", "balanced", "premise")


@dataclass(frozen=True)
class StoryRow:
    """A story in one of its groups. origin : None for those who may not know it"""

    story: Story
    first_words: str
    group: int
    flags: list[str]
    origin: Provenance | None
    url: str


@dataclass(frozen=True)
class GroupOfRows:
    """The rows of one group that stand on this page. group : None for stories that stand in none"""

    group: StoryGroup | None
    n_stories: int
    rows: list[StoryRow]


@dataclass(frozen=True)
class _Stretch:
    """A paragraph's words without any quoted passage, as the raters' template takes them."""

    runs: tuple[Any, ...]
    quote: str = ""


def shown_paragraphs(text: str) -> list[dict[str, Any]]:
    """The text as the template of the raters' pages takes it."""
    paragraphs: Iterable[Paragraph] = number_paragraphs(text)
    return [{"number": p.number, "css": p.css, "stretches": [_Stretch(p.runs)]} for p in paragraphs]


@require_in_study(
    "studies.view_story",
    change=MAY_CHANGE,
    methods=("GET", "HEAD", "POST"),
    query=("q", "group", "flagged", "page", "story"),
)
def stories_page(request: HttpRequest, access: Access) -> HttpResponse:
    """For all who see stories: the table by group with the chosen story; of a draft, to be moved and removed."""
    study = access.study
    if request.method == "POST":
        return _act(request, access)
    sees_sources = access.may(SEES_SOURCES)
    words, code = request.GET.get("q", "").strip()[:100], request.GET.get("group", "")[:80]
    memberships = _find_memberships(study, words, code)
    if is_flagged := bool(request.GET.get("flagged")):
        memberships = memberships.filter(pk__in=_find_flagged(study, sees_sources=sees_sources))
    page = Paginator(memberships, ON_A_PAGE).get_page(request.GET.get("page"))
    tables = _list_groups(access, page, request.GET)
    rows = [row for table in tables for row in table.rows]
    chosen = _choose(study, request.GET.get("story", ""), rows)
    counts = study.stories.aggregate(n=Count("pk"), n_words=Sum("n_words"))
    n_groups = study.groups.count()
    obstacle = story_edits.find_obstacle(study)
    may_bring = not obstacle and access.may("studies.change_provenance")
    choice = list(study.groups.values_list("code", flat=True)) if n_groups <= MOST_GROUPS_TO_CHOOSE else []
    context = {
        "study": study,
        "access": access,
        "counts": counts,
        "n_groups": n_groups,
        "most_in_group": MOST_IN_GROUP,
        "group_codes": choice,
        "tables": tables,
        "page": page,
        "pages": list(page.paginator.get_elided_page_range(page.number, on_each_side=1, on_ends=1)),
        "elsewhere": _query(request.GET, page="", story=""),
        "words": words,
        "group": code,
        "is_flagged": is_flagged,
        "chosen": chosen,
        "paragraphs": shown_paragraphs(chosen.text) if chosen else [],
        "sees_sources": sees_sources,
        "obstacle": obstacle,
        "may_change": not obstacle and access.may(MAY_CHANGE),
        "may_bring": may_bring,
        "waiting": imports.find_waiting(study, cast(User, request.user)) if may_bring else None,
        "may_draw": sees_sources and counts["n"] > 1 and request.user.has_perm(MAY_MAKE),
        "may_generate": not obstacle and all(map(access.may, ("studies.change_provenance", "judges.add_run"))),
        "file_form": StoryFileForm(),
        "accepted": ",".join(STORIES.kinds),
    }
    return render(request, "studies/stories.html", context)


def _find_memberships(study: Study, words: str, code: str) -> QuerySet[Any]:
    """A row for every story in each of its groups, by group; stories without one at the end."""
    rows = study.stories.annotate(group_code=F("groups__code"), group_key=F("groups"))
    if words:
        rows = rows.filter(text__icontains=words)
    if code:
        rows = rows.filter(group_code=code)
    return rows.order_by(F("group_code").asc(nulls_last=True), "code")


def _find_same_texts(study: Study, keys: Iterable[int] | None = None) -> dict[int, list[str]]:
    """By story the codes of others with the very same text."""
    double = study.stories.filter(is_withheld=False).values("sha256").annotate(n=Count("pk")).filter(n__gt=1)
    rows = study.stories.filter(sha256__in=double.values("sha256")).order_by("code")
    codes_by_hash: dict[str, list[tuple[int, str]]] = {}
    for pk, code, sha256 in rows.values_list("pk", "code", "sha256"):
        codes_by_hash.setdefault(sha256, []).append((pk, code))
    return {
        pk: [code for other, code in members if other != pk] for members in codes_by_hash.values() for pk, _c in members
    }


def _find_flagged(study: Study, *, sees_sources: bool) -> list[int]:
    keys = list(_find_same_texts(study))
    if sees_sources:
        telling = [code for code, _word in formatting.find_telling_codes(study)]
        keys += study.stories.filter(code__in=telling).values_list("pk", flat=True)
    return keys


def _list_groups(access: Access, page: Page[Any], query: Any) -> list[GroupOfRows]:
    """The stories of the page under their groups."""
    study, stories = access.study, list(page.object_list)
    same_texts = _find_same_texts(study)
    origins = {}
    if access.may(SEES_SOURCES):
        rows = Provenance.objects.filter(story__in=[story.pk for story in stories]).select_related("source")
        origins = {origin.story_id: origin for origin in rows.defer("raw_text")}
    groups = study.groups.annotate(n=Count("stories")).in_bulk({s.group_key for s in stories if s.group_key})
    tables: dict[int, GroupOfRows] = {}
    for story in stories:
        group = groups.get(story.group_key)
        table = tables.setdefault(story.group_key or 0, GroupOfRows(group, getattr(group, "n", 0), []))
        origin = origins.get(story.pk)
        table.rows.append(
            StoryRow(
                story,
                " ".join(story.text[:300].split())[:110],
                story.group_key or 0,
                list(_flags(story, same_texts, origin)),
                origin,
                _query(query, story=str(story.pk)),
            )
        )
    return list(tables.values())


def _flags(story: Story, same_texts: dict[int, list[str]], origin: Provenance | None) -> Iterable[str]:
    if codes := same_texts.get(story.pk):
        yield _("Same text as %(codes)s, word for word.") % {"codes": ", ".join(codes[:5])}
    if origin:
        names = (origin.source.name, origin.title, *map(str, origin.factors.values()))
        if formatting.find_telling_word(story.code, names):
            yield _("The code reveals its source.")


def _query(query: Any, **changes: str) -> str:
    """The page's own query with these changes, for an address."""
    values = query.copy()
    for name, value in changes.items():
        values.pop(name, None)
        if value:
            values[name] = value
    return str(values.urlencode())


def _choose(study: Study, key: str, rows: Sequence[StoryRow]) -> Story | None:
    """The story that the address names, else the first of the page."""
    for row in rows:
        if str(row.story.pk) == key:
            return row.story
    if key.isascii() and key.isdigit() and len(key) < 19 and (story := study.stories.filter(pk=key).first()):
        return story
    return rows[0].story if rows else None


def _act(request: HttpRequest, access: Access) -> HttpResponse:
    """Do what the pressed button says with the chosen stories, and say what came of it."""
    study, back = access.study, f"{reverse('studies:stories', args=[access.study.slug])}?{_query(request.GET)}"
    posted = [word for word in request.POST.getlist("story") if _MEMBERSHIP.fullmatch(word)]
    memberships = [(int(story), int(group)) for story, _dot, group in (word.partition(".") for word in posted)]
    action = request.POST.get("action", "")
    if action == "remove" and request.POST.get("sure") != "yes" and memberships:
        context = {"study": study, "access": access, "posted": posted, "n_stories": len({s for s, _g in memberships})}
        return render(request, "studies/stories_remove.html", context | {"back": back})
    try:
        size = request.POST.get("size", "").strip()
        sentence = _carry_out(
            access,
            action,
            memberships,
            request.POST.get("to", "").strip(),
            size=int(size) if re.fullmatch("[0-9]{1,9}", size) else 0,
        )
    except (EditRefused, StoriesFinal) as error:
        messages.error(request, str(error))
        return redirect(back)
    log_action(study, f"stories: {action}", by=request.user)
    messages.success(request, sentence)
    return redirect(back)


def _carry_out(access: Access, action: str, memberships: list[tuple[int, int]], code: str, *, size: int) -> str:
    """What was done, as a sentence. Raises StoriesFinal, or EditRefused."""
    study = access.study
    if action == "codes":
        n = story_edits.give_neutral_codes(study)
        return ngettext("%(n)d story has a new code.", "%(n)d stories have new codes.", n) % {"n": n}
    if action in REGROUPINGS:
        # Balance is by source, which only those may ask about who know the sources.
        if not access.may(SEES_SOURCES):
            raise PermissionDenied
        n = story_edits.form_groups_anew(study, action, size=size)
        return ngettext("There is %(n)d group now.", "There are %(n)d groups now.", n) % {"n": n}
    if action not in ("move", "remove"):
        raise EditRefused(_("Nothing was changed: choose what is to be done."))
    if not memberships:
        raise EditRefused(_("Nothing was changed: choose stories first."))
    if action == "remove":
        n = story_edits.remove_stories(study, {story for story, _group in memberships})
        return ngettext("%(n)d story is removed.", "%(n)d stories are removed.", n) % {"n": n}
    group = story_edits.move_stories(study, memberships, code="" if code == "new group" else code)
    n = len({story for story, _group in memberships})
    sentence = ngettext("%(n)d story is in group “%(g)s” now.", "%(n)d stories are in group “%(g)s” now.", n)
    return sentence % {"n": n, "g": group.code}


class TextForm(EditForm):
    text = forms.CharField(
        label=gettext_lazy("The text"),
        strip=False,
        required=False,
        widget=forms.Textarea({"rows": 24}),
        help_text=gettext_lazy("A blank line between paragraphs, *asterisks* for italics, *** between sections."),
    )


@require_in_study("studies.view_story", change=MAY_CHANGE, methods=("GET", "HEAD", "POST"))
def story_page(request: HttpRequest, access: Access, story: int) -> HttpResponse:
    """For all who see stories: one of them whole, as raters read it; of a draft, to be corrected."""
    study = access.study
    row = Story.objects.filter(study=study, pk=story).select_related("study").first()
    if row is None:
        raise Http404
    form, status = TextForm(initial={"text": row.text}), 200
    if request.method == "POST":
        # A browser sends line ends as CR LF.
        data = request.POST.copy()
        data["text"] = data.get("text", "").replace("\r\n", "\n")
        form, status = TextForm(data, initial={"text": row.text}), 400
        if form.is_valid():
            try:
                if story_edits.correct_text(row, form.cleaned_data["text"]):
                    messages.success(request, _("The text is corrected. The original is kept."))
                return redirect("studies:story", slug=study.slug, story=row.pk)
            except (EditRefused, StoriesFinal) as error:
                form.add_error("text", str(error))
                row.refresh_from_db()
    obstacle = story_edits.find_obstacle(study)
    context = {
        "study": study,
        "access": access,
        "chosen": row,
        "paragraphs": shown_paragraphs(row.text),
        "form": form,
        "obstacle": obstacle,
        "may_change": not obstacle and access.may(MAY_CHANGE),
    }
    return render(request, "studies/story.html", context, status=status)
