"""What pages call that which is read: a story, an idea, a text. Whole phrases, since languages bend words around it."""

from typing import Any

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from studies.vocabulary import TextKind

STORY, IDEA, TEXT = TextKind.STORY, TextKind.IDEA, TextKind.TEXT

PHRASES: dict[str, dict[str, Any]] = {
    "name": {STORY: _("Story"), IDEA: _("Idea"), TEXT: _("Text")},
    "title": {STORY: _("Story %(letter)s"), IDEA: _("Idea %(letter)s"), TEXT: _("Text %(letter)s")},
    "question": {
        STORY: _("Story %(letter)s, question %(number)s"),
        IDEA: _("Idea %(letter)s, question %(number)s"),
        TEXT: _("Text %(letter)s, question %(number)s"),
    },
    "next": {
        STORY: _("Next story, %(letter)s"),
        IDEA: _("Next idea, %(letter)s"),
        TEXT: _("Next text, %(letter)s"),
    },
    "together": {
        STORY: _("The %(n)s stories together"),
        IDEA: _("The %(n)s ideas together"),
        TEXT: _("The %(n)s texts together"),
    },
    "premise": {
        STORY: _("What the story was written to"),
        IDEA: _("What the idea was written to"),
        TEXT: _("What the text was written to"),
    },
    "premise_of_both": {
        STORY: _("What both stories were written to"),
        IDEA: _("What both ideas were written to"),
        TEXT: _("What both texts were written to"),
    },
    "premise_of_all": {
        STORY: _("What all %(n)s stories were written to"),
        IDEA: _("What all %(n)s ideas were written to"),
        TEXT: _("What all %(n)s texts were written to"),
    },
    "known_premise": {
        STORY: _("This is what the story was written to."),
        IDEA: _("This is what the idea was written to."),
        TEXT: _("This is what the text was written to."),
    },
    "known_premise_of_group": {
        STORY: _("This is what the stories of the group were written to."),
        IDEA: _("This is what the ideas of the group were written to."),
        TEXT: _("This is what the texts of the group were written to."),
    },
    "do_you_know": {
        STORY: _("Do you know this story?"),
        IDEA: _("Do you know this idea?"),
        TEXT: _("Do you know this text?"),
    },
    "opening": {
        STORY: _("This is how the story begins."),
        IDEA: _("This is how the idea begins."),
        TEXT: _("This is how the text begins."),
    },
    "openings": {
        STORY: _("This is how the stories of the group begin."),
        IDEA: _("This is how the ideas of the group begin."),
        TEXT: _("This is how the texts of the group begin."),
    },
    "recognise": {
        STORY: _("I recognise this story"),
        IDEA: _("I recognise this idea"),
        TEXT: _("I recognise this text"),
    },
    "first_group": {
        STORY: _("Your first group of stories"),
        IDEA: _("Your first group of ideas"),
        TEXT: _("Your first group of texts"),
    },
    "another_group": {
        STORY: _("Another group of stories?"),
        IDEA: _("Another group of ideas?"),
        TEXT: _("Another group of texts?"),
    },
    "invitation": {
        STORY: _("You are invited to read stories and to say what you think of them."),
        IDEA: _("You are invited to read ideas and to say what you think of them."),
        TEXT: _("You are invited to read texts and to say what you think of them."),
    },
    "quote": {
        STORY: _("Quote from the story"),
        IDEA: _("Quote from the idea"),
        TEXT: _("Quote from the text"),
    },
    "left": {
        STORY: ngettext_lazy("%(n)s story to finish", "%(n)s stories to finish", "n"),
        IDEA: ngettext_lazy("%(n)s idea to finish", "%(n)s ideas to finish", "n"),
        TEXT: ngettext_lazy("%(n)s text to finish", "%(n)s texts to finish", "n"),
    },
    "number_read": {STORY: _("Stories"), IDEA: _("Ideas"), TEXT: _("Texts")},
}


def say(phrase: str, kind: str, **values: Any) -> str:
    """The phrase for that kind of text, in the language of the interface."""
    return str(PHRASES[phrase][kind] % values)
