"""How far a rater has come and what comes next. Pure: it reads protocols and responses that others fetched.

A rater's way: a place, without which nothing is asked → consent → what stands before the first question about stories
(texts, what is asked once) → a group, and perhaps another → what stands after it. Within a group the steps make
**parts**: a desk for steps that ask about one story at a time, one page for comparative steps that follow each other, a
page for a text, a page for a cloze to fill. A **question** is one item of it, about one
story if it asks about stories one by one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from annotation import responses
from annotation.models import Assignment, Response, StepTaken
from studies import items
from studies.models import Item, Step
from studies.protocol import Protocol, items_of

State = Literal["open", "begun", "done"]
DESK, TOGETHER, TEXT = "desk", "together", "text"  # kinds of parts, besides those that layouts name
Key = tuple[int, int, int | None]  # step, item, story: what a response answers


@dataclass(frozen=True)
class Part:
    """Steps that a rater meets together.

    kind : one of those above, or the key of the layout that has a page of its own; which page that is, the pages know
    """

    kind: str
    steps: tuple[Step, ...]

    @property
    def key(self) -> str:
        return self.steps[0].key

    @property
    def locks(self) -> bool:
        return self.steps[0].locks

    @property
    def stops_at_items(self) -> bool:
        """Whether each of its items is a stop of its own, story by story; otherwise the whole part is one."""
        return self.kind == DESK

    @property
    def compares(self) -> bool:
        """Whether it is a page of comparisons, beside which stories may stand."""
        return self.kind == TOGETHER

    @property
    def fills_text(self) -> bool:
        """Whether its answers are blanks of one text."""
        return self.steps[0].layout_type.fills_text

    def stop(self, question: "Question") -> "Stop":
        """Where a rater stops to answer this question of it: at the question, or at the part as a whole."""
        return question if self.stops_at_items else self


@dataclass(frozen=True)
class Question:
    """One item to answer; letter is that of the story it is about, or empty."""

    step: Step
    item: Item
    letter: str = ""

    @property
    def path(self) -> str:
        """The question as its address names it, and as `Assignment.last_page` remembers it."""
        return "/".join(filter(None, (self.step.key, self.letter, self.item.key)))

    @property
    def id(self) -> str:
        """What names of elements and fields on a page are made of."""
        return self.path.replace("/", "-")

    @property
    def name(self) -> str:
        """The name of the question's form field, unlike any other on a page."""
        return f"answer-{self.id}"


Stop = Question | Part


class Page(NamedTuple):
    """A page by the name of its address."""

    name: str
    args: tuple[str, ...] = ()


@dataclass(frozen=True)
class RaterProgress:
    """All that decides what comes next for a rater.

    passed : keys of the steps met once that the rater has gone through; a check that only flags, also by failing it
    attempts : of a check that they have not passed, their latest attempt, by the key of the step
    owes_recognition : they have still to say whether they know one of the stories of the group they are at
    has_begun : they have had a group, given-up ones included
    has_finished : the rater has said that they are done, after the last questions if there are some
    """

    protocol: Protocol
    has_consented: bool
    passed: frozenset[str] = frozenset()
    attempts: Mapping[str, StepTaken] = field(default_factory=dict)
    at_work: Assignment | None = None
    owes_recognition: bool = False
    n_submitted: int = 0
    n_left: int = 0
    has_begun: bool = False
    has_finished: bool = False

    @property
    def has_failed(self) -> bool:
        """Whether a check beyond which nobody goes who fails it was not passed in any of its attempts."""
        return any(step_taken.is_last for step_taken in self.attempts.values())

    @property
    def lacks_place(self) -> bool:
        """Whether they have begun nothing, and there is no place at which they could."""
        has_begun = self.has_begun or self.at_work or self.n_submitted
        return not (self.n_left or has_begun or self.has_failed)

    @property
    def wants_group(self) -> bool:
        """Whether they would be offered a group if there were one."""
        return not (self.n_left or self.at_work or self.has_finished or self.has_failed)


def next_page(progress: RaterProgress) -> Page:
    """Where this rater belongs now. Nobody agrees, or answers what is asked before a group, without a place."""
    if progress.lacks_place:
        return Page("full")
    if not progress.has_consented:
        return Page("consent")
    if progress.has_failed:
        return Page("done")
    before, after = steps_around_groups(progress.protocol)
    has_begun = bool(progress.at_work or progress.n_submitted)
    for step in before:
        if not has_begun and step.key not in progress.passed:
            return Page("once" if step.instrument_id else "briefing", (step.key,))
    if progress.at_work:
        return Page("recognition" if progress.owes_recognition else "assignment", (progress.at_work.code,))
    if progress.n_left and not progress.has_finished:
        return Page("begin")
    for step in after:
        if (
            progress.n_submitted
            and not progress.has_finished
            and step.kind == Step.Kind.RATING
            and step.key not in progress.passed
        ):
            return Page("once", (step.key,))
    return Page("done")


def may_end_with(progress: RaterProgress, step: Step) -> bool:
    """Whether the rater may go to this last step although groups are left: they have done one and want no more."""
    return (
        step in steps_around_groups(progress.protocol)[1]
        and bool(progress.n_submitted)
        and not (progress.at_work or progress.has_finished)
    )


def last_question(protocol: Protocol) -> Step | None:
    """The step after whose answers a rater is done; None if nothing is asked after the groups."""
    return next((s for s in reversed(steps_around_groups(protocol)[1]) if s.kind == Step.Kind.RATING), None)


