"""Themes: the codebook, samples of reasons, and the page on which one person codes one reason after another, blind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Rater
from config import roles
from reports.models import Coder, SampledReason, Theme, ThemeSample
from reports.page.csv import csv_lines
from reports.rationales import codings, queries
from reports.rationales.codings import CannotCode, SampleProgress
from reports.views.shared import of_study
from studies.access import Access
from studies.views.guards import require_in_study
from studies.views.posted_forms import makes_once

BOTH = ("GET", "HEAD", "POST")
PAGE_SIZE = 50


class ThemeForm(forms.Form):
    """A theme of the codebook."""

    name = forms.CharField(max_length=80, label=gettext_lazy("Theme"))
    definition = forms.CharField(
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3}),
        label=gettext_lazy("Definition"),
        help_text=gettext_lazy("When a reason is about it, and when not."),
    )
    example = forms.CharField(
        required=False, max_length=2000, widget=forms.Textarea(attrs={"rows": 2}), label=gettext_lazy("Example")
    )

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        if codings.SEPARATOR in name:
            raise forms.ValidationError(_("A name has no semicolon: they part names in files."))
        return name


class SampleForm(forms.Form):
    """Which reasons are drawn to be coded."""

    item = forms.ChoiceField(required=False, label=gettext_lazy("Question"))
    kind = forms.ChoiceField(
        required=False,
        choices=[
            ("", gettext_lazy("People and judges")),
            (Rater.Kind.PERSON.value, gettext_lazy("People")),
            (Rater.Kind.MODEL.value, gettext_lazy("Judges")),
        ],
        initial=Rater.Kind.PERSON.value,
        label=gettext_lazy("Given by"),
    )
    n = forms.IntegerField(
        min_value=1, max_value=codings.MOST_REASONS, initial=100, label=gettext_lazy("How many, drawn by chance")
    )

    def __init__(self, *args: Any, items: list[queries.RationaleItem], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [("", _("All questions")), *((item.key, item.title[:80]) for item in items)]
        cast(forms.ChoiceField, self.fields["item"]).choices = choices


class SuggestionForm(forms.Form):
    """What a judge found in the same reasons, as a file."""

    judge = forms.CharField(max_length=150, label=gettext_lazy("Judge"))
    file = forms.FileField(
        label=gettext_lazy("File"),
        help_text=gettext_lazy("CSV in UTF-8 with the columns number and themes; semicolons between themes."),
    )


@dataclass(frozen=True)
class SampleRow:
    """A sample in the list."""

    sample: ThemeSample
    title: str
    progress: SampleProgress
    may_code: bool


@dataclass(frozen=True)
class ThemeCounts:
    """How many reasons both coders, one of them or neither found about the theme."""

    theme: Theme
    n_both: int
    n_first: int
    n_second: int
    n_neither: int

    @property
    def percent(self) -> float | None:
        """Of 100 reasons, in how many the two agree."""
        n = self.n_both + self.n_first + self.n_second + self.n_neither
        return 100 * (self.n_both + self.n_neither) / n if n else None


# ── the codebook and its samples ───────────────────────────────────────────────────────────────────────────────────


@require_in_study(roles.VIEW_RESPONSES, methods=BOTH)
@makes_once
def codebook(request: HttpRequest, access: Access) -> HttpResponse:
    """For whoever may see answers: the codebook, which they may change until somebody codes, and the samples."""
    items = queries.asked_items(access.study)
    action = request.POST.get("do", "")
    theme_form = ThemeForm(request.POST if action == "add" else None)
    sample_form = SampleForm(request.POST if action == "draw" else None, items=items)
    if request.method == "POST" and _change(request, access, action, theme_form, sample_form):
        return redirect("reports:themes", access.study.slug)
    context = of_study(access) | {
        "themes": access.study.themes.all(),
        "is_frozen": codings.is_frozen(access.study),
        "samples": _samples(request, access, items),
        "theme_form": theme_form,
        "sample_form": sample_form,
        "form": sample_form if action == "draw" else theme_form,
    }
    return render(request, "reports/themes.html", context, status=400 if request.method == "POST" else 200)


def _change(request: HttpRequest, access: Access, action: str, theme: ThemeForm, sample: SampleForm) -> bool:
    """Do what was asked; False if it was not, and a form or a message says why."""
    form: forms.Form | None = {"add": theme, "draw": sample}.get(action)
    if form is not None and not form.is_valid():
        return False
    try:
        if action == "add":
            codings.add_theme(access.study, **theme.cleaned_data)
        elif action == "draw":
            codings.draw_sample(access.study, by=request.user.get_username(), **sample.cleaned_data)
        elif action == "remove" and (key := _number(request.POST.get("theme", ""))):
            codings.remove_theme(access.study, key)
        else:
            return False
    except CannotCode as error:
        if form is not None:
            form.add_error(None, str(error))
        else:
            messages.error(request, str(error))
        return False
    return True


def _number(text: str) -> int:
    """The key that a form posts; 0 if it is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0


