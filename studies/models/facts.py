"""The facts of a study as columns, which the study and each of its amendments have alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.db import models
from django.db.models import Q
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from studies import facts


class StudyFacts(models.Model):
    """What `studies.facts` declares: facts that code reads by name as columns, all others together in `facts`.

    Every fact is an attribute, whichever way it is kept.
    """

    organiser = models.CharField(
        _("organiser"), max_length=200, blank=True, help_text=_("Who runs the study, as raters are told.")
    )
    contact = models.EmailField(_("contact"), blank=True)
    minutes = models.PositiveSmallIntegerField(
        _("minutes"), null=True, blank=True, help_text=_("Expected minutes for one group.")
    )
    pay = models.CharField(
        _("pay"), max_length=200, blank=True, help_text=_("What a rater is paid, with the currency.")
    )
    pay_for_part = models.CharField(
        _("pay for a part"),
        max_length=200,
        blank=True,
        help_text=_("What people are paid if they stop before the end."),
    )
    notice = models.CharField(
        _("notice"), max_length=300, blank=True, help_text=_("Shown on every page of the study and its report.")
    )
    facts = models.JSONField(
        _("facts"), default=dict, blank=True, editable=False, help_text=_("Facts without a column, by key.")
    )

    class Meta:
        abstract = True

    @property
    def value_by_fact(self) -> dict[str, Any]:
        """What it says of itself, by the key of each fact; "" or None where it says nothing."""
        return {key: getattr(self, key) for key in facts.KEYS}

    @property
    def plain_facts(self) -> Iterator[tuple[str | Promise, str]]:
        """The label and the words of every fact that pages have no words of their own for, if it is said."""
        return ((fact.label, self.facts[fact.key]) for fact in facts.PLAIN_FACTS if fact.key in self.facts)

    def say(self, values: Mapping[str, Any]) -> None:
        """Set these facts and other fields, and save them alone."""
        for name, value in values.items():
            setattr(self, name, value)
        self.save(update_fields={name if name not in facts.KEYS else _column_of(name) for name in values})


def is_unsaid(key: str, path: str) -> Q:
    """The condition that a study does not say that fact. path : of lookups, to the study"""
    return Q(**{f"{path}__{key}": ""}) if key in facts.COLUMNS else ~Q(**{f"{path}__facts__has_key": key})


def _column_of(key: str) -> str:
    return key if key in facts.COLUMNS else "facts"


def _kept_together(key: str) -> property:
    """The attribute of a fact without a column."""

    def read(row: StudyFacts) -> str:
        return str(row.facts.get(key, ""))

    def write(row: StudyFacts, words: str) -> None:
        # A new table, since a copy of the row shares the old one; sorted, since SQLite's trigger compares a study with
        # its amendment by the letters of both.
        others = {name: said for name, said in row.facts.items() if name != key}
        row.facts = dict(sorted((others | ({key: words} if words else {})).items()))

    return property(read, write)


for fact in facts.PLAIN_FACTS:
    setattr(StudyFacts, fact.key, _kept_together(fact.key))
