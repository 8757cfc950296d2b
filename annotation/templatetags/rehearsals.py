"""The bar above every page of a rehearsal."""

from __future__ import annotations

from typing import Any

from django import template

from annotation.progress.outlines import load_outline
from studies import protocol

register = template.Library()


@register.inclusion_tag("annotation/rehearsal_bar.html", takes_context=True)
def rehearsal_bar(context: template.Context) -> dict[str, Any]:
    """That nothing here counts, the steps to go to, and the way back. One query, in rehearsals alone."""
    study, request = context["study"], context["request"]
    steps = load_outline(protocol.current(study)).protocol.steps
    slug = request.session.get("rehearsal", "")
    return {"steps": steps, "slug": slug, "csrf_token": context.get("csrf_token"), "study": study}
