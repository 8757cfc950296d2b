"""Instruments: the shelf, and the page on which one is written. They belong to no study."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin.models import ADDITION, CHANGE, DELETION
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studies import instrument_drafts, loader
from studies.access import may_somewhere
from studies.action_log import log_action
from studies.documents.errors import DocumentError
from studies.documents.instrument import parse_instrument, write_instrument
from studies.items import StoryLabel, all_types, find_type
from studies.models import Instrument, Item
from studies.publication import AlreadyPublished
from studies.views import guards
from studies.views.edits import EditForm
from studies.views.instrument_rows import score_rows, summarise_item
from studies.views.item_forms import ItemDraftForm, WordsField, pictures_of, preview_document
from studies.views.posted_forms import makes_once

SEES, CHANGES = "studies.view_instrument", "studies.change_instrument"
LARGEST_FILE = 1_000_000  # bytes; the largest built-in instrument has a fiftieth of it
FINAL = gettext_lazy("This instrument is published and cannot be changed. Copy it to change it.")
MOVES = {"earlier": -1, "later": 1}
# What a question about stories is shown with, where there is no study.
LETTERS = (StoryLabel("A"), StoryLabel("B"), StoryLabel("C"))


def require_instruments(
    *, changes: bool = False, methods: tuple[str, ...] = ("GET", "HEAD"), query: tuple[str, ...] = ()
) -> Callable[[guards.View], guards.View]:
    """View decorator: requires leave to see instruments, in all studies or in one; for a POST, or if the page only
    changes something, to change them.

    The view gets the instrument in place of its number in the address.
    """

    def may(request: HttpRequest) -> bool:
        return may_somewhere(request.user, CHANGES if changes or request.method == "POST" else SEES)

    def guard(view: guards.View) -> guards.View:
        @guards.require(may, methods=methods, query=query)
        @wraps(view)
        def guarded(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
            if "instrument" in kwargs:
                kwargs["instrument"] = get_object_or_404(Instrument, pk=kwargs["instrument"])
            return view(request, **kwargs)

        return guarded

    return guard


class InstrumentForm(EditForm):
    """What an instrument is called and where it comes from."""

    title = forms.CharField(label=gettext_lazy("Title"), max_length=200)
    language = forms.CharField(
        label=gettext_lazy("Language"),
        max_length=12,
        help_text=gettext_lazy("The language of the questions, as a code such as en or pt-BR."),
    )
    citation = WordsField(
        label=gettext_lazy("Source"),
        required=False,
        widget=forms.Textarea({"rows": 2}),
        help_text=gettext_lazy("Where the questions come from, as a paper would cite it. Empty: they are your own."),
    )
    note = WordsField(label=gettext_lazy("Note to colleagues"), required=False, widget=forms.Textarea({"rows": 2}))


class NewInstrumentForm(forms.Form):
    title = forms.CharField(label=gettext_lazy("Title"), max_length=200)
    language = forms.CharField(
        label=gettext_lazy("Language"),
        max_length=12,
        initial="en",
        help_text=InstrumentForm.base_fields["language"].help_text,
    )


class CopyForm(forms.Form):
    title = forms.CharField(
        label=gettext_lazy("Title"),
        max_length=200,
        help_text=gettext_lazy("The same title makes the next version; another one an instrument of its own."),
    )


class FileForm(forms.Form):
    file = forms.FileField(
        label=gettext_lazy("File"), help_text=gettext_lazy("An instrument as Quire writes it (.toml).")
    )

    def clean_file(self) -> Any:
        upload = self.cleaned_data["file"]
        if upload.size > LARGEST_FILE:
            raise forms.ValidationError(_("This file is too large for an instrument: at most 1 MB is read."))
        try:
            table = tomllib.loads(upload.read().decode("utf-8"))
            return parse_instrument(table, upload.name)
        except UnicodeDecodeError:
            raise forms.ValidationError(_("This file is not UTF-8 text. Save it as UTF-8.")) from None
        except tomllib.TOMLDecodeError as error:
            raise forms.ValidationError(_("This is not an instrument file: %(why)s") % {"why": error}) from None
        except DocumentError as error:
            raise forms.ValidationError(str(error)) from None


@dataclass(frozen=True)
class ShelfRow:
    """One instrument on the shelf. asked : about what it can be asked"""

    instrument: Instrument
    n_items: int
    n_studies: int
    asked: str

    @property
    def is_published(self) -> bool:
        return self.instrument.status == Instrument.Status.PUBLISHED


@dataclass(frozen=True)
class QuestionRow:
    """A question of an instrument in the list. pictures : templates of which the first that exists draws its type"""

    item: Item
    summary: str
    pictures: list[str]
    is_open: bool


@require_instruments()
def shelf(request: HttpRequest) -> HttpResponse:
    """For all who see instruments: all of them, with what each asks and how many studies ask it.

    Those that come with Quire are loaded if they are not there yet.
    """
    loader.ensure_builtin_instruments()
    rows = Instrument.objects.annotate(
        n_items=Count("items", distinct=True), n_studies=Count("step__version__study", distinct=True)
    )
    comparing_types = [name for name, kind in all_types().items() if kind.about_stories]
    comparing = set(Item.objects.filter(type__in=comparing_types).values_list("instrument_id", flat=True))
    scopes = {True: _("about a group"), False: _("as each study says")}
    shelf_rows = [
        ShelfRow(row, row.n_items, row.n_studies, scopes[row.pk in comparing])
        for row in rows.order_by("status", "title", "version")
    ]
    return render(
        request, "studies/instruments.html", {"rows": shelf_rows, "may_change": may_somewhere(request.user, CHANGES)}
    )


@require_instruments(changes=True, methods=("GET", "HEAD", "POST"))
@makes_once
def new(request: HttpRequest) -> HttpResponse:
    """For all who may change instruments: a new draft, from its title or from a file."""
    is_file = "from_file" in request.POST
    form = NewInstrumentForm(request.POST if request.POST and not is_file else None)
    file_form = FileForm(request.POST, request.FILES) if is_file else FileForm()
    chosen: forms.Form = file_form if is_file else form
    if request.method == "POST" and chosen.is_valid():
        try:
            draft = (
                instrument_drafts.load_draft(file_form.cleaned_data["file"])
                if is_file
                else instrument_drafts.begin_draft(**form.cleaned_data)
            )
        except loader.VersionConflict as error:
            chosen.add_error(None, str(error))
        else:
            _log(request, draft, ADDITION, "begun")
            return redirect("instruments:show", instrument=draft.pk)
    status = 400 if request.method == "POST" else 200
    context = {"form": form, "file_form": file_form, "faulty": chosen if status == 400 else None}
    return render(request, "studies/new_instrument.html", context, status=status)


@require_instruments(methods=("GET", "HEAD", "POST"), query=("question", "new"))
def show(request: HttpRequest, instrument: Instrument) -> HttpResponse:
    """For all who see instruments: all that it asks; a draft with its forms. A POST saves what it is called."""
    if request.method == "POST":
        form = InstrumentForm(request.POST, initial=_head(instrument))
        if instrument.status == Instrument.Status.PUBLISHED:
            messages.error(request, FINAL)
            return redirect("instruments:show", instrument=instrument.pk)
        if form.is_valid():
            for name, value in form.cleaned_data.items():
                setattr(instrument, name, value)
            instrument.save()
            _log(request, instrument, CHANGE, "title or source")
            messages.success(request, _("Saved."))
            return redirect("instruments:show", instrument=instrument.pk)
        return _render(request, instrument, head=form, status=409 if form.changes else 400)
    item_form = None
    if "new" in request.GET:
        item_form = ItemDraftForm()
    elif key := request.GET.get("question"):
        item_form = ItemDraftForm(item=get_object_or_404(instrument.items, key=key))
    return _render(request, instrument, item_form=item_form)


@require_instruments(methods=("POST",))
@makes_once
def question(request: HttpRequest, instrument: Instrument, item: str = "") -> HttpResponse:
    """For all who may change instruments: save, move or remove a question of a draft, or show another type's fields."""
    row = get_object_or_404(instrument.items, key=item) if item else None
    act = request.POST.get("act", "save")
    address = reverse("instruments:show", args=[instrument.pk])
    try:
        if row and act in MOVES:
            instrument_drafts.move_item(row, by=MOVES[act])
            return redirect(f"{address}?question={row.key}")
        if row and act == "remove":
            instrument_drafts.remove_item(row)
            _log(request, instrument, CHANGE, f"question {row.key} removed")
            return redirect(address)
        form = ItemDraftForm(request.POST, item=row)
        if act == "choose_type":
            return _render(request, instrument, item_form=_unchecked(form))
        if not form.is_valid():
            return _render(request, instrument, item_form=form, status=409 if form.changes else 400)
        saved = instrument_drafts.save_item(instrument, form.cleaned_data["fields"], item=row)
    except AlreadyPublished:
        messages.error(request, FINAL)
        return redirect(address)
    _log(request, instrument, CHANGE, f"question {saved.key} saved")
    messages.success(request, _("The question is saved."))
    return redirect(f"{address}?question={saved.key}")


