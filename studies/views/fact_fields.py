"""The facts of a study as fields of forms."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from studies.facts import ASKED_WHEN_NEW, FACTS, MOST_MINUTES, FactKind, StudyFact


def make_fact_fields() -> dict[str, forms.Field]:
    """A field for every fact, by its key."""
    return {fact.key: _make_field(fact, fact.hint) for fact in FACTS}


def make_fields_of_new_study() -> dict[str, forms.Field]:
    """The same for the facts that a new study is asked for at once."""
    return {fact.key: _make_field(fact, fact.hint_when_new) for fact in ASKED_WHEN_NEW}


def _make_field(fact: StudyFact, hint: object) -> forms.Field:
    common: dict[str, Any] = {"label": fact.label, "help_text": hint, "required": False}
    if fact.kind is FactKind.MINUTES:
        message = _("Enter whole minutes, from 1 to 1440.")
        messages = dict.fromkeys(("invalid", "min_value", "max_value"), message)
        return forms.IntegerField(min_value=1, max_value=MOST_MINUTES, error_messages=messages, **common)
    if fact.kind is FactKind.ADDRESS:
        return forms.EmailField(**common)
    return forms.CharField(max_length=fact.longest, **common)
