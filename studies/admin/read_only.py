"""Pages of what may be final: they say so, and refuse a change with the same sentence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.http import HttpRequest

from studies.publication import AlreadyFrozen


class FinalInline(admin.StackedInline):  # type: ignore[type-arg]
    """Rows that can be edited until what they belong to is final. A subclass says when, in `is_final`."""

    def is_final(self, obj: Any) -> bool:
        """Whether the rows of this object stay as they are; of None, which is still to be made, they never do."""
        raise NotImplementedError

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_add_permission(request, obj) and not self.is_final(obj)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_change_permission(request, obj) and not self.is_final(obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_delete_permission(request, obj) and not self.is_final(obj)


class FinalAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """What can be edited until it is frozen or published; from then on only the fields that are not final.

    A subclass says when, in `explain_final`, and which fields, in `final_fields`.
    """

    # "__all__": none can be edited any more.
    final_fields: tuple[str, ...] | str = "__all__"

    def explain_final(self, obj: Any) -> str:
        """Why it stays as it is; "" if it can be edited."""
        raise NotImplementedError

    def is_final(self, obj: Any) -> bool:
        return obj is not None and bool(self.explain_final(obj))

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        is_closed = self.final_fields == "__all__" and self.is_final(obj)
        return super().has_change_permission(request, obj) and not is_closed

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_delete_permission(request, obj) and not self.is_final(obj)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        readonly = tuple(super().get_readonly_fields(request, obj))
        is_partly = self.final_fields != "__all__" and self.is_final(obj)
        return (*readonly, *(name for name in self.final_fields if name not in readonly)) if is_partly else readonly

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        """As Django's. Raises AlreadyFrozen if something final was posted, as by a form from before it was."""
        obj = self.get_object(request, unquote(object_id)) if object_id else None
        sentence = self.explain_final(obj) if obj else ""
        is_touched = self.final_fields == "__all__" or not set(self.final_fields).isdisjoint(request.POST)
        if sentence and is_touched and request.method == "POST" and super().has_change_permission(request, obj):
            raise AlreadyFrozen(sentence)
        context = {"final_sentence": sentence, **(extra_context or {})}
        return super().changeform_view(request, object_id, form_url, context)

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None) -> Any:
        self._refuse_deletion(request, [self.get_object(request, unquote(object_id))])
        return super().delete_view(request, object_id, extra_context)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        self._refuse_deletion(request, objs)
        return super().get_deleted_objects(objs, request)

    def _refuse_deletion(self, request: HttpRequest, objs: Iterable[Any]) -> None:
        """Raise AlreadyFrozen if one of them is final and the account could otherwise delete it."""
        if super().has_delete_permission(request):
            for obj in filter(None, objs):
                if sentence := self.explain_final(obj):
                    raise AlreadyFrozen(sentence)