def _samples(request: HttpRequest, access: Access, items: list[queries.RationaleItem]) -> list[SampleRow]:
    title_by_key = {item.key: item.title for item in items}
    rows = []
    for sample in access.study.theme_samples.all():
        standing = codings.progress(sample)
        title = title_by_key.get(sample.item, sample.item) or _("All questions")
        rows.append(SampleRow(sample, title, standing, standing.may_code(request.user.pk)))
    return rows


# ── one sample ─────────────────────────────────────────────────────────────────────────────────────────────────────


@require_in_study(roles.VIEW_RESPONSES, methods=BOTH, query=("page",))
def sample(request: HttpRequest, access: Access, sample: int) -> HttpResponse:
    """For whoever may see answers: how far the sample is; what was found, once two people have coded all of it."""
    row = _find_sample(access, sample)
    form = SuggestionForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid() and _bring(request, row, form):
        return redirect("reports:theme_sample", access.study.slug, row.pk)
    standing = codings.progress(row)
    context = of_study(access) | {
        "sample": row,
        "progress": standing,
        "form": form,
        "may_code": standing.may_code(request.user.pk) and access.study.themes.exists(),
        "judge": next((coder.name for coder in standing.coders if coder.number == Coder.JUDGE), ""),
    }
    if standing.is_done:
        context |= _outcome(request, access, row)
    return render(request, "reports/themes_sample.html", context, status=400 if request.method == "POST" else 200)


def _find_sample(access: Access, sample: int) -> ThemeSample:
    row = ThemeSample.objects.filter(study=access.study, pk=sample).select_related("study").first()
    if row is None:
        raise Http404
    return row


def _bring(request: HttpRequest, sample: ThemeSample, form: SuggestionForm) -> bool:
    try:
        data = form.cleaned_data["file"].read(codings.LARGEST_FILE + 1)
        codings.record_suggestion(sample, judge=form.cleaned_data["judge"], data=data)
    except CannotCode as error:
        form.add_error("file", str(error))
        return False
    messages.success(request, _("The judge’s suggestion stands beside what people found."))
    return True


def _outcome(request: HttpRequest, access: Access, sample: ThemeSample) -> dict[str, Any]:
    """What both people found, theme by theme, and the reasons on which somebody differs."""
    themes = list(access.study.themes.all())
    found = codings.themes_by_reason(sample)
    first, second, judge = (found.get(number, {}) for number in (1, 2, Coder.JUDGE))
    name_by_theme = {theme.pk: theme.name for theme in themes}
    differing = [n for n in first if first[n] != second[n] or (judge and judge.get(n) != first[n])]
    page = Paginator(sorted(differing), PAGE_SIZE).get_page(request.GET.get("page"))
    texts = dict(sample.reasons.filter(number__in=list(page)).values_list("number", "response__rationale"))
    return {
        "counts": [_count(theme, first, second) for theme in themes],
        "page": page,
        "page_query": "page=",
        "differing": [
            (number, texts.get(number, ""), [_names(by.get(number), name_by_theme) for by in (first, second, judge)])
            for number in page
        ],
    }


