"""What models wrote for a study: the runs, the texts of one, and taking them in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy, ngettext

from judges.laboratory import generation, recipes
from judges.laboratory.generation import CannotAccept, Terms
from judges.laboratory.generation.acceptance import PLACEMENTS
from judges.laboratory.recipes import Recipe, count_words
from judges.laboratory.views.new_generations import ADDS
from judges.models import Draft, GeneratedText, Generation
from judges.views.new_runs import STARTS
from judges.views.progress import label_of, state_of
from judges.views.runs import SEES_SOURCES
from studies import story_edits
from studies.access import Access
from studies.action_log import log_action
from studies.models import Story
from studies.typography.differences import Passage, find_differences, shorten
from studies.views.guards import require_in_study
from studies.views.posted_forms import makes_once

ON_A_PAGE = 25


class TermsForm(forms.Form):
    """What is said of all texts accepted together."""

    source = forms.CharField(
        label=gettext_lazy("Source"),
        help_text=gettext_lazy("What the language model is called in reports; empty for the model’s name."),
        max_length=200,
        required=False,
    )
    licence = forms.CharField(label=gettext_lazy("Licence"), max_length=200, required=False)
    placement = forms.ChoiceField(label=gettext_lazy("Where they stand"), choices=list(PLACEMENTS.items()))
    may_send_out = forms.BooleanField(label=gettext_lazy("May be sent to outside models"), required=False)
    reason = forms.CharField(
        label=gettext_lazy("Why they may be sent"),
        help_text=gettext_lazy("Kept with your name and the day under “Texts to be sent”."),
        required=False,
    )
    may_redistribute = forms.BooleanField(label=gettext_lazy("May be in exports"), required=False)

    def clean(self) -> dict[str, Any]:
        """Ask for the reason where the one who takes them in could give it."""
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.get("may_send_out") and not cleaned.get("reason", "").strip():
            self.add_error("reason", gettext("Say why these texts may be sent."))
        return cleaned

    @property
    def terms(self) -> Terms:
        """What was said, once it is valid."""
        return Terms(**self.cleaned_data)


@dataclass(frozen=True)
class TextRow:
    """A text that was written. passages : of it and its clean-up; empty if it came clean"""

    text: GeneratedText
    n_words: int
    passages: Sequence[Passage]


@require_in_study(SEES_SOURCES)
def index(request: HttpRequest, access: Access) -> HttpResponse:
    """For all who may know who wrote: the generations of the study, the latest first."""
    rows = (
        Generation.objects.filter(run__study=access.study, run__alignment=None)
        .select_related("run__judge__endpoint")
        .annotate(
            n_drafts=Count("drafts", distinct=True),
            n_texts=Count("drafts__texts", distinct=True),
            n_accepted=Count("drafts__texts", filter=Q(drafts__texts__accepted_at__isnull=False), distinct=True),
        )
    )
    now = timezone.now()
    listing = [(row, _find_recipe(row), state_of(row.run, at=now)) for row in rows.order_by("-run__created_at", "-pk")]
    is_maker = access.may(ADDS) and access.may(STARTS)
    obstacle = story_edits.find_obstacle(access.study) if is_maker else ""
    context = {
        "study": access.study,
        "access": access,
        "rows": [(row, recipe, state, label_of(state)) for row, recipe, state in listing],
        "may_start": is_maker and not obstacle,
        "obstacle": obstacle,
        "shared": generation.find_shared_families(access.study),
        "sees_sources": True,
    }
    return render(request, "judges/generations.html", context)


def _find_recipe(row: Generation) -> Recipe | None:
    """The recipe by which it is written; None if no file defines it any more."""
    return recipes.all_recipes().get(row.recipe)


@require_in_study(SEES_SOURCES, change=ADDS, methods=("GET", "HEAD", "POST"), query=("page",))
@makes_once
def show(request: HttpRequest, access: Access, run: int) -> HttpResponse:
    """For all who may know who wrote: the texts of one run, and what became of each; of a draft, to be accepted."""
    rows = Generation.objects.select_related("run__judge__endpoint", "run__study")
    row = get_object_or_404(rows, pk=run, run__study=access.study, run__alignment=None)
    recipe = _find_recipe(row)
    makes_measures = recipe is not None and recipe.makes == "measure"
    values = request.POST if request.method == "POST" else None
    form = forms.Form(values) if makes_measures else TermsForm(values, initial={"source": row.run.judge.model})
    if values is not None and form.is_valid():
        try:
            message = _accept(request, row, form.terms) if isinstance(form, TermsForm) else _approve(request, row)
        except CannotAccept as error:
            form.add_error(None, str(error))
        else:
            log_action(access.study, f"texts accepted from run {row.pk}", by=request.user)
            messages.success(request, message)
            return redirect("judges:generation", slug=access.study.slug, run=row.pk)
    drafts = Paginator(row.drafts.select_related("group", "original", "item").order_by("number"), ON_A_PAGE)
    page = drafts.get_page(request.GET.get("page"))
    obstacle = story_edits.find_obstacle(access.study)
    context = {
        "study": access.study,
        "access": access,
        "generation": row,
        "recipe": recipe,
        "form": form,
        "page": page,
        "drafts": _list_drafts(list(page)),
        "n_by_state": _count(row),
        "makes_measures": makes_measures,
        # What was ticked stays ticked on a page that asks for something else.
        "chosen": set(_keys(request, "text")),
        "as_they_came": {key for key in _keys(request, "all") if request.POST.get(f"version-{key}") == "raw"},
        "obstacle": obstacle,
        "may_accept": not obstacle and access.may(ADDS),
        "shared": generation.find_shared_families(access.study),
    }
    return render(request, "judges/generation.html", context, status=400 if form.errors else 200)


def _count(row: Generation) -> dict[str, int]:
    """How the drafts of a run stand: written, given up, failed, on their way; and all replies and discards."""
    counts = row.drafts.aggregate(
        n=Count("pk"), **{f"n_{state.value}": Count("pk", filter=Q(state=state)) for state in Draft.State}
    )
    values = row.drafts.values_list("n_attempts", "n_discards")
    return counts | {"n_attempts": sum(n for n, _d in values), "n_discards": sum(d for _n, d in values)}


def _list_drafts(drafts: Sequence[Draft]) -> list[tuple[Draft, list[TextRow]]]:
    """The drafts of a page, each with its texts. One query."""
    texts: dict[int, list[TextRow]] = {draft.pk: [] for draft in drafts}
    for text in GeneratedText.objects.filter(draft__in=texts).select_related("story").order_by("draft", "round"):
        texts[text.draft_id].append(TextRow(text, count_words(text.text), _find_passages(text)))
    return [(draft, texts[draft.pk]) for draft in drafts]


def _find_passages(text: GeneratedText) -> list[Passage]:
    """What the clean-up would take away, between the words around it; nothing if the text came clean."""
    if not text.cleaned:
        return []
    before, cleaned, after = text.text.partition(text.cleaned)
    if not cleaned:
        return shorten(find_differences(text.text, text.cleaned))
    passages = [Passage("gone", before), Passage("same", cleaned), Passage("gone", after)]
    return shorten([passage for passage in passages if passage.text])


def _keys(request: HttpRequest, name: str) -> list[int]:
    keys = request.POST.getlist(name)
    return [int(key) for key in dict.fromkeys(keys) if key.isascii() and key.isdigit() and len(key) < 19]


def _accept(request: HttpRequest, row: Generation, terms: Terms) -> str:
    """Accept the chosen texts, or all that the page showed; what was done, as a sentence. Raises CannotAccept."""
    keys = _keys(request, "all" if request.POST.get("do") == "all" else "text")
    is_cleaned = {key: request.POST.get(f"version-{key}", "cleaned") == "cleaned" for key in keys}
    by = request.user.get_username()
    stories = generation.accept(row, is_cleaned, terms, by=by, at=timezone.now())
    n = len(stories)
    message = ngettext("%(n)d story is in the study now.", "%(n)d stories are in the study now.", n) % {"n": n}
    closed = Story.objects.filter(pk__in=[story.pk for story in stories], provenance__may_send_out=False)
    if terms.may_send_out and (n := closed.count()):
        reason = ngettext(
            "%(n)d was made from a story that may not be sent: it waits under “Texts to be sent”.",
            "%(n)d were made from stories that may not be sent: they wait under “Texts to be sent”.",
            n,
        )
        message += " " + reason % {"n": n}
    return message


def _approve(request: HttpRequest, row: Generation) -> str:
    """Make the chosen texts, as they were edited, the backgrounds of their questions. Raises CannotAccept."""
    words = {key: request.POST.get(f"words-{key}", "").replace("\r\n", "\n") for key in _keys(request, "text")}
    n = generation.approve_measures(row, words, by=request.user.get_username(), at=timezone.now())
    message = ngettext("%(n)d question has its background now.", "%(n)d questions have their backgrounds now.", n)
    return message % {"n": n}
