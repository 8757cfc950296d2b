"""Whether a rater knows the stories: asked before a group, which gives the seat back, and said later, as a flag."""

import re
from datetime import datetime

from django.db import models, transaction

from annotation.models import Assignment, Recognition
from annotation.participation import claims
from studies.models import Story
from studies.typography.paragraphs import number_paragraphs

WORD = re.compile(r"\s*\S+[^\S\n]*")
LEAST, MOST = 20, 60  # words of an opening
SENTENCE = re.compile(r".+?(?:[.!?…]+[\"'”’»)\]]*(?=\s|$)|$)", re.DOTALL)
# Where lines are kept it ends with one, or the name of the next speaker would pass for a sentence.
SENTENCE_IN_LINES = re.compile(r".+?(?:[.!?…]+[\"'”’»)\]]*[^\S\n]*(?=\n|$)|$)", re.DOTALL)


def is_owed(assignment: Assignment, *, has_desk: bool) -> bool:
    """Whether the rater has still to say if they know one of the stories.

    has_desk : the protocol asks about stories on the reading desk; filling a cloze, for one, is not preceded by it
    """
    is_asked = has_desk and assignment.study.asks_recognition and assignment.seat_id is not None
    # Of a group that somebody reads again the answer is known, and the question would give it away.
    is_first = assignment.repeats_id is None
    return is_asked and is_first and assignment.status == Assignment.Status.OPEN and assignment.read_before is None


def opening_lines(text: str) -> str:
    """The first sentences of a text, enough to recognise it by: about 20 words, at most 60. Verse keeps its form."""
    words: list[str] = []  # each with the space after it
    was_kept = False
    for paragraph in number_paragraphs(text):
        if words:
            words[-1] = words[-1].rstrip() + ("\n\n" if was_kept or paragraph.keeps_lines else " ")
        was_kept = paragraph.keeps_lines
        for sentence in (SENTENCE_IN_LINES if paragraph.keeps_lines else SENTENCE).findall(paragraph.words):
            if len(words) >= LEAST:
                return "".join(words).rstrip()
            parts = WORD.findall(sentence)
            words += parts if paragraph.keeps_lines else [" ".join(part.split()) + " " for part in parts]
            if len(words) > MOST:
                return "".join(words[:MOST]).rstrip() + " …"
    return "".join(words).rstrip()


def record_none_known(assignment: Assignment) -> bool:
    """Note that the rater knows none of the stories. False if they had said something already."""
    return bool(_undecided(assignment).update(read_before=False))


def give_back_seat(assignment: Assignment, *, at: datetime) -> bool:
    """Note that the rater knows one of the stories, and open their seat again. False if they had said something
    already; what somebody has begun to answer stands."""
    with transaction.atomic():
        if not _undecided(assignment).update(read_before=True):
            return False
        return claims.give_up(assignment, at=at)


def _undecided(assignment: Assignment) -> models.QuerySet[Assignment]:
    return Assignment.objects.filter(pk=assignment.pk, status=Assignment.Status.OPEN, read_before=None)


def flag_story(assignment: Assignment, story: Story, *, is_known: bool) -> None:
    """Note that the rater recognises the story, or that they do not after all. The work done stands."""
    if is_known:
        Recognition.objects.get_or_create(assignment=assignment, story=story)
    else:
        Recognition.objects.filter(assignment=assignment, story=story).delete()


def is_flagged(assignment: Assignment, story: Story) -> bool:
    """Whether the rater has said that they recognise the story. One query."""
    return Recognition.objects.filter(assignment=assignment, story=story).exists()
