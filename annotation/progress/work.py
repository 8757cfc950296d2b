"""An assignment as its rater works on it: what is to be answered, what has been, and where each of it stands."""

from collections.abc import Sequence
from datetime import datetime
from functools import cached_property

from django.db.models import Q, QuerySet
from django.http import Http404

from annotation import progress, responses
from annotation.models import Assignment, Rater, Response
from annotation.participation import consents, invitations, recognition
from annotation.prepared import PreparedQuery
from annotation.progress import Answers, Part, Place, refusals
from annotation.progress.outlines import Outline, load_outline
from annotation.progress.refusals import READABLE, Refusal, Standing
from studies.items import StoryLabel
from studies.models import Step, Story
from studies.protocol import Protocol, items_of
from studies.typography.paragraphs import as_set

ABOUT_ONE_STORY = (Step.Scope.STORY, Step.Scope.STORIES)


class Work:
    """An assignment and, read when first asked for, its stories (1 query) and answers (1).

    outline : what its protocol asks, from memory
    standing : what decides on what may be answered
    """

    def __init__(self, assignment: Assignment, outline: Outline, standing: Standing) -> None:
        self.assignment = assignment
        self.outline = outline
        self.standing = standing

    @property
    def protocol(self) -> Protocol:
        return self.outline.protocol

    @property
    def parts(self) -> list[Part]:
        return self.outline.once if self.assignment.seat is None else self.outline.parts

    @cached_property
    def code_by_letter(self) -> dict[str, str]:
        return responses.letters(self.assignment.seat.order) if self.assignment.seat else {}

    @cached_property
    def letter_by_code(self) -> dict[str, str]:
        return {code: letter for letter, code in self.code_by_letter.items()}

    @cached_property
    def letters(self) -> list[str]:
        return list(self.code_by_letter)

    @cached_property
    def stories(self) -> list[StoryLabel]:
        """The stories as an answer may name them."""
        return [StoryLabel(letter) for letter in self.letters]

    @cached_property
    def story_by_letter(self) -> dict[str, Story]:
        codes = self.code_by_letter.values()
        story_by_code = {s.code: s for s in Story.objects.filter(study=self.assignment.study_id, code__in=codes)}
        return {letter: story_by_code[code] for letter, code in self.code_by_letter.items()}

    @cached_property
    def story_id_by_letter(self) -> dict[str, int]:
        return {letter: self.outline.story_id_by_code[code] for letter, code in self.code_by_letter.items()}

    def story_reference(self, letter: str) -> Story | None:
        """The story of that letter for recording, which needs to know which it is and not what it says."""
        return Story(pk=self.story_id_by_letter[letter]) if letter else None

    def text(self, letter: str) -> str:
        """The words of the story of that letter; nothing for no letter. One query."""
        return Story.objects.values_list("text", flat=True).get(pk=self.story_id_by_letter[letter]) if letter else ""

    @cached_property
    def answers(self) -> Answers:
        return Answers(progress.index_responses(self.assignment.responses.all()), self.story_id_by_letter)

    @cached_property
    def visit_answers(self) -> Answers:
        """What the rater has said in the steps that are asked once."""
        visit = {"assignment__rater": self.assignment.rater_id, "assignment__seat": None}
        return Answers(progress.index_responses(Response.objects.filter(**visit)), {})

    def revised_response(self, place: Place) -> Response | None:
        """What was said to the same item in the step that this one revises; None if it revises none."""
        step = self.protocol.revised_by(place.step) if place.step.revises else None
        if step is None:
            return None
        if step.scope == Step.Scope.ONCE:
            return self.visit_answers.at(Place(step, place.item, ""))
        return self.answers.at(Place(step, place.item, place.letter))

    @property
    def premise(self) -> str:
        """What all stories of the group were written to, if the study shows it."""
        group = self.assignment.group
        return as_set(group.premise) if group and self.assignment.study.shows_premise else ""

    def place(self, step_key: str, item_key: str, letter: str) -> tuple[Part, Place]:
        """The place at that address, and its part; not found if nothing is asked there."""
        part = self.part(step_key)
        step = next(step for step in part.steps if step.key == step_key)
        item = next((item for item in items_of(step) if item.key == item_key), None)
        if item is None or letter not in (self.letters if step.scope in ABOUT_ONE_STORY else [""]):
            raise Http404
        return part, Place(step, item, letter)

    def part(self, step_key: str) -> Part:
        """The part to which that step belongs; not found if there is none."""
        if part := progress.find_part(self.parts, step_key):
            return part
        raise Http404

    @property
    def refusal(self) -> Refusal | None:
        """Why nothing can be changed in this assignment; None if something can."""
        return refusals.of_assignment(self.standing)

    def refusal_at(self, step: Step, letter: str = "") -> Refusal | None:
        """Why no answer to this step, about the story of that letter, can be given or changed; None if it can."""
        return refusals.of_answer(self.standing, self.protocol, step, letter)

    def is_locked(self, step: Step) -> bool:
        """Whether the answers to this step are final, a part after it having been opened."""
        return refusals.of_step(self.standing, self.protocol, step) is Refusal.LOCKED

    def is_ahead(self, part: Part, letter: str = "") -> bool:
        """Whether the rater would come to this part too early; a part that waits to be opened is not too early."""
        may_come = READABLE | {Refusal.UNOPENED}
        return refusals.of_step(self.standing, self.protocol, part.steps[0], letter) not in may_come

    @cached_property
    def part_with_stories(self) -> Part | None:
        """The page of comparisons on which the stories themselves stand, since no desk comes before it; mostly none."""
        first = next((part for part in self.parts if part.stops_at_items or part.compares), None)
        return first if first and first.compares and self.letters else None

    def may_read(self, letter: str) -> bool:
        """Whether the story can be read by itself: on the desk one after another, beside comparisons all at once."""
        return self.part_with_stories is not None or self.letters.index(letter) <= self.standing.n_begun

    def is_still_complete(self) -> bool:
        """Whether nothing lacks, by the answers as they are at this moment."""
        self.__dict__.pop("answers", None)
        return not self.shortfalls(self.parts)

    def shortfalls(self, parts: Sequence[Part]) -> list[tuple[Place, str]]:
        """What the places of these parts still lack."""
        lacks = [(p, self.answers.shortfall(p)) for part in parts for p in progress.list_places(part, self.letters)]
        return [(place, lack) for place, lack in lacks if lack]


