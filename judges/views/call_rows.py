"""Calls as rows of a table: what each asked, and what has become of it."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Count, QuerySet

from judges.models import Call, Run
from judges.views import states
from judges.views.states import StateWords

N_LATEST = 5


def with_what_they_asked(calls: QuerySet[Call]) -> QuerySet[Call]:
    """The calls with all that a row of the table names."""
    rows = calls.select_related("story", "item", "step", "assignment__group", "draft")
    return rows.annotate(n_tries=Count("attempts"))


def with_words(calls: Iterable[Call]) -> list[tuple[Call, StateWords]]:
    return [(call, states.WORDS[call.state]) for call in calls]


def load_latest(run: Run) -> list[tuple[Call, StateWords]]:
    """The calls that were answered last, the latest first.

    Database: two queries, since in one the tries of all calls were counted before the last are chosen.
    """
    calls = run.calls.filter(answered_at__isnull=False).order_by("-answered_at", "-pk")
    keys = list(calls.values_list("pk", flat=True)[:N_LATEST])
    return with_words(with_what_they_asked(Call.objects.filter(pk__in=keys)).order_by("-answered_at", "-pk"))
