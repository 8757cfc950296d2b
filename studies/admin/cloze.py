"""Writing a cloze in the admin: its document in one field, and beside it the cascade as it would be."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import render
from django.urls import URLPattern, path, reverse_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studies import loader
from studies.admin.read_only import FinalAdmin
from studies.cloze import graph
from studies.documents.cloze import parse_cloze
from studies.documents.errors import DocumentError
from studies.models import Cloze
from studies.protocol import triggers

PICTURE = "admin:studies_cloze_picture"
# Posts what is written so far; the response replaces the picture, or says what is wrong and leaves it.
PREVIEW_ATTRS = {
    "rows": 40,
    "cols": 110,
    "spellcheck": "true",
    "hx-post": reverse_lazy(PICTURE),
    "hx-trigger": "input changed delay:600ms",
    "hx-params": "csrfmiddlewaretoken,document",
    "hx-swap": "none",
    "hx-sync": "this:replace",
}


class ClozeForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        widgets = {"document": forms.Textarea(attrs=PREVIEW_ATTRS)}

    def clean_document(self) -> str:
        text = str(self.cleaned_data["document"]).replace("\r\n", "\n")
        try:
            document = parse_cloze(text, "document")
        except DocumentError as error:
            raise forms.ValidationError(f"{error.location}: {error.reason}") from None
        others = Cloze.objects.exclude(pk=self.instance.pk)
        if others.filter(slug=document.slug, version=document.version).exists():
            message = _("version: there is a cloze %(slug)s %(version)s already; raise the version")
            raise forms.ValidationError(message % {"slug": document.slug, "version": document.version})
        return text


class ClozeAdmin(FinalAdmin):
    form = ClozeForm
    change_form_template = "admin/studies/cloze/change_form.html"
    list_display = ("slug", "version", "title", "is_published")
    search_fields = ("slug", "title")
    published_fields = ("filling", "judging", "document")
    list_select_related = ("filling",)
    actions = ("publish",)

    def explain_final(self, obj: Cloze) -> str:
        return _(triggers.OF_CLOZE) if obj.is_published else ""

    def get_fields(self, request: HttpRequest, obj: Cloze | None = None) -> tuple[str, ...]:
        return self.published_fields if obj and obj.is_published else ("document",)

    @admin.display(boolean=True, description=gettext_lazy("published"))
    def is_published(self, cloze: Cloze) -> bool:
        return cloze.is_published

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.picture_view)
        return [path("picture/", view, name="studies_cloze_picture"), *super().get_urls()]

    def picture_view(self, request: HttpRequest) -> HttpResponse:
        """The cascade of the document that was posted, or what keeps it from being read. Nothing is stored."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not (self.has_add_permission(request) or self.has_change_permission(request)):
            raise PermissionDenied
        return render(request, "admin/studies/cloze/picture.html", picture_context(request.POST.get("document", "")))

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        cloze = Cloze.objects.filter(pk=object_id).first() if object_id and object_id.isdigit() else None
        text = request.POST.get("document", cloze.document if cloze else "")
        context = picture_context(text) if text else {}
        return super().changeform_view(request, object_id, form_url, {**(extra_context or {}), **context})

    @admin.action(description=gettext_lazy("Publish: from then on it never changes"), permissions=["change"])
    def publish(self, request: HttpRequest, queryset: QuerySet[Cloze]) -> None:
        for cloze in queryset.filter(filling=None):
            try:
                loader.publish_cloze(cloze)
            except (DocumentError, loader.VersionConflict) as error:
                self.message_user(request, _("Not published. %(why)s") % {"why": error}, messages.ERROR)
                continue
            message = _("%(cloze)s is published: %(filling)s fills it, %(judging)s judges it.")
            values = {"cloze": cloze, "filling": cloze.filling, "judging": cloze.judging}
            self.log_change(request, cloze, "published")
            self.message_user(request, message % values, messages.SUCCESS)


def picture_context(text: str) -> dict[str, Any]:
    """What a page shows of a document: the picture, how much is in it, or what is wrong with it."""
    try:
        document = parse_cloze(text, "document")
    except DocumentError as error:
        return {"problem": f"{error.location}: {error.reason}"}
    n_constraints = sum(len(section.constraints) for section in document.sections)
    counts = _("%(sections)d sections, %(blanks)d blanks, %(constraints)d constraints, %(edges)d edges") % {
        "sections": len(document.sections),
        "blanks": len(document.blanks),
        "constraints": n_constraints,
        "edges": len(document.edges),
    }
    return {"picture": graph.draw_svg(document), "counts": counts}
