"""How words that somebody wrote are set: with their own line breaks, or running on."""

from django import template

from studies.typography.paragraphs import as_set, keeps_lines, split_blocks

register = template.Library()
register.filter("as_set", as_set)


@register.filter
def line_class(words: str | None) -> str:
    """“verse” if the line breaks of a paragraph of the words are their author's: they are kept then, and lines that
    turn over hang. Empty for prose, and where there are no words. Blank lines part the paragraphs."""
    return "verse" if words and any(map(keeps_lines, split_blocks(words, by_blank_lines=True))) else ""


@register.filter
def reasons_class(words: str | None) -> str:
    """“verse” if a paragraph of what a rater wrote is verse or a list, the paragraphs being told apart as a story's
    are: its lines that turn over hang. Several paragraphs of prose do not."""
    return "verse" if words and any(map(keeps_lines, split_blocks(words))) else ""
