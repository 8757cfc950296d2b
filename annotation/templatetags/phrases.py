"""Phrases that name what is read, by what the study calls it."""

from typing import Any

from django import template

from annotation.progress import phrases

register = template.Library()


@register.simple_tag(takes_context=True)
def say(context: template.Context, phrase: str, **values: Any) -> str:
    """The phrase for the kind of text of the page's study."""
    return phrases.say(phrase, context["study"].text_kind, **values)
