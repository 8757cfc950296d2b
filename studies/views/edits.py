"""Two people at one form: the second to save is shown what the first saved, and nothing is overwritten unseen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext as _

from studies import hashing

SEEN = "seen"


@dataclass(frozen=True)
class ForeignChange:
    """A field that somebody else saved after the form was opened. saved, posted : as the form shows values"""

    label: str
    saved: str
    posted: str


class EditForm(forms.Form):
    """A form of saved values that knows which of them its reader saw.

    Give `initial` as it is saved now; `studies/changes_by_others.html` stands inside the form and carries `seen_value`,
    the hash of what was saved when the page was made. If it is another one now, the form is invalid and `changes` says
    what differs; its page, rendered again, carries the new hash, so that saving once more is done knowingly.

    own : fields that are saved nowhere, such as a reason, so that nobody else can have changed them
    """

    own: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.seen_value = hash_values(self.initial)
        self.changes: list[ForeignChange] = []

    def clean(self) -> None:
        super().clean()
        if self.data.get(SEEN) == self.seen_value:
            return
        self.changes = [
            ForeignChange(str(field.label), saved, posted)
            for field in self.visible_fields()
            if field.name not in self.own and (saved := _as_text(field.initial)) != (posted := _as_text(field.value()))
        ]
        if self.changes:
            self.add_error(None, _("Someone else saved this page after you opened it. Your changes are not saved yet."))


def hash_values(values: Mapping[str, Any]) -> str:
    """A hash of the values of a form, by field; texts alone, so that a number and its digits are equal."""
    return hashing.sha256(hashing.canonical_json({name: _as_text(value) for name, value in values.items()}))


def _as_text(value: Any) -> str:
    return "" if value is None else str(value)