@require_instruments(methods=("POST",))
def preview(request: HttpRequest, instrument: Instrument) -> HttpResponse:
    """The question that is posted, as raters see it and as a model is told; nothing is saved."""
    item = instrument.items.filter(key=request.POST.get("key", "").replace("\x00", "")).first()
    # Nothing is overwritten by looking, whatever others saved meanwhile.
    form = ItemDraftForm({**request.POST.dict(), "seen": ItemDraftForm(item=item).seen_value}, item=item)
    form.is_valid()
    return render(request, "studies/instrument.html#preview", {"instrument": instrument, "preview": _preview(form)})


@require_instruments(changes=True, methods=("GET", "HEAD", "POST"))
def publish(request: HttpRequest, instrument: Instrument) -> HttpResponse:
    """For all who may change instruments: what becomes final by publishing (GET), and publishing (POST)."""
    if instrument.status == Instrument.Status.PUBLISHED:
        return redirect("instruments:show", instrument=instrument.pk)
    problem = ""
    if request.method == "POST":
        try:
            loader.publish(instrument)
        except DocumentError as error:
            problem = str(error)
        else:
            _log(request, instrument, CHANGE, "published")
            messages.success(request, _("“%(title)s” is published.") % {"title": instrument.title})
            return redirect("instruments:show", instrument=instrument.pk)
    context = {
        "instrument": instrument,
        "problem": problem,
        "n_items": instrument.items.count(),
        "advice": loader.advise(instrument),
    }
    return render(request, "studies/publish_instrument.html", context, status=400 if problem else 200)


