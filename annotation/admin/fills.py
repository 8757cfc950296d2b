"""What became of the clozes that were filled: an editor reads, shortlists with a reason, and derives a study."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import linebreaksbr
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, override

from annotation.admin.work import ReadOnlyAdmin
from annotation.models import Fill
from annotation.responses import derivation, fills
from studies.cloze import text
from studies.documents.names import first_free
from studies.models import Study

OPEN = gettext_lazy("[open]")


class FillForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        widgets = {"reason": forms.Textarea(attrs={"rows": 4}), "edited_text": forms.Textarea(attrs={"rows": 30})}

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        is_shortlisted = cleaned.get("state", self.instance.state) == Fill.State.SHORTLISTED
        if is_shortlisted and not cleaned.get("reason", "").strip():
            self.add_error("reason", _("Say why it is shortlisted; the reason is kept with it."))
        if not is_shortlisted and cleaned.get("reason", "").strip():
            message = _("A reason belongs to a text that is shortlisted; shortlist it, or leave this empty.")
            self.add_error("reason", message)
        return cleaned


@admin.register(Fill)
class FillAdmin(ReadOnlyAdmin):
    form = FillForm
    list_display = ("code", "study", "rater", "kind", "state", "stopped_at", "shortlisted_by", "story")
    list_select_related = ("assignment__study", "assignment__rater", "story")
    list_filter = ("assignment__study", "state", "assignment__rater__kind")
    search_fields = ("assignment__code", "assignment__rater__code")
    actions = ("derive", "derive_with_control")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.has_perm("annotation.change_fill"))

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        if obj is None or obj.state == Fill.State.DROPPED_OUT:
            return ("assignment", "state", "stopped_at", "written")
        return ("assignment", "written", "state", "reason", "shortlisted_by", "edited_text", "story")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        fields = ("assignment", "written", "stopped_at", "shortlisted_by", "story")
        return (*fields, "state") if obj is None or obj.state == Fill.State.DROPPED_OUT else fields

    def formfield_for_choice_field(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "state":
            kwargs["choices"] = [(state.value, state.label) for state in derivation.COMPLETE]
        return super().formfield_for_choice_field(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: Fill, form: Any, change: bool) -> None:
        if obj.state == Fill.State.SHORTLISTED:
            obj.shortlisted_by = obj.shortlisted_by or request.user.get_username()
        else:
            obj.shortlisted_by = ""
        super().save_model(request, obj, form, change)

    def construct_change_message(self, request: HttpRequest, form: Any, formsets: Any, add: bool = False) -> Any:
        changes = []
        if "state" in form.changed_data or "reason" in form.changed_data:
            with override("en"):  # the log is one for all
                changes.append(f"{form.instance.get_state_display()}: {form.instance.reason}".rstrip(": "))
        if "edited_text" in form.changed_data:
            changes.append("edited version changed")
        return "; ".join(changes) or "nothing changed"

    @admin.display(description=gettext_lazy("code"), ordering="assignment__code")
    def code(self, fill: Fill) -> str:
        return fill.assignment.code

    @admin.display(description=gettext_lazy("study"), ordering="assignment__study__slug")
    def study(self, fill: Fill) -> str:
        return fill.assignment.study.slug

    @admin.display(description=gettext_lazy("rater"), ordering="assignment__rater__code")
    def rater(self, fill: Fill) -> str:
        return fill.assignment.rater.code

    @admin.display(description=gettext_lazy("kind"), ordering="assignment__rater__kind")
    def kind(self, fill: Fill) -> str:
        return str(fill.assignment.rater.get_kind_display())

    @admin.display(description=gettext_lazy("as it was written"))
    def written(self, fill: Fill) -> str:
        cloze = fills.cloze_of(fill.assignment)
        if cloze is None:
            return ""
        texts = fills.text_by_blank(cloze.parsed, fills.answers_of(fill.assignment, cloze))
        text_by_blank = {blank.number: texts.get(blank.number, str(OPEN)) for blank in cloze.parsed.blanks}
        return format_html(
            '<span lang="{}">{}</span>',
            cloze.parsed.language,
            linebreaksbr(text.fill_blanks(cloze.parsed, text_by_blank)),
        )

    @admin.action(description=gettext_lazy("Derive a study in which raters judge these texts"), permissions=["change"])
    def derive(self, request: HttpRequest, queryset: QuerySet[Fill]) -> None:
        self._derive(request, queryset, has_coarse=False)

    @admin.action(
        description=gettext_lazy("Derive the same, with every constraint asked once more in three steps"),
        permissions=["change"],
    )
    def derive_with_control(self, request: HttpRequest, queryset: QuerySet[Fill]) -> None:
        self._derive(request, queryset, has_coarse=True)

    def _derive(self, request: HttpRequest, queryset: QuerySet[Fill], *, has_coarse: bool) -> None:
        fills_to_judge = list(queryset.select_related("assignment__study", "assignment__rater", "story__study"))
        source = fills_to_judge[0].assignment.study
        try:
            slug = _free_slug(f"{source.slug}-judged")
            study = derivation.derive(source, slug, fills_to_judge, has_coarse=has_coarse)
        except derivation.NotDerivable as error:
            self.message_user(request, _("Nothing was made: %(why)s.") % {"why": error}, messages.ERROR)
            return
        for fill in fills_to_judge:
            self.log_change(request, fill, f"became a story of {study.slug}")
        message = ngettext(
            "%(study)s is there as a draft with %(n)d story. Add consent and briefing, then plan it.",
            "%(study)s is there as a draft with %(n)d stories. Add consent and briefing, then plan it.",
            len(fills_to_judge),
        )
        self.message_user(request, message % {"study": study.slug, "n": len(fills_to_judge)}, messages.SUCCESS)


def _free_slug(slug: str) -> str:
    """The slug, or with a number at its end the first that no study has."""
    return first_free(slug, set(Study.objects.values_list("slug", flat=True)), longest=80)
