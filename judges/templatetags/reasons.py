"""Why a call has no answer, as pages say it."""

from django import template

from judges import reasons

register = template.Library()


@register.filter
def translated(reason: str) -> str:
    """The reason, kept in English, in the reader's language."""
    return reasons.translate(reason)
