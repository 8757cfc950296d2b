"""Where a rater stands in their assignment: what is done, what is left, and how long that may take at their pace."""

import math
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.db.models import Sum
from django.utils.translation import gettext as _

from annotation import progress
from annotation.participation import invitations
from annotation.progress import Part, Question, State, Stop, languages
from annotation.progress.languages import Words
from annotation.progress.work import Work
from studies.models import Step

MIN_ANSWERS_FOR_PACE = 5  # answers: before so many, one's pace says nothing
ROUND_TO_MINUTES = 5  # minutes: to promise single ones would be more than anybody knows
TILL_BREAK = 45 * 60  # active seconds
BETWEEN_STORIES = 15 * 60  # the same, where a story has just been finished


@dataclass(frozen=True)
class Task:
    """A story or a part on the list of what there is to do, with the name of each of its steps; without a stop as long
    as it is too early for it."""

    names: list[Words]
    n_done: int
    n_total: int
    state: State
    is_current: bool
    is_locked: bool
    fills_text: bool
    stop: Stop | None


class Orientation:
    """Progress through an assignment, read when first asked for: its answers (1 query) and its active time (1)."""

    def __init__(self, work: Work) -> None:
        self.work = work

    @cached_property
    def questions(self) -> list[Question]:
        return [question for part in self.work.parts for question in progress.list_questions(part, self.work.letters)]

    @cached_property
    def lacking(self) -> list[Question]:
        return [question for question in self.questions if self.work.answers.shortfall(question)]

    @property
    def n_left(self) -> int:
        return len(self.lacking)

    @property
    def lacks_only_blanks(self) -> bool:
        """Whether all that is left to answer are blanks of a cloze."""
        return all(question.step.layout_type.fills_text for question in self.lacking)

    @property
    def n_stories_left(self) -> int:
        """Stories about which something is still to be answered on the reading desk."""
        return len({question.letter for question in self.lacking if question.step.scope == question.step.Scope.STORY})

    @cached_property
    def n_answered(self) -> int:
        return sum(self.work.answers.state(question) == "done" for question in self.questions)

    @cached_property
    def active_seconds(self) -> int:
        return self.work.assignment.timings.aggregate(total=Sum("active_seconds"))["total"] or 0

    @property
    def active_minutes(self) -> int:
        return self.active_seconds // 60

    @property
    def minutes_left(self) -> int | None:
        """At the pace so far, in steps of five; None as long as it is too early to say."""
        return minutes_left(n_answered=self.n_answered, n_left=self.n_left, active_seconds=self.active_seconds)

    @property
    def deadline(self) -> datetime | None:
        rater, due_at = self.work.assignment.rater, self.work.assignment.due_at
        ends_at = invitations.ends_at(rater.study, getattr(rater, "invitation", None))
        return min((end for end in (ends_at, due_at) if end), default=None)

    @cached_property
    def tasks(self) -> list[Task]:
        stop = progress.resume(
            self.work.parts, self.work.letters, self.work.answers, last_page=self.work.assignment.last_page
        )
        return [self._task(part, letter, stop) for part in self.work.parts for letter in self._letters(part)]

    def _letters(self, part: Part) -> list[str]:
        return self.work.letters if part.stops_at_items else [""]

    def _task(self, part: Part, letter: str, current: Stop | None) -> Task:
        answers = self.work.answers
        questions = [q for q in progress.list_questions(part, self.work.letters) if not letter or q.letter == letter]
        incomplete = [q for q in questions if answers.shortfall(q)]
        is_ahead = self.work.standing.is_ahead(part.steps[0], letter)
        return Task(
            names=[languages.story_title(letter, self.work.assignment.study)]
            if letter
            else [self._title(step) for step in part.steps],
            n_done=sum(answers.state(q) == "done" for q in questions),
            n_total=len(questions),
            state=progress.combined_state(questions, answers),
            is_current=current in questions or current == part,
            is_locked=self.work.standing.is_locked(part.steps[0]),
            fills_text=part.fills_text,
            stop=None if is_ahead else (incomplete or questions)[0] if letter else part,
        )

    def _title(self, step: Step) -> Words:
        title = languages.step_title(step, self.work.assignment.study)
        return title if title.text else Words(_("A text to read"))


def minutes_left(*, n_answered: int, n_left: int, active_seconds: int) -> int | None:
    """What is left at the pace of what is done, rounded up to five minutes; None before there is a pace."""
    if n_left == 0:
        return 0
    if n_answered < MIN_ANSWERS_FOR_PACE or not active_seconds:
        return None
    return ROUND_TO_MINUTES * math.ceil(active_seconds / n_answered * n_left / 60 / ROUND_TO_MINUTES)


def is_due_a_break(*, active_seconds: int, rested_at: int, has_finished_a_story: bool) -> bool:
    """Whether to suggest a break, quietly.

    rested_at : the active seconds at the last break, or when the last suggestion was put away
    """
    since = active_seconds - rested_at
    return since >= (BETWEEN_STORIES if has_finished_a_story else TILL_BREAK)
