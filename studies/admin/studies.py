"""Studies in the admin: instruments, protocols, groups and stories. Where a story comes from has a page of its own.

The study itself is in `annotation.admin`, since its page shows seats.
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import models
from django.db.models import Count, Model, QuerySet
from django.db.models.fields import BLANK_CHOICE_DASH
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext_lazy, override

from studies import construction, formatting, lifecycle, loader, protocol
from studies.admin.cloze import ClozeAdmin
from studies.admin.forms import AS_IN_FILES, OrderedFormSet
from studies.admin.read_only import FinalAdmin, FinalInline
from studies.documents.errors import DocumentError
from studies.items import all_types
from studies.models import Cloze, Instrument, Item, ProtocolVersion, Provenance, Source, Step, Story, StoryGroup, Study
from studies.protocol import triggers

admin.site.site_header = "Quire"
admin.site.site_title = "Quire"
admin.site.index_title = gettext_lazy("Studies, and what belongs to them")
admin.site.register(Cloze, ClozeAdmin)


def may_edit(study: Study) -> bool:
    """Whether texts, groups and steps of the study may still be changed. One query."""
    return lifecycle.may_edit(study, is_frozen=protocol.is_frozen(study))


class EditableUntilFrozen(FinalAdmin):
    """What belongs to a study and can be edited until its protocol is frozen; `sentence` says that it is."""

    sentence: str

    def explain_final(self, obj: Any) -> str:
        return "" if may_edit(obj.study) else _(self.sentence)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "study":
            kwargs["queryset"] = Study.objects.exclude(versions__frozen_at__isnull=False)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if not change:
            obj.pk = construction.draw_key()
        super().save_model(request, obj, form, change)


@admin.register(Source)
class SourceAdmin(FinalAdmin):
    list_display = ("name", "kind")
    fields = ("name", "kind")

    def explain_final(self, obj: Source) -> str:
        frozen = {"story__study__versions__frozen_at__isnull": False, "story__study__rehearsal_of": None}
        is_of_frozen = obj.provenances.filter(**frozen).exists()
        return _(triggers.OF_SOURCE) if is_of_frozen else ""


class ProvenanceForm(forms.ModelForm):  # type: ignore[type-arg]
    def clean_story(self) -> Story:
        story: Story = self.cleaned_data["story"]
        if not may_edit(story.study):
            raise forms.ValidationError(_(triggers.OF_PROVENANCE))
        return story

    def clean_may_send_out(self) -> bool:
        """Leave is taken away here; it is given where a reason is asked for and kept."""
        may_send_out = bool(self.cleaned_data["may_send_out"])
        if may_send_out and not (self.instance.pk and self.initial.get("may_send_out")):
            sentence = _(
                "Nothing was saved. Texts are released under Runs, “Texts to be sent”, which asks for a reason."
            )
            raise forms.ValidationError(sentence)
        return may_send_out


@admin.register(Provenance)
class ProvenanceAdmin(FinalAdmin):
    form = ProvenanceForm
    # What reports count by. Rights can be corrected: they change no result.
    final_fields = ("story", "source", "factors")
    list_display = ("story", "study", "source", "title", "licence", "may_redistribute", "may_send_out")
    list_select_related = ("story__study", "source")
    list_filter = ("story__study", "source__kind")
    search_fields = ("story__code", "source__name", "title")
    fields = (
        "story",
        "source",
        "title",
        "url",
        "licence",
        "may_redistribute",
        "may_send_out",
        "factors",
        "raw_text",
        "raw_sha256",
    )
    readonly_fields = ("raw_text", "raw_sha256")
    autocomplete_fields = ("story",)
    formfield_overrides = {models.URLField: {"assume_scheme": "https"}}

    def explain_final(self, obj: Provenance) -> str:
        return "" if may_edit(obj.story.study) else _(triggers.OF_PROVENANCE)

    @admin.display(description=gettext_lazy("study"), ordering="story__study__slug")
    def study(self, provenance: Provenance) -> str:
        return provenance.story.study.slug

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.formatting_view)
        return [path("formatting/<int:pk>/", view, name="studies_provenance_formatting"), *super().get_urls()]

    def formatting_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Show which formatting differs by source (GET), and make it alike (POST), until it is frozen."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        study = get_object_or_404(Study, pk=pk)
        may_change = self.has_change_permission(request) and request.user.has_perm("studies.change_story")
        if request.method == "POST":
            if not may_change:
                raise PermissionDenied
            self._normalise(request, study, request.POST.getlist("kinds"))
            return HttpResponseRedirect(request.path)
        context = {
            **self.admin_site.each_context(request),
            "opts": Provenance._meta,
            "title": _("Formatting by source: %(study)s") % {"study": study},
            "study": study,
            "tables": formatting.report(study),
            "telling_codes": formatting.find_telling_codes(study),
            "effects": formatting.list_effects(study),
            "obstacle": formatting.find_obstacle(study),
            "may_change": may_change,
        }
        return TemplateResponse(request, "admin/studies/provenance/formatting.html", context)

    def _normalise(self, request: HttpRequest, study: Study, kinds: list[str]) -> None:
        try:
            n_changed = formatting.normalise(study, kinds)
        except formatting.CannotNormalise as error:
            self.message_user(request, _("Nothing was changed: %(why)s.") % {"why": error}, messages.ERROR)
            return
        message = ngettext_lazy(
            "%(n)d story changed (%(kinds)s); the texts as they came are kept.",
            "%(n)d stories changed (%(kinds)s); the texts as they came are kept.",
            "n",
        )
        values = {"n": n_changed, "kinds": ", ".join(kinds) or gettext_lazy("nothing chosen")}
        messages.success(request, message % values)
        with override("en"):  # the log is one for all
            self.log_change(request, study, message % values)


@admin.register(Story)
class StoryAdmin(EditableUntilFrozen):
    sentence = triggers.OF_STORY
    formfield_overrides = AS_IN_FILES
    # Nothing of a story's provenance: people who work with codes and texts stay blind.
    list_display = ("code", "study", "n_words", "is_withheld")
    list_select_related = ("study",)
    list_filter = ("study",)
    search_fields = ("code",)
    fields = ("study", "code", "language", "text", "is_withheld", "n_words", "sha256")
    readonly_fields = ("n_words", "sha256")

    def save_model(self, request: HttpRequest, obj: Story, form: Any, change: bool) -> None:
        if change and "text" in form.changed_data:
            formatting.keep_raw(obj)
        super().save_model(request, obj, form, change)


class StoryGroupForm(forms.ModelForm):  # type: ignore[type-arg]
    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        study = cleaned.get("study", self.instance.study if self.instance.pk else None)
        other_codes = [
            story.code for story in cleaned.get("stories", ()) if story.study_id != getattr(study, "pk", None)
        ]
        if other_codes:
            self.add_error(
                "stories",
                _("Of another study: %(codes)s. Choose stories of %(study)s.")
                % {"codes": ", ".join(other_codes), "study": study},
            )
        return cleaned


@admin.register(StoryGroup)
class StoryGroupAdmin(EditableUntilFrozen):
    sentence = triggers.OF_GROUP
    form = StoryGroupForm
    formfield_overrides = AS_IN_FILES
    list_display = ("code", "study", "n_stories")
    list_select_related = ("study",)
    list_filter = ("study",)
    search_fields = ("code",)
    fields = ("study", "code", "premise", "stories")
    autocomplete_fields = ("stories",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[StoryGroup]:
        rows: QuerySet[StoryGroup] = super().get_queryset(request).annotate(n=Count("stories"))
        return rows

    @admin.display(description=gettext_lazy("stories"), ordering="n")
    def n_stories(self, group: Any) -> int:
        return int(group.n)


def is_published(obj: Any) -> bool:
    """Whether this is a published instrument."""
    return isinstance(obj, Instrument) and obj.status == Instrument.Status.PUBLISHED


class ItemInline(FinalInline):
    model = Item
    formset = OrderedFormSet
    formfield_overrides = AS_IN_FILES
    extra = 0
    ordering = ("position",)
    classes = ("collapse",)
    fields = (
        ("position", "key", "type"),
        ("title", "dimension"),
        "question",
        "background",
        "help",
        "instruction",
        ("options", "settings"),
        ("rationale", "rationale_least", "rationale_unit"),
        ("rationale_label", "suggested"),
        "is_skippable",
        ("quoted", "adapted"),
    )

    def formfield_for_dbfield(self, db_field: models.Field[Any, Any], request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "type":
            kwargs["widget"] = forms.Select(choices=[*BLANK_CHOICE_DASH, *((name, name) for name in all_types())])
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def is_final(self, obj: Any) -> bool:
        return is_published(obj)


@admin.register(Instrument)
class InstrumentAdmin(FinalAdmin):
    formfield_overrides = AS_IN_FILES
    list_display = ("slug", "version", "title", "language", "status", "n_items")
    list_filter = ("status", "language")
    search_fields = ("slug", "title")
    fields = ("slug", "version", "title", "language", "citation", "note", "status", "fingerprint")
    readonly_fields = ("status", "fingerprint")
    final_fields = ("slug", "version", "title", "language", "citation")
    inlines = (ItemInline,)
    actions = ("publish",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Instrument]:
        rows: QuerySet[Instrument] = super().get_queryset(request).annotate(n=Count("items"))
        return rows

    def explain_final(self, obj: Instrument) -> str:
        return _(triggers.OF_INSTRUMENT) if is_published(obj) else ""

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **options: Any) -> HttpResponse:
        instrument = context["original"]
        context["advice"] = loader.advise(instrument) if instrument and not is_published(instrument) else ""
        return super().render_change_form(request, context, *args, **options)

    @admin.display(description=gettext_lazy("items"), ordering="n")
    def n_items(self, instrument: Any) -> int:
        return int(instrument.n)

    @admin.action(description=gettext_lazy("Publish: from then on it never changes"), permissions=["change"])
    def publish(self, request: HttpRequest, queryset: QuerySet[Instrument]) -> None:
        for instrument in queryset.filter(status=Instrument.Status.DRAFT):
            try:
                loader.publish(instrument)
                self.message_user(request, _("%(what)s is published.") % {"what": instrument}, messages.SUCCESS)
                if advice := loader.advise(instrument):
                    self.message_user(request, advice, messages.WARNING)
            except DocumentError as error:
                self.message_user(request, _("Not published. %(why)s") % {"why": error}, messages.ERROR)


class StepInline(FinalInline):
    model = Step
    formset = OrderedFormSet
    formfield_overrides = AS_IN_FILES
    extra = 0
    ordering = ("position",)
    fields = (
        ("position", "key", "kind"),
        "title",
        "text",
        ("instrument", "scope"),
        ("locks", "background", "layout", "revises"),
        "options",
        "story",
        "samples",
    )

    def is_final(self, obj: Any) -> bool:
        return bool(obj and obj.frozen_at)


@admin.register(ProtocolVersion)
class ProtocolVersionAdmin(FinalAdmin):
    list_display = ("__str__", "frozen_at", "frozen_by", "reason")
    list_select_related = ("study",)
    list_filter = ("study",)
    fields = ("study", "number", "reason", "frozen_at", "frozen_by", "sha256", "document")
    readonly_fields = ("study", "number", "reason", "frozen_at", "frozen_by", "sha256", "document")
    inlines = (StepInline,)

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> list[Any]:
        """The document is for those who may know the sources: an analysis plan in it names some."""
        fields = super().get_fields(request, obj)
        return [f for f in fields if f != "document" or request.user.has_perm("studies.view_provenance")]

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False  # a study comes with its first version

    def explain_final(self, obj: ProtocolVersion) -> str:
        return _(triggers.OF_VERSION) if obj.frozen_at else ""

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False  # it goes with its study
