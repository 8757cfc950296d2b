"""What raters' pages say of the time that is left: Prolific's, and that until which the study takes answers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Any

from django import template
from django.utils import timezone

from annotation.templatetags.times import describe_minutes
from studies import lifecycle
from studies.models import Study

register = template.Library()
MINUTES = (30, 10, 2)  # before the end: when it is said how much is left


@dataclass(frozen=True)
class TimeLeft:
    """That less than some time is left, said between two moments."""

    since: datetime
    until: datetime
    words: str
    is_current: bool


@register.inclusion_tag("annotation/time_limit.html", takes_context=True)
def prolific_time(context: template.Context) -> dict[str, Any]:
    """That Prolific's time is nearly over, or over: said by the server, or once it is so by a script. No query."""
    session = getattr(context.get("request"), "session", {}).get("prolific")
    if not session or not session["times"] or context.get("return_code"):
        return {}
    warns_at, until = (datetime.fromisoformat(time) for time in session["times"])
    return {"is_prolific": True, "until": until, "is_over": until <= timezone.now(), "left": _left(warns_at, until)}


@register.inclusion_tag("annotation/time_limit.html")
def time_until_closing(study: Study) -> dict[str, Any]:
    """The same of a study that takes answers until a time. No query."""
    until = study.closes_at
    if until is None or not lifecycle.is_open_for_answers(study, at=timezone.now()):
        return {}
    return {"until": until, "left": _left(until - timedelta(minutes=max(MINUTES)), until)}


def _left(warns_at: datetime, until: datetime) -> list[TimeLeft]:
    starts = sorted({max(warns_at, until - timedelta(minutes=minutes)) for minutes in MINUTES})
    now = timezone.now()
    return [
        TimeLeft(start, end, describe_minutes(ceil((until - start).total_seconds() / 60)), start <= now < end)
        for start, end in zip(starts, [*starts[1:], until], strict=True)
    ]
