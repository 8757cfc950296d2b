"""An assignment as its rater works on it: what is to be answered, what has been, and where each of it stands."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.db.models import Count, Exists, F, Max, OuterRef, Q, Subquery, Value
from django.db.models.functions import Coalesce
from django.http import Http404
from django.urls import reverse
from django.utils.translation import gettext_noop

from annotation import invitations, progress, recognition, responses
from annotation.models import Assignment, Consent, Rater, Response, Timing
from annotation.progress import Answers, Part, Place
from studies import protocol
from studies.items import Shown
from studies.models import Item, Step, Story
from studies.protocol import Protocol

# Why nothing is changed; the page that says so translates it.
CLOSED = gettext_noop("The study has closed, so answers can no longer be changed. What you saved is kept.")
OWES_CONSENT = gettext_noop("Please give your consent first; nothing was saved.")
OWES_RECOGNITION = gettext_noop("Please say first whether you know one of the stories; nothing was saved.")
AHEAD = gettext_noop("This part opens later: please begin every story before it first.")
LOCKED = gettext_noop("These answers were locked when the next part was opened, so they can no longer be changed.")


ABOUT_ONE_STORY = (Step.Scope.STORY, Step.Scope.STORIES)


@dataclass(frozen=True)
class Asked:
    """What one address asks, and why it cannot be answered now, in words for the rater; empty if it can."""

    place: Place
    story: Story | None
    refusal: str


class Work:
    """An assignment and, read when first asked for, its steps (2 queries), stories (1) and answers (1).

    owes_consent : its protocol asks for a consent that the rater has not given to this very text
    owes_recognition : the rater has still to say whether they know one of the stories
    fills_cloze : what its protocol says of the same name; asked beside the rest, since some pages never read the steps
    n_begun : about how many stories something has been said on the reading desk
    locked_before : the position of the last locking step that was opened; earlier answers are final
    """

    def __init__(
        self,
        assignment: Assignment,
        *,
        owes_consent: bool,
        owes_recognition: bool,
        fills_cloze: bool,
        n_begun: int,
        locked_before: int,
    ) -> None:
        self.assignment = assignment
        self.owes_consent = owes_consent
        self.owes_recognition = owes_recognition
        self.fills_cloze = fills_cloze
        self.n_begun = n_begun
        self.locked_before = locked_before

    @cached_property
    def protocol(self) -> Protocol:
        return protocol.read(self.assignment.version)

    @cached_property
    def parts(self) -> list[Part]:
        if self.assignment.seat is None:
            return [Part("together", (s,)) for s in self.protocol.steps if s.scope == Step.Scope.ONCE]
        return progress.parts(self.protocol)

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
    def story_by_letter(self) -> dict[str, Story]:
        codes = self.code_by_letter.values()
        story_by_code = {s.code: s for s in Story.objects.filter(study=self.assignment.study_id, code__in=codes)}
        return {letter: story_by_code[code] for letter, code in self.code_by_letter.items()}

    @cached_property
    def answers(self) -> Answers:
        story_ids = {letter: story.pk for letter, story in self.story_by_letter.items()}
        return Answers(progress.by_key(self.assignment.responses.all()), story_ids)

    @cached_property
    def said_once(self) -> Answers:
        """What the rater has said in the steps that are asked once."""
        visit = {"assignment__rater": self.assignment.rater_id, "assignment__seat": None}
        return Answers(progress.by_key(Response.objects.filter(**visit)), {})

    def earlier(self, place: Place) -> Response | None:
        """What was said to the same item in the step that this one revises; None if it revises none."""
        step = self.protocol.revised_by(place.step) if place.step.revises else None
        if step is None:
            return None
        if step.scope == Step.Scope.ONCE:
            return self.said_once.at(Place(step, place.item, ""))
        return self.answers.at(Place(step, place.item, place.letter))

    @property
    def premise(self) -> str:
        """What all stories of the group were written to, if the study shows it."""
        group = self.assignment.group
        return group.premise if group and self.assignment.study.shows_premise else ""

    @cached_property
    def shown(self) -> list[Shown]:
        """The stories as an item may name them."""
        code = self.assignment.code
        return [Shown(letter, url=reverse("annotation:story", args=[code, letter])) for letter in self.letters]

    def place(self, step_key: str, item_key: str, letter: str) -> tuple[Part, Place]:
        """The place at that address, and its part; not found if nothing is asked there."""
        part = self.part(step_key)
        for place in progress.places(part, self.letters):
            if (place.step.key, place.item.key, place.letter) == (step_key, item_key, letter):
                return part, place
        raise Http404

    def part(self, step_key: str) -> Part:
        """The part to which that step belongs; not found if there is none."""
        if part := progress.part_of(self.parts, step_key):
            return part
        raise Http404

    def refusal(self, *, at: datetime) -> str:
        """Why nothing can be changed in this assignment, in words for the rater; empty if it can."""
        if self.assignment.status != Assignment.Status.OPEN:
            return responses.ENDED
        if not invitations.is_open(self.assignment.study, at=at):
            return CLOSED
        if self.owes_consent:
            return OWES_CONSENT
        return OWES_RECOGNITION if self.owes_recognition else ""

    def is_ahead(self, part: Part, letter: str = "") -> bool:
        """Whether the rater would come to this part too early, reading or locking still before them."""
        step = part.steps[0]
        earlier = [s for s in self.protocol.ratings if s.position < step.position]
        if any(s.locks and s.position > self.locked_before for s in earlier):
            return True
        follows = any(s.scope == Step.Scope.STORY for s in earlier)
        return progress.is_ahead(
            step.scope, letter, letters=self.letters, n_begun=self.n_begun, follows_reading=follows
        )

    def owes_opening(self, part: Part) -> bool:
        """Whether this part locks what came before and the rater has not yet agreed to that."""
        return part.locks and self.locked_before < part.steps[0].position

    def open(self, part: Part) -> None:
        """Note that a step was opened: it has a timing from then on, of no seconds at first."""
        Timing.objects.get_or_create(assignment=self.assignment, step=part.steps[0], story=None, section=None)

    @cached_property
    def read_at(self) -> Part | None:
        """The page of comparisons on which the stories themselves stand, since no desk comes before it; mostly none."""
        first = next((part for part in self.parts if part.kind in ("desk", "together")), None)
        return first if first and first.kind == "together" and self.letters else None

    def may_read(self, letter: str) -> bool:
        """Whether the story can be read by itself: on the desk one after another, beside comparisons all at once."""
        return self.read_at is not None or self.letters.index(letter) <= self.n_begun

    def is_locked(self, step: Step) -> bool:
        return step.position < self.locked_before

    def asked(self, step_key: str, item_key: str, letter: str, *, at: datetime, with_text: bool = False) -> Asked:
        """What is answered at that address, in one query, so that saving stays cheap. Not found if nothing is.

        with_text : the story with its text, for an answer that quotes it
        """
        item = self._items(step_key, letter, with_text=with_text).filter(key=item_key).first()
        if item is None or (item.scope in ABOUT_ONE_STORY) != bool(item.story_pk):
            raise Http404
        if (item.scope == Step.Scope.ONCE) != (self.assignment.seat_id is None):
            raise Http404  # what is asked once stands in the visit, and nothing else does
        # Stand-ins: recording needs to know which, not what they say.
        step = Step(pk=item.step_pk, key=step_key, scope=item.scope, position=item.step_position, layout=item.layout)
        story = Story(pk=item.story_pk, text=item.story_text) if item.story_pk else None
        is_ahead = progress.is_ahead(
            item.scope, letter, letters=self.letters, n_begun=self.n_begun, follows_reading=item.follows_reading
        )
        refusal = self.refusal(at=at) or (LOCKED if self.is_locked(step) else "")
        # The visit is no part of the group: what locks there neither opens nor closes it.
        owes_opening = item.owes_opening and self.assignment.seat_id is not None
        refusal = refusal or (AHEAD if is_ahead or owes_opening else "")
        return Asked(Place(step, item, letter), story, refusal)

    def _items(self, step_key: str, letter: str, *, with_text: bool) -> Any:
        """The items of a step, each with what is to be known of the step and of the story of that letter."""
        steps = Step.objects.filter(version=self.assignment.version_id)
        here = OuterRef("instrument__step__position")
        story = Story.objects.filter(study=self.assignment.study_id, code=self.code_by_letter.get(letter))
        return Item.objects.filter(
            instrument__step__version=self.assignment.version_id, instrument__step__key=step_key
        ).annotate(
            step_pk=F("instrument__step__pk"),
            scope=F("instrument__step__scope"),
            layout=F("instrument__step__layout"),
            step_position=F("instrument__step__position"),
            story_pk=Subquery(story.values("pk")),
            story_text=Subquery(story.values("text")) if with_text else Value(""),
            follows_reading=Exists(steps.filter(scope=Step.Scope.STORY, position__lt=here)),
            owes_opening=Exists(steps.filter(locks=True, position__gt=self.locked_before, position__lte=here)),
        )

    def is_still_complete(self) -> bool:
        """Whether nothing lacks, by the answers as they are at this moment."""
        self.__dict__.pop("answers", None)
        return not self.missing(self.parts)

    def missing(self, parts: Sequence[Part]) -> list[tuple[Place, str]]:
        """What the places of these parts still lack."""
        found = [(p, self.answers.missing(p)) for part in parts for p in progress.places(part, self.letters)]
        return [(place, lack) for place, lack in found if lack]

    def url(self, stop: Place | Part | None) -> str:
        """The address of a stop on the way; past the last one, the answers are checked."""
        code = self.assignment.code
        if stop is None:
            return reverse("annotation:check", args=[code])
        if isinstance(stop, Part) and self.assignment.seat is None:
            return reverse("annotation:once", args=[stop.key])
        if isinstance(stop, Part):
            return reverse("annotation:part", args=[code, stop.key])
        if stop.letter:
            return reverse("annotation:story_item", args=[code, stop.step.key, stop.letter, stop.item.key])
        return reverse("annotation:item", args=[code, stop.step.key, stop.item.key])


def find(code: str, *, rater: int | None) -> Work | None:
    """That rater's work under that code, in one query; None if there is none."""
    assignment = _assignments().filter(may_work("rater__"), code=code, rater=rater).first()
    if assignment is None:
        return None
    return Work(
        assignment,
        owes_consent=assignment.owes_consent,
        owes_recognition=recognition.is_owed(assignment, has_desk=assignment.has_desk),
        fills_cloze=assignment.fills_cloze,
        n_begun=assignment.n_begun,
        locked_before=assignment.locked_before,
    )


