"""What a recipe is: from a brief and all replies so far to the next thing that is asked, or to the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from django.utils.functional import Promise
from django.utils.translation import gettext_noop

# More rounds of one text than this are a typing mistake.
MOST_CALLS_A_TEXT = 200
# In rehearsals a word is this: longer than most, so that requests are taken to be too long rather than too short.
_WORD = "wordwordwordword"

OUTSIDE = gettext_noop("none of the replies (%(n)s) had %(least)s to %(most)s words")

WorksOn = Literal["premise", "story", "item", "disagreements"]
Makes = Literal["story", "idea", "measure", "prompt"]


@dataclass(frozen=True)
class Brief:
    """What one text is to be made of.

    premise : what it is to be about; "" where it is made out of a story or explains a question
    original : the story of which it is made
    question : the question that it explains
    reference : a text that is shown as a measure; "" if there is none
    n_words : how long it is to be; 0 where the recipe says so itself
    n_rounds : how many rounds it may take; 0 where there are none
    disagreements, summary : where a judge and experts disagree, and how often
    system, template : the judge's present prompt
    """

    premise: str = ""
    original: str = ""
    question: str = ""
    reference: str = ""
    n_words: int = 0
    n_rounds: int = 0
    disagreements: str = ""
    summary: str = ""
    system: str = ""
    template: str = ""


@dataclass(frozen=True)
class Ask:
    """What is asked next. prompt : name of a built-in one; texts, values : what stands in its openings"""

    prompt: str
    texts: Mapping[str, str]
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Output:
    """A text that came of it. round : 0 where there is one alone"""

    text: str
    round: int = 0


@dataclass(frozen=True)
class Finished:
    """n_discards : how many replies were thrown away whole before"""

    outputs: tuple[Output, ...]
    n_discards: int = 0


@dataclass(frozen=True)
class GaveUp:
    """No text came of it. sentence : why, in English with places for the values, as notes of runs are"""

    sentence: str
    values: Mapping[str, str | int] = field(default_factory=dict)
    n_discards: int = 0


Step = Ask | Finished | GaveUp


@dataclass(frozen=True)
class Rounds:
    """How many rounds a text may take. usual : if nobody says; most : no more can be asked for"""

    label: Promise
    usual: int
    most: int


class Recipe:
    """One way to have a text written. Subclasses are discovered; one instance of each serves all studies.

    A subclass gives what stands below and `next_step`, and raises its version whenever the same replies could lead to
    another step.

    works_on : a premise, a story, a question of an instrument, or where a judge and experts disagree
    makes : what comes of it
    prompts : names of the built-in prompts that it asks with; the first is asked first
    sizes : lengths in words that it is usually asked for; empty where it sets the length itself
    gaps : what its source does not say, and what is done here instead
    """

    slug: ClassVar[str]
    version: ClassVar[str]
    title: ClassVar[Promise]
    description: ClassVar[Promise]
    citation: ClassVar[str]
    place: ClassVar[str]
    gaps: ClassVar[Promise]
    works_on: ClassVar[WorksOn] = "premise"
    makes: ClassVar[Makes] = "story"
    prompts: ClassVar[tuple[str, ...]]
    sizes: ClassVar[tuple[int, ...]] = ()
    rounds: ClassVar[Rounds | None] = None
    takes_reference: ClassVar[bool] = False

    def next_step(self, brief: Brief, replies: Sequence[str]) -> Step:
        """What follows from the replies so far, in the order in which they were asked for."""
        raise NotImplementedError


def count_words(text: str) -> int:
    """Words as stories are counted: what stands between spaces."""
    return len(text.split())


def rehearse(recipe: Recipe, brief: Brief, *, is_longest: bool) -> list[Ask]:
    """All that would be asked for the brief if every reply had the length that was asked for.

    is_longest : if every reply were half as long instead, so that it takes as many calls as it ever may
    """
    n_words = brief.n_words or 500
    reply = " ".join([_WORD] * max(n_words // 2 if is_longest else n_words, 1))
    asks: list[Ask] = []
    while isinstance(step := recipe.next_step(brief, [reply] * len(asks)), Ask):
        asks.append(step)
        if len(asks) > MOST_CALLS_A_TEXT:
            raise ValueError(f"{recipe.slug}: does not end after {MOST_CALLS_A_TEXT} calls")
    return asks


def regenerate(asks: Sequence[Ask], replies: Sequence[str], *, least: int, most: int, n_rounds: int) -> Step:
    """The last of the asks again and again, in the same words, until a reply has a length within these bounds.

    asks : all but the last are asked once
    least, most : words, both included; a reply outside is discarded whole
    """
    lead = len(asks) - 1
    if len(replies) < lead:
        return asks[len(replies)]
    texts = replies[lead:]
    fitting = next((text for text in texts if least <= count_words(text) <= most), None)
    if fitting is not None:
        return Finished((Output(fitting),), n_discards=len(texts) - 1)
    if len(texts) >= n_rounds:
        return GaveUp(OUTSIDE, {"n": len(texts), "least": least, "most": most}, n_discards=len(texts))
    return asks[-1]
