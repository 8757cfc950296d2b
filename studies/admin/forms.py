"""What forms of the admin share: texts as files bring them, rows that can be put in another order, names filled in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.forms.models import BaseInlineFormSet

from studies.documents import reader
from studies.documents.errors import InvalidValue

# Above any position that a person would give: rows wait there while they change places.
ASIDE = 10_000


class TextField(forms.CharField):
    """A text as a study file would bring it, so that the same words have the same hash whichever way they came."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options | {"strip": False})

    def to_python(self, value: Any) -> str:
        try:
            return str(reader.text(super().to_python(value)))
        except InvalidValue as error:
            raise ValidationError(str(error)) from None


AS_IN_FILES: Mapping[type[models.Field[Any, Any]], Mapping[str, Any]] = {models.TextField: {"form_class": TextField}}


class OrderedFormSet(BaseInlineFormSet):  # type: ignore[type-arg]
    """Rows with positions, which can change places: none is written while another still stands where it goes."""

    @transaction.atomic
    def save(self, commit: bool = True) -> Any:
        # A form that its user may not change says that nothing has changed, whatever was posted.
        changed = [form for form in self.initial_forms if form.has_changed() and "position" in form.changed_data]
        moved = [form.instance.pk for form in changed]
        if moved and commit:
            self.get_queryset().filter(pk__in=moved).update(position=models.F("position") + ASIDE)
        return super().save(commit)
