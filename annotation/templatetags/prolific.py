"""What pages say of Prolific's time."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import template
from django.utils import timezone

register = template.Library()


@register.inclusion_tag("annotation/prolific_time.html", takes_context=True)
def prolific_time(context: template.Context) -> dict[str, Any]:
    """That Prolific's time is nearly over, or over: said by the server, or once it is so by a script. No query."""
    session = getattr(context.get("request"), "session", {}).get("prolific")
    if not session or not session["times"] or context.get("return_code"):
        return {}
    warns_at, until = (datetime.fromisoformat(time) for time in session["times"])
    now = timezone.now()
    return {"warns_at": warns_at, "until": until, "is_near": warns_at <= now < until, "is_over": until <= now}