def load_work(code: str, *, rater: int | None, at: datetime) -> Work | None:
    """That rater's work under that code as it stands at that moment, in one query; None if there is none."""
    assignment = _MINE.first(code=code, rater=rater) if rater is not None else None
    if assignment is None:
        return None
    outline = load_outline(assignment.version)
    standing = Standing(
        status=assignment.status,
        is_open=invitations.is_open(assignment.study, at=at),
        is_paused=assignment.study.is_paused,
        owes_consent=not consents.has_consented(assignment.rater, outline.protocol.consent),
        owes_recognition=recognition.is_owed(assignment, has_desk=outline.has_desk),
        letters=list(responses.letters(assignment.seat.order)) if assignment.seat else [],
        n_begun=len(assignment.begun),
        locked_before=assignment.locked_before,
    )
    return Work(assignment, outline, standing)


def _assignments(*, code: str, rater: int) -> QuerySet[Assignment]:
    everything = Assignment.objects.select_related("study", "rater", "seat", "group", "version")
    mine = everything.filter(may_work("rater__"), code=code, rater=rater)
    return mine.defer("version__document", "study__description")


def may_work(rater: str = "") -> Q:
    """Raters who are people, have not withdrawn and whose link was not revoked. `rater`: the path to them."""
    conditions = {"kind": Rater.Kind.PERSON, "withdrawal": None, "invitation__revoked_at": None}
    return Q(**{rater + name: value for name, value in conditions.items()})


_MINE = PreparedQuery(_assignments, code="a code", rater=918273645)
