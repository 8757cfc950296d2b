"""Prompts: the list, and one with what it would say about a story of the study."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from judges import catalogue, prompts
from judges.models import PersonaSet, Prompt
from judges.prompts import Example, InvalidPrompt, PromptContext, StoryText
from studies.access import Access
from studies.models import Item, Step
from studies.typography.paragraphs import normalise_line_ends
from studies.views.guards import require_in_study
from studies.views.posted_forms import makes_once

SEES, ADDS, CHANGES = "judges.view_prompt", "judges.add_prompt", "judges.change_prompt"


class PromptForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Prompt
        fields = (
            *("name", "version", "system", "template", "protocol", "personas", "is_structured"),
            *("source", "citation", "is_verbatim"),
        )
        labels = {
            "name": gettext_lazy("Name"),
            "version": gettext_lazy("Version"),
            "system": gettext_lazy("What the model is told first"),
            "template": gettext_lazy("What is asked"),
            "protocol": gettext_lazy("Order of the reply"),
            "is_structured": gettext_lazy("The server is told the form of the answer"),
            "source": gettext_lazy("Source of the wording"),
            "citation": gettext_lazy("Citation"),
            "is_verbatim": gettext_lazy("Word for word as in its source"),
        }
        help_texts = {
            "name": gettext_lazy("Lower-case letters, digits and hyphens."),
            "template": gettext_lazy(
                "Between {{ and }} stand stories, premise, background, instruction, question and words. "
                "With questions in place of question, all that is asked about a story is asked in one call."
            ),
            "is_structured": gettext_lazy(
                "Reasons before the answer. Not every server supports it; a different treatment."
            ),
            "is_verbatim": "",
        }
        widgets = {"system": forms.Textarea({"rows": 3}), "citation": forms.Textarea({"rows": 2})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = [*PersonaSet.objects.order_by("name").values_list("name", flat=True).distinct(), self.instance.personas]
        choices = [("", _("none")), *((name, name) for name in dict.fromkeys(filter(None, names)))]
        self.fields["personas"] = forms.ChoiceField(
            choices=choices,
            label=_("Personas"),
            required=False,
            help_text=_("The persona set a run can use."),
        )

    def clean(self) -> dict[str, Any]:
        """With the line ends that a file has, so that the same words have the same fingerprint by either way."""
        cleaned = super().clean() or self.cleaned_data
        return {name: normalise_line_ends(v) if isinstance(v, str) else v for name, v in cleaned.items()}


class PreviewForm(forms.Form):
    """On which story, and for which question, a prompt is tried."""

    story = forms.ChoiceField(label=gettext_lazy("Story"))
    item = forms.ChoiceField(label=gettext_lazy("Question"))

    def __init__(self, *args: Any, access: Access) -> None:
        super().__init__(*args)
        stories = access.study.stories.filter(is_withheld=False).order_by("code").values_list("pk", "code")
        version = access.study.versions.order_by("-number").values_list("pk", flat=True)[:1]
        steps = Step.objects.filter(version__in=list(version), kind=Step.Kind.RATING).order_by("position")
        items = Item.objects.filter(instrument__step__in=steps).order_by("instrument__step__position", "position")
        self.fields["story"].choices = [(str(pk), code) for pk, code in stories]  # type: ignore[attr-defined]
        self.fields["item"].choices = [  # type: ignore[attr-defined]
            (str(pk), title or question) for pk, title, question in items.values_list("pk", "title", "question")
        ]


@dataclass(frozen=True)
class Preview:
    """problem : why the prompt cannot be set; "" if it can"""

    problem: str
    messages: tuple[tuple[str, str], ...] = ()


@require_in_study(SEES)
def index(request: HttpRequest, access: Access) -> HttpResponse:
    """For all who see prompts: all there are, for all studies, with the number of their runs in this one."""
    catalogue.ensure_built_in()
    rows = Prompt.objects.annotate(n_runs=Count("judges__runs", filter=Q(judges__runs__study=access.study))).order_by(
        "name", "version"
    )
    context = {"study": access.study, "access": access, "rows": rows, "may_add": access.may(ADDS)}
    return render(request, "judges/prompts.html", context)


@require_in_study(ADDS, methods=("GET", "HEAD", "POST"), query=("like",))
@makes_once
def new(request: HttpRequest, access: Access) -> HttpResponse:
    """For all who may make prompts: a new one, empty or like another."""
    like = request.GET.get("like", "")
    model = Prompt.objects.filter(pk=like).first() if like.isascii() and like.isdigit() else None
    content = {name: value for name, value in model.content.items() if name != "version"} if model else {}
    # Words that are changed are no longer those of the source.
    return _edit(request, access, Prompt(**content | {"is_verbatim": False}))


@require_in_study(SEES, change=CHANGES, methods=("GET", "HEAD", "POST"), query=("story", "item"))
def show(request: HttpRequest, access: Access, prompt: int) -> HttpResponse:
    """For all who see prompts: one of them; until a run has used it, a form for those who may change it."""
    row = get_object_or_404(Prompt, pk=prompt)
    is_final = row.is_used()
    if not is_final and access.may(CHANGES):
        return _edit(request, access, row)
    choice = PreviewForm(request.GET or None, access=access)
    context = {
        "study": access.study,
        "access": access,
        "prompt": row,
        "is_final": is_final,
        "choice": choice,
        "preview": _preview(access, row.system, row.template, choice),
        "may_add": access.may(ADDS),
    }
    return render(request, "judges/prompt.html", context, status=409 if request.method == "POST" else 200)


def _edit(request: HttpRequest, access: Access, prompt: Prompt) -> HttpResponse:
    """The form; it is saved, or with `preview` only set about the story that is chosen in it."""
    values = request.POST if request.method == "POST" else None
    form, choice = PromptForm(values, instance=prompt), PreviewForm(values, access=access)
    wants_preview = values is not None and "preview" in values
    status = 200
    if values is not None and not wants_preview:
        if form.is_valid():
            form.save()
            messages.success(request, _("%(prompt)s is saved.") % {"prompt": prompt})
            return redirect("judges:prompts", slug=access.study.slug)
        status = 400
    system, template = (form[name].value() or "" for name in ("system", "template"))
    context = {
        "study": access.study,
        "access": access,
        "form": form,
        "choice": choice,
        "prompt": prompt if prompt.pk else None,
        "preview": _preview(access, system, template, choice),
        "shows_errors": not wants_preview,
    }
    is_part = wants_preview and request.htmx  # type: ignore[attr-defined]
    return render(
        request, "judges/prompt_form.html#preview" if is_part else "judges/prompt_form.html", context, status=status
    )


def _preview(access: Access, system: str, template: str, choice: PreviewForm) -> Preview | None:
    """What would be sent about the story that is chosen, or the first; None where there is nothing to try it on."""
    keys = [
        choice.cleaned_data[name] if choice.is_bound and choice.is_valid() else next(_keys(choice, name), "")
        for name in ("story", "item")
    ]
    story = access.study.stories.filter(pk=keys[0]).first() if keys[0] else None
    item = Item.objects.filter(pk=keys[1]).first() if keys[1] else None
    if story is None or item is None or not template.strip():
        return None
    try:
        rendered = _render(system, template, item, [StoryText("A", story.text)])
    except InvalidPrompt as error:
        return Preview(str(error))
    return Preview("", tuple((message["role"], message["content"]) for message in prompts.join(rendered)))


def _render(system: str, template: str, item: Item, stories: list[StoryText]) -> list[prompts.Message]:
    """The messages about the item, or about all of its instrument, as the template asks. Raises InvalidPrompt."""
    shape, mark = prompts.shape_of(template), prompts.new_mark()
    examples = [Example(_("what an expert answered"), text=_("Another story."))] if shape.takes_examples else []
    context = PromptContext(stories, mark, examples=examples)
    if shape.asks == "item":
        return prompts.render(system, template, context, item=item)
    items = list(Item.objects.filter(instrument=item.instrument_id).order_by("position"))
    return prompts.render_all(system, template, context, items=items)


def _keys(choice: PreviewForm, name: str) -> Any:
    choices: Iterable[tuple[str, str]] = choice.fields[name].choices  # type: ignore[attr-defined]
    return iter([key for key, _label in choices])