def _count(theme: Theme, first: dict[int, frozenset[int]], second: dict[int, frozenset[int]]) -> ThemeCounts:
    pairs = [(theme.pk in first[n], theme.pk in second[n]) for n in first]
    return ThemeCounts(
        theme,
        n_both=pairs.count((True, True)),
        n_first=pairs.count((True, False)),
        n_second=pairs.count((False, True)),
        n_neither=pairs.count((False, False)),
    )


def _names(themes: frozenset[int] | None, name_by_theme: dict[int, str]) -> str:
    if themes is None:
        return ""
    return ", ".join(name for pk, name in name_by_theme.items() if pk in themes) or _("none of these")


@require_in_study(roles.VIEW_RESPONSES)
def reasons(request: HttpRequest, access: Access, sample: int) -> StreamingHttpResponse:
    """For whoever may see answers: the sample's reasons and their questions as CSV, blind, for a judge to code."""
    row = _find_sample(access, sample)
    response = StreamingHttpResponse(
        (line.encode() for line in csv_lines(codings.COLUMNS, _rows(row))), content_type="text/csv; charset=utf-8"
    )
    response.headers["Content-Disposition"] = f'attachment; filename="{access.study.slug}-reasons-{row.pk}.csv"'
    return response


def _rows(sample: ThemeSample) -> Iterator[dict[str, Any]]:
    fields = ("number", "response__item__question", "response__rationale")
    for number, question, reason in sample.reasons.order_by("number").values_list(*fields):
        yield {"number": number, "question": question, "reason": reason, "themes": ""}


# ── one reason ─────────────────────────────────────────────────────────────────────────────────────────────────────


@require_in_study(roles.VIEW_RESPONSES, methods=BOTH)
def code(request: HttpRequest, access: Access, sample: int, number: int) -> HttpResponse:
    """For the two people who code the sample: one reason, without who gave it, about which story, and the answer."""
    row = _find_sample(access, sample)
    reason = row.reasons.filter(number=number).select_related("response__item").first()
    if reason is None:
        raise Http404
    by = cast(User, request.user)  # whoever is nobody did not get past the door
    if not codings.progress(row).may_code(by.pk):
        messages.error(request, _("Two people code this sample, and you are none of them; or both are done."))
        return redirect("reports:theme_sample", access.study.slug, row.pk)
    if request.method == "POST":
        return _save(request, row, reason, by)
    coded = reason.codings.filter(coder__user=by).first()
    context = of_study(access) | {
        "sample": row,
        "reason": reason,
        "themes": access.study.themes.all(),
        "chosen": set(coded.themes.values_list("pk", flat=True)) if coded else set(),
        "is_coded": coded is not None,
        "n_coded": row.reasons.filter(codings__coder__user=by).count(),
        "n_reasons": row.reasons.count(),
        "previous": row.reasons.filter(number__lt=number).order_by("-number").values_list("number", flat=True).first(),
    }
    return render(request, "reports/themes_code.html", context)


def _save(request: HttpRequest, sample: ThemeSample, reason: SampledReason, by: User) -> HttpResponse:
    """Store what was ticked, and go to the next reason that waits."""
    try:
        themes = {_number(key) for key in request.POST.getlist("themes")}
        codings.record_coding(sample, reason.number, user=by, themes=themes)
    except CannotCode as error:
        messages.error(request, str(error))
        return redirect("reports:theme_sample", sample.study.slug, sample.pk)
    waiting = sample.reasons.exclude(codings__coder__user=by).order_by("number").values_list("number", flat=True)
    number = waiting.filter(number__gt=reason.number).first() or waiting.first()
    if number is None:
        return redirect("reports:theme_sample", sample.study.slug, sample.pk)
    return redirect("reports:code_reason", sample.study.slug, sample.pk, number)