def may_work(rater: str = "") -> Q:
    """Raters who are people, have not withdrawn and whose link was not revoked. `rater`: the path to them."""
    conditions = {"kind": Rater.Kind.PERSON, "withdrawal": None, "invitation__revoked_at": None}
    return Q(**{rater + name: value for name, value in conditions.items()})


def _assignments() -> Any:
    given = Consent.objects.filter(rater=OuterRef(OuterRef("rater"))).values("step__text")
    asked = Step.objects.filter(version=OuterRef("version"), kind=Step.Kind.CONSENT).exclude(text__in=given)
    said = Response.objects.filter(assignment=OuterRef("pk"), step__scope=Step.Scope.STORY).order_by()
    begun = said.values("assignment").annotate(n=Count("story", distinct=True)).values("n")
    steps = Step.objects.filter(version=OuterRef("version"))
    ratings = steps.filter(kind=Step.Kind.RATING).exclude(scope=Step.Scope.ONCE)
    opened = Timing.objects.filter(assignment=OuterRef("pk"), step__locks=True).order_by()
    locked = opened.values("assignment").annotate(at=Max("step__position")).values("at")
    return (
        Assignment.objects.select_related("study", "rater", "seat", "group", "version")
        .defer("version__document", "study__description")
        .annotate(
            owes_consent=Exists(asked),
            has_desk=Exists(steps.filter(scope=Step.Scope.STORY)),
            fills_cloze=Exists(ratings.filter(layout=Step.Layout.CLOZE)),
            n_begun=Coalesce(Subquery(begun), 0),
            locked_before=Coalesce(Subquery(locked), 0),
        )
    )
