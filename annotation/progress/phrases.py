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
    "if_not_sure": {
        STORY: _("If you are not sure, go on; you can say so under the story at any time."),
        IDEA: _("If you are not sure, go on; you can say so under the idea at any time."),
        TEXT: _("If you are not sure, go on; you can say so under the text at any time."),
    },
    "task": {
        STORY: _("You read the stories of a group and answer what is asked about them."),
        IDEA: _("You read the ideas of a group and answer what is asked about them."),
        TEXT: _("You read the texts of a group and answer what is asked about them."),
    },
    "takes": {
        STORY: ngettext_lazy(
            "about %(n)s minute for one group of stories", "about %(n)s minutes for one group of stories", "n"
        ),
        IDEA: ngettext_lazy(
            "about %(n)s minute for one group of ideas", "about %(n)s minutes for one group of ideas", "n"
        ),
        TEXT: ngettext_lazy(
            "about %(n)s minute for one group of texts", "about %(n)s minutes for one group of texts", "n"
        ),
    },
    "recorded_time": {
        STORY: _(
            "Your active time with each story and part: only while the page is visible and you did something within "
            "the last minute."
        ),
        IDEA: _(
            "Your active time with each idea and part: only while the page is visible and you did something within "
            "the last minute."
        ),
        TEXT: _(
            "Your active time with each text and part: only while the page is visible and you did something within "
            "the last minute."
        ),
    },
    "to_practise": {
        STORY: _("A story to practise on"),
        IDEA: _("An idea to practise on"),
        TEXT: _("A text to practise on"),
    },
    "of_group": {
        STORY: _("Stories of this group"),
        IDEA: _("Ideas of this group"),
        TEXT: _("Texts of this group"),
    },
    "all_questions": {
        STORY: _("All questions about this story"),
        IDEA: _("All questions about this idea"),
        TEXT: _("All questions about this text"),
    },
    "tabs": {STORY: _("Story or questions"), IDEA: _("Idea or questions"), TEXT: _("Text or questions")},
    "panes": {STORY: _("story, questions"), IDEA: _("idea, questions"), TEXT: _("text, questions")},
    "keys_panes": {
        STORY: _("To the story, to the questions"),
        IDEA: _("To the idea, to the questions"),
        TEXT: _("To the text, to the questions"),
    },
    "key_quotes": {
        STORY: _("Quote what is selected in the story; with nothing selected, choose a passage by the arrow keys"),
        IDEA: _("Quote what is selected in the idea; with nothing selected, choose a passage by the arrow keys"),
        TEXT: _("Quote what is selected in the text; with nothing selected, choose a passage by the arrow keys"),
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
