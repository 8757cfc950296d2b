"""How words that somebody wrote are set: with their own line breaks, or running on."""

from django import template

from studies.typography.paragraphs import keeps_lines, normalise_line_ends

register = template.Library()


@register.filter
def line_class(words: str | None) -> str:
    """“verse” if the line breaks of the words are their author's: they are kept then, and lines that turn over hang.
    Empty for prose, and where there are no words."""
    return "verse" if words and keeps_lines(normalise_line_ends(words)) else ""
