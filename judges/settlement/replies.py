"""What a completion means for a call: an answer for each item that it asked, or for each that there is none."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation import responses
from annotation.models import Response
from annotation.responses import Answer
from judges import parsing, prompts, reasons
from judges.models import Call
from judges.providers import Completion
from judges.requests import fills
from judges.settlement import handlers, recognition_results
from studies.items import StoryLabel
from studies.layouts.cloze import Switches
from studies.models import Cloze, Item
from studies.protocol import items_of

# What is read of a model that takes the way out: the blank at which it cannot go on.
STOPPED_AT = "stopped_at"
OUTCOME_BY_STATE = {
    Call.State.OK: Response.Outcome.ANSWERED,
    Call.State.REFUSED: Response.Outcome.DECLINED,
    Call.State.BLOCKED: Response.Outcome.DECLINED,
    Call.State.TRUNCATED: Response.Outcome.UNREADABLE,
    Call.State.UNREADABLE: Response.Outcome.UNREADABLE,
    Call.State.OUT_OF_RANGE: Response.Outcome.UNREADABLE,
}


@dataclass
class Interpretation:
    """What is recorded for a completion, the state in which its call ends, and why if that is not ok.

    findings : what was read in a reply of which nothing is recorded
    form : in which a verdict stood, one of `parsing.FORMS`
    grades : how probable each answer was, by key of the item, where the server says so
    """

    answers: list[tuple[Item, Answer]]
    state: Call.State
    reason: str = ""
    findings: dict[str, Any] = field(default_factory=dict)
    form: str = ""
    grades: dict[str, Any] = field(default_factory=dict)

    @property
    def values(self) -> dict[str, Any]:
        """What was read, by key of the item."""
        return {item.key: answer.value for item, answer in self.answers if not answer.outcome} | self.findings


def interpret(call: Call, completion: Completion, protocol: str) -> Interpretation:
    """What the completion means for the call: of one item or several, of a whole cloze, or for a guard of the run."""
    if call.kind == Call.Kind.FILL:
        return _interpret_fills(call, completion)
    if call.kind == Call.Kind.PROBE:
        return _interpret_probe(call, completion)
    if handler := handlers.find_handler(call.kind):
        findings = handler.read(call, completion)
        if isinstance(findings, parsing.Failure):
            return _without_answers(findings)
        return Interpretation([], Call.State.OK, findings=findings)
    asked = [call.item] if call.item else [i for i in items_of(call.required_step) if i.key in call.items]
    verdicts = parsing.parse_reply(
        completion.text,
        finish_reason=completion.finish_reason,
        protocol=protocol,
        items=asked,
        stories=_labels(call),
        canary=call.run.canary,
        by_key=call.item is None,
    )
    if isinstance(verdicts, parsing.Failure):
        answering = call.kind in Call.ANSWERING
        return _interpret_failure(asked, verdicts) if answering else _without_answers(verdicts)
    if call.kind == Call.Kind.TEST:
        lost = next(iter(verdicts.failures.values()), None)
        return _without_answers(lost) if lost else Interpretation([], Call.State.OK, findings=verdicts.values)
    interpretation = _interpret_verdicts(asked, verdicts)
    grades = parsing.grade_verdicts(
        *(completion.tokens, verdicts), text=completion.text, protocol=protocol, items=asked, by_key=call.item is None
    )
    interpretation.grades = {key: grade.document for key, grade in grades.items()}
    return interpretation


def _without_answers(failure: parsing.Failure) -> Interpretation:
    return Interpretation([], Call.State(failure.state), failure.reason)


def _interpret_verdicts(asked: Sequence[Item], verdicts: parsing.Verdicts) -> Interpretation:
    """An answer for each item that has one; the call ends as the first of those that have none."""
    answers = []
    for item in asked:
        if verdict := verdicts.by_key.get(item.key):
            answers.append((item, Answer(value=verdict.value, rationale=verdict.rationale)))
        elif failure := verdicts.failures.get(item.key):
            answers.append((item, Answer(outcome=OUTCOME_BY_STATE[Call.State(failure.state)])))
    lost = next(iter(verdicts.failures.values()), None)
    state, reason = (Call.State(lost.state), lost.reason) if lost else (Call.State.OK, "")
    return Interpretation(answers, state, reason, form=verdicts.form)


def _labels(call: Call) -> list[StoryLabel]:
    """The letters of the stories that the call is about."""
    seat = call.assignment.seat if call.assignment else None
    return [StoryLabel(letter) for letter in responses.letters(seat.order)] if seat else []


def _interpret_probe(call: Call, completion: Completion) -> Interpretation:
    """What the model knows of the story; nothing of it is recorded as an answer."""
    if call.story is None:
        raise ValueError(f"{call} is about no story")
    findings = recognition_results.read_reply(
        completion.text, finish_reason=completion.finish_reason, story=call.story, canary=call.run.canary
    )
    if isinstance(findings, parsing.Failure):
        return _without_answers(findings)
    return Interpretation([], Call.State.OK, findings=findings)


def _interpret_fills(call: Call, completion: Completion) -> Interpretation:
    """The same for a whole story or a section of it: the fill of every blank, or for every blank that there is none.

    Blanks of later sections get none either if a section has none: they are not asked any more.
    """
    step = call.required_step
    cloze = Cloze.objects.get(filling=step.instrument_id)
    items = Item.objects.filter(instrument=cloze.filling_id).order_by("position")
    item_by_number = dict(enumerate(items, start=1))
    section_by_number = {blank.number: blank.section for blank in cloze.parsed.blanks}
    left = [item for number, item in item_by_number.items() if section_by_number[number] >= call.section]
    text_by_number = _parse_fills(call, completion, cloze, may_stop=Switches(**step.options).way_out)
    if isinstance(text_by_number, fills.Stop):
        stop = parsing.Failure("refused", reasons.WAY_OUT % {"blank": text_by_number.blank})
        refused = _interpret_failure(left, stop)
        refused.findings = {STOPPED_AT: text_by_number.blank}
        return refused
    if isinstance(text_by_number, parsing.Failure):
        return _interpret_failure(left, text_by_number)
    answers = [(item_by_number[number], Answer(value=text)) for number, text in text_by_number.items()]
    return Interpretation(answers, Call.State.OK)


def _parse_fills(
    call: Call, completion: Completion, cloze: Cloze, *, may_stop: bool
) -> dict[int, str] | fills.Stop | parsing.Failure:
    text, document, finish_reason = completion.text, cloze.parsed, completion.finish_reason
    if prompts.leaks_canary(text, call.run.canary):
        return parsing.Failure("unreadable", parsing.LEAKED)
    if not call.section:
        return fills.parse_fills(text, finish_reason=finish_reason, document=document, may_stop=may_stop)
    return fills.parse_section(
        text, finish_reason=finish_reason, document=document, section=call.section, may_stop=may_stop
    )


def _interpret_failure(items: list[Item], failure: parsing.Failure) -> Interpretation:
    state = Call.State(failure.state)
    return Interpretation([(item, Answer(outcome=OUTCOME_BY_STATE[state])) for item in items], state, failure.reason)
