"""Simulated raters at work: what they read, answer, change, time and submit, through the same functions as people."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db import transaction

from annotation import responses
from annotation.models import Assignment, Rater, Response, Timing
from annotation.participation import claims
from annotation.responses import Answer, submission
from annotation.simulation.opinions import SEVERITY, Opinion, Profile, Simulation, StraightAnswer, Tendency
from studies import items, protocol
from studies.items import StoryLabel
from studies.items.chance import draw_value
from studies.models import Item, Step, Story, Study
from studies.protocol import Protocol

if TYPE_CHECKING:
    import numpy as np

WORDS_PER_MINUTE = 220
BREAK = timedelta(minutes=20)  # between two groups


class _Stopped(Exception):
    """The rater goes no further."""


@transaction.atomic
def simulate(study: Study, tendency_by_story: Mapping[str, Tendency], *, seed: int, begins: datetime) -> list[Rater]:
    """Simulated raters who fill every free seat of a live study, one after the other from that time on.

    Same seed, same study, same answers. One transaction, since a study that is half simulated is of no use.
    """
    import numpy as np  # when something is simulated: web processes have no use for it

    simulation = Simulation(study, tendency_by_story, np.random.default_rng(seed))
    raters: list[Rater] = []
    at = begins
    while study.seats.filter(rater_kind=Rater.Kind.PERSON, is_taken=False).exists():
        rater = Rater.objects.create(study=study, code=f"S{len(raters) + 1:02}", is_simulated=True)
        Rater.objects.filter(pk=rater.pk).update(arrived_at=at)
        profile = draw_profile(simulation.rng)
        now = at
        for _ in range(profile.n_groups):
            try:
                now = read_and_submit(simulation, claims.claim(rater), profile, at=now)
            except claims.NoSeat:
                break
        raters.append(rater)
        at += timedelta(hours=float(simulation.rng.uniform(7, 30)))
    return raters


def answer_steps(assignment: Assignment, steps: Iterable[Step], *, seed: int, at: datetime) -> None:
    """Answer the open items of these steps at that time, as a rater without preferences among stories."""
    import numpy as np  # as above

    stories = {story.code: story for story in assignment.group.stories.all()} if assignment.group else {}
    even = dict.fromkeys(stories, Tendency(0))
    at_once = Profile(severity=0, pace=1e9, second_thoughts=0, n_groups=1)
    simulation = Simulation(assignment.study, even, np.random.default_rng(seed))
    complete = {
        (response.step_id, response.item_id, response.story_id)
        for response in assignment.responses.select_related("item")
        if not responses.find_shortfall(response, response.item)
    }
    reading = _Reading(simulation, assignment, at_once, stories, at, complete=complete)
    for step in steps:
        reading.answer(step)


def draw_profile(rng: np.random.Generator) -> Profile:
    """How one more rater answers."""
    return Profile(
        severity=float(rng.normal(0, SEVERITY)),
        pace=float(rng.uniform(0.8, 1.5)),
        second_thoughts=float(rng.uniform(0.01, 0.06)),
        n_groups=int(rng.integers(1, 4)),
    )


def read_and_submit(simulation: Simulation, assignment: Assignment, profile: Profile, *, at: datetime) -> datetime:
    """When the rater is ready for the next group: every item of every step answered in order, and submitted."""
    reading = _begin(simulation, assignment, profile, at=at)
    frozen_protocol = protocol.load_protocol(assignment.version)
    for step in frozen_protocol.ratings:
        reading.answer(step)
    reading.revise_answers(frozen_protocol)
    reading.note_time()
    submission.submit(assignment, at=reading.now)
    return reading.now + BREAK


def read_and_stop(
    simulation: Simulation, assignment: Assignment, profile: Profile, *, at: datetime, returns: bool
) -> datetime:
    """When the rater stopped, half of the answers given.

    returns : whether the seat is given back then, as by somebody who says so; otherwise it stays open, unfinished
    """
    reading = _begin(simulation, assignment, profile, at=at)
    steps = [step for step in protocol.load_protocol(assignment.version).ratings if step.scope != Step.Scope.ONCE]
    reading.n_left = sum(len(protocol.items_of(step)) * reading.count_places(step) for step in steps) // 2
    try:
        for step in steps:
            reading.answer(step)
    except _Stopped:
        pass
    reading.note_time()
    if returns:
        claims.give_up(assignment, at=reading.now)
    return reading.now


def _begin(simulation: Simulation, assignment: Assignment, profile: Profile, *, at: datetime) -> _Reading:
    Assignment.objects.filter(pk=assignment.pk).update(started_at=at)
    stories = {story.code: story for story in assignment.group.stories.all()} if assignment.group else {}
    return _Reading(simulation, assignment, profile, stories, at)


@dataclass
class _Reading:
    """A rater at work in one seat: the clock, and the time spent."""

    simulation: Simulation
    assignment: Assignment
    profile: Profile
    stories: dict[str, Story]
    now: datetime
    seconds: dict[tuple[Step, Story | None], float] = field(default_factory=dict)
    complete: Collection[tuple[int, int, int | None]] = ()  # step, item and story of what is answered already
    n_left: int | None = None  # answers until the rater stops; None for one who does not

    @property
    def order(self) -> list[str]:
        return list(self.assignment.seat.order) if self.assignment.seat else []

    def answer(self, step: Step) -> None:
        if step.scope in (Step.Scope.GROUP, Step.Scope.ONCE):
            self._items(step, None)
            return
        for code in self.order:
            if step.scope == Step.Scope.STORY:
                self.spend(step, self.stories[code], self.seconds_to_read(self.stories[code]))
            self._items(step, self.stories[code])

    def count_places(self, step: Step) -> int:
        """About how many things each item of the step is asked."""
        return 1 if step.scope in (Step.Scope.GROUP, Step.Scope.ONCE) else len(self.order)

    def seconds_to_read(self, story: Story) -> float:
        return 60 * story.n_words / WORDS_PER_MINUTE * self.profile.reads

    def note_time(self) -> None:
        """Store the seconds spent on each step and story, when the rater was last at work, and what is locked."""
        Timing.objects.bulk_create(
            Timing(assignment=self.assignment, step=step, story=story, active_seconds=int(seconds))
            for (step, story), seconds in self.seconds.items()
        )
        opened = max((step.position for step, _ in self.seconds if step.locks), default=0)
        Assignment.objects.filter(pk=self.assignment.pk).update(last_active_at=self.now, locked_before=opened)

    def _items(self, step: Step, story: Story | None) -> None:
        for item in protocol.items_of(step):
            if (step.pk, item.pk, story.pk if story else None) in self.complete:
                continue
            if self.n_left is not None:
                if not self.n_left:
                    raise _Stopped
                self.n_left -= 1
            self.spend(step, story, float(self.simulation.rng.lognormal(3.6, 0.4)))
            self.record(step, item, story, self.draw_answer(item, story))

    def revise_answers(self, frozen_protocol: Protocol) -> None:
        """Change a few answers before submitting, of those that no later step has locked."""
        answers = list(self.assignment.responses.select_related("step", "item", "story").order_by("pk"))
        for response in answers:
            is_final = frozen_protocol.locked_by(response.step) is not None
            if not is_final and self.simulation.rng.random() < self.profile.second_thoughts:
                self.spend(response.step, response.story, 30)
                self.record(
                    response.step, response.item, response.story, self.draw_answer(response.item, response.story)
                )

    def spend(self, step: Step, story: Story | None, seconds: float) -> None:
        seconds /= self.profile.pace
        self.seconds[step, story] = self.seconds.get((step, story), 0) + seconds
        self.now += timedelta(seconds=seconds)

    def record(self, step: Step, item: Item, story: Story | None, answer: Answer) -> Response:
        return responses.record(self.assignment, step=step, item=item, story=story, answer=answer, at=self.now)

    def draw_answer(self, item: Item, story: Story | None) -> Answer:
        kind, stories = items.find_type(item.type), [StoryLabel(letter) for letter in responses.letters(self.order)]
        opinion = self._opinion(item, story)
        value = draw_value(kind.schema(item, stories=stories), opinion)
        if item.rationale == Item.Rationale.NONE:
            return Answer(value)
        return Answer(value, rationale=opinion.rationale(kind.label(item, value), least=item.rationale_least))

    def _opinion(self, item: Item, story: Story | None) -> Opinion:
        at = self.profile.straight_at
        if at is not None:
            return StraightAnswer(self.simulation, self.profile, item, story, codes=self.order, at=at)
        return Opinion(self.simulation, self.profile, item, story, codes=self.order)