@require_instruments(changes=True, methods=("GET", "HEAD", "POST"))
@makes_once
def copy(request: HttpRequest, instrument: Instrument) -> HttpResponse:
    """For all who may change instruments: a draft that asks the same, under the same title or another one."""
    form = CopyForm(request.POST or None, initial={"title": instrument.title})
    if request.method == "POST" and form.is_valid():
        draft = instrument_drafts.copy_draft(instrument, title=form.cleaned_data["title"])
        _log(request, draft, ADDITION, f"copied from {instrument}")
        return redirect("instruments:show", instrument=draft.pk)
    status = 400 if request.method == "POST" else 200
    return render(request, "studies/copy_instrument.html", {"instrument": instrument, "form": form}, status=status)


@require_instruments(methods=("POST",))
def delete(request: HttpRequest, instrument: Instrument) -> HttpResponse:
    """For all who may change instruments: delete a draft that no study asks."""
    try:
        instrument_drafts.delete_draft(instrument)
    except (AlreadyPublished, instrument_drafts.InstrumentInUse) as error:
        messages.error(request, str(error))
        return redirect("instruments:show", instrument=instrument.pk)
    _log(request, instrument, DELETION, "deleted")
    messages.success(request, _("“%(title)s” is deleted.") % {"title": instrument.title})
    return redirect("instruments:shelf")