def steps_around_groups(protocol: Protocol) -> tuple[list[Step], list[Step]]:
    """The steps that a rater meets once: before the first group, and after the last. Consent is neither."""
    grouped = [step.position for step in protocol.ratings]
    once = [s for s in protocol.steps if s.kind != Step.Kind.CONSENT and not _in_group(s, grouped)]
    if not grouped:
        return once, []  # a draft that asks nothing about stories yet
    return [s for s in once if s.position < grouped[0]], [s for s in once if s.position > grouped[0]]


def list_parts(protocol: Protocol) -> list[Part]:
    """What a rater meets within a group, in order. A step that locks what came before begins a part of its own."""
    grouped = [step.position for step in protocol.ratings]
    parts: list[Part] = []
    for step in protocol.steps:
        if not _in_group(step, grouped):
            continue
        kind = _kind(step)
        if parts and parts[-1].kind == kind and kind in (DESK, TOGETHER) and not step.locks:
            parts[-1] = Part(kind, (*parts[-1].steps, step))
        else:
            parts.append(Part(kind, (step,)))
    return parts


def _in_group(step: Step, grouped: Sequence[int]) -> bool:
    if step.kind == Step.Kind.RATING:
        return step.scope != Step.Scope.ONCE
    return bool(grouped) and step.kind == Step.Kind.BRIEFING and grouped[0] < step.position < grouped[-1]


def _kind(step: Step) -> str:
    if step.kind != Step.Kind.RATING:
        return TEXT
    if step.layout_type.has_own_page:
        return step.layout_type.key
    return DESK if step.scope == Step.Scope.STORY else TOGETHER


def find_part(parts: Iterable[Part], step_key: str) -> Part | None:
    """The part to which the step of that key belongs; None if none does."""
    return next((part for part in parts if any(step.key == step_key for step in part.steps)), None)


def list_questions(part: Part, letters: Sequence[str]) -> list[Question]:
    """The items of a part in the order in which they are met: on the desk story by story, otherwise step by step."""
    if part.stops_at_items:
        return [Question(s, item, letter) for letter in letters for s in part.steps for item in items_of(s)]
    return [
        Question(s, item, letter)
        for s in part.steps
        for letter in (letters if s.scope == Step.Scope.STORIES else [""])
        for item in items_of(s)
    ]


def index_responses(responses: Iterable[Response]) -> dict[Key, Response]:
    """The responses by what they answer."""
    return {(r.step_id, r.item_id, r.story_id): r for r in responses}


@dataclass(frozen=True)
class Answers:
    """The responses of an assignment, found by question.

    story_ids : the story behind each letter
    """

    response_by_key: Mapping[Key, Response]
    story_ids: Mapping[str, int]

    def at(self, question: Question) -> Response | None:
        story = self.story_ids[question.letter] if question.letter else None
        return self.response_by_key.get((question.step.pk, question.item.pk, story))

    def shortfall(self, question: Question) -> str:
        """What the question still lacks before submission, as a sentence; empty if nothing."""
        return responses.find_shortfall(self.at(question), question.item)

    def state(self, question: Question) -> State:
        return response_state(self.at(question), question.item)


def list_shortfalls(parts: Iterable[Part], letters: Sequence[str], answers: Answers) -> list[tuple[Question, str]]:
    """The questions of these parts that still lack something, each with what it lacks, as a sentence."""
    questions = [question for part in parts for question in list_questions(part, letters)]
    return [(question, shortfall) for question in questions if (shortfall := answers.shortfall(question))]


def wrong_item_keys(step: Step, answers: Answers) -> list[str]:
    """The keys of the items of a check that have a right answer and were given another, or none."""
    keys: list[str] = []
    for item in items_of(step):
        response = answers.at(Question(step, item))
        if items.find_type(item.type).is_correct(item, response.value if response else None) is False:
            keys.append(item.key)
    return keys


def response_state(response: Response | None, item: Item) -> State:
    """Whether a question is open, begun, or complete."""
    if response is None or (response.outcome == Response.Outcome.OPEN and not (response.rationale or response.quotes)):
        return "open"
    return "begun" if responses.find_shortfall(response, item) else "done"


def combined_state(questions: Sequence[Question], answers: Answers) -> State:
    """How complete questions are together. What may all be left out is done only once something is said."""
    if any(answers.state(question) == "done" for question in questions) and not any(map(answers.shortfall, questions)):
        return "done"
    return "begun" if any(answers.state(question) != "open" for question in questions) else "open"


def resume(parts: Sequence[Part], letters: Sequence[str], answers: Answers, *, last_page: str) -> Stop | None:
    """Where to come back to: the question last seen, or the first that lacks something; None when nothing does.

    Who has said nothing yet begins at the beginning, also where everything may be skipped.
    """
    stops = [(part, question) for part in parts for question in list_questions(part, letters)]
    for part, question in stops:
        if question.path == last_page:
            return part.stop(question)
    if page := find_part(parts, last_page):
        return page
    for part, question in stops:
        if answers.shortfall(question) or not answers.response_by_key:
            return part.stop(question)
    return None


def neighbours(
    parts: Sequence[Part], part: Part, letters: Sequence[str], question: Question | None = None
) -> tuple[Stop | None, Stop | None]:
    """What comes before and after a question of the desk, or after a page; None at either end of the group."""
    stops: list[Stop] = []
    for step_part in parts:
        stops += list_questions(step_part, letters) if step_part.stops_at_items else [step_part]
    index = stops.index(part.stop(question) if question else part)
    return (stops[index - 1] if index else None), (stops[index + 1] if index + 1 < len(stops) else None)