@require_instruments()
def export(request: HttpRequest, instrument: Instrument) -> HttpResponse:
    """The instrument as the file that `load_instrument` reads. 409 for a draft that could not be read from a file."""
    try:
        text = write_instrument(loader.document_of(instrument))
    except DocumentError as error:
        return _render(request, instrument, problem=str(error), status=409)
    disposition = f'attachment; filename="{instrument.slug}-{instrument.version}.toml"'
    return HttpResponse(
        text, content_type="application/toml; charset=utf-8", headers={"Content-Disposition": disposition}
    )


def _render(
    request: HttpRequest,
    instrument: Instrument,
    *,
    head: InstrumentForm | None = None,
    item_form: ItemDraftForm | None = None,
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    is_draft = instrument.status == Instrument.Status.DRAFT
    items = list(instrument.items.order_by("position"))
    opened = item_form.item if item_form else None
    name, args = ("question", [instrument.pk, opened.key]) if opened else ("new_question", [instrument.pk])
    context = {
        "instrument": instrument,
        "is_draft": is_draft,
        "may_change": is_draft and may_somewhere(request.user, CHANGES),
        "may_copy": may_somewhere(request.user, CHANGES),
        "rows": [QuestionRow(item, summarise_item(item), pictures_of(item.type), item == opened) for item in items],
        "scores": score_rows(instrument, items),
        "head": head or InstrumentForm(initial=_head(instrument)),
        "is_head_open": head is not None,
        "item_form": item_form,
        "question_address": reverse(f"instruments:{name}", args=args),
        "preview": _preview(item_form) if item_form else None,
        "advice": loader.advise(instrument) if is_draft else "",
        "problem": problem,
    }
    return render(request, "studies/instrument.html", context, status=status)


def _head(instrument: Instrument) -> dict[str, str]:
    return {name: getattr(instrument, name) for name in InstrumentForm.base_fields}


@dataclass(frozen=True)
class QuestionPreview:
    """A question as raters see it, and what a model is told; `controls` is "" while it cannot be asked yet."""

    item: Any
    controls: str
    words: str


def _preview(form: ItemDraftForm) -> QuestionPreview | None:
    """Of the form as it was posted, or of the saved question; None of a new one."""
    if form.is_bound:
        fields = form.cleaned_data.get("fields") if hasattr(form, "cleaned_data") else None
        item: Any = preview_document(fields) if fields else None
    else:
        item = form.item
    if item is None:
        return None
    kind = find_type(item.type)
    stories = LETTERS[: kind.most_stories] if kind.about_stories else ()
    field = kind.field(item, stories=stories)
    return QuestionPreview(item, field.widget.render("preview", None), kind.words(item, stories=stories))


def _unchecked(form: ItemDraftForm) -> ItemDraftForm:
    """What was typed so far with the fields of the type that was chosen, without a word on what is still missing."""
    data = form.data
    fresh = ItemDraftForm(item=form.item, kind=form.kind.name)
    for name, field in form.fields.items():
        fresh.fields[name].widget = field.widget  # a scale's has a field for each point that was chosen
        if name in data or name.startswith("setting_"):
            fresh.initial[name] = field.widget.value_from_datadict(data, {}, name) or fresh.initial.get(name)
    return fresh


def _log(request: HttpRequest, instrument: Instrument, flag: int, message: str) -> None:
    """Into the admin's log, which is one for all languages."""
    log_action(instrument, message, by=request.user, flag=flag)
