"""What a completion means for a call: an answer for each item that it asked, or for each that there is none."""

from dataclasses import dataclass
from typing import Any

from annotation import responses
from annotation.models import Response
from annotation.responses import Answer
from judges import fills, parsing
from judges.models import Call
from judges.providers import Completion
from studies.items import StoryLabel
from studies.models import Cloze, Item

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
    """What is recorded for a completion, the state in which its call ends, and why if that is not ok."""

    answers: list[tuple[Item, Answer]]
    state: Call.State
    reason: str = ""

    @property
    def values(self) -> dict[str, Any]:
        """What was read, by key of the item."""
        return {item.key: answer.value for item, answer in self.answers if not answer.outcome}


def interpret(call: Call, completion: Completion, protocol: str) -> Interpretation:
    """What the completion means for the call, of one item or of a whole cloze."""
    if call.item is None:
        return _interpret_fills(call, completion)
    seat = call.assignment.seat
    stories = [StoryLabel(letter) for letter in responses.letters(seat.order)] if seat else []
    verdict = parsing.parse_verdict(
        completion.text, finish_reason=completion.finish_reason, protocol=protocol, item=call.item, stories=stories
    )
    if isinstance(verdict, parsing.Failure):
        return _unanswered([call.item], verdict)
    answer = Answer(value=verdict.value, rationale=verdict.rationale)
    return Interpretation([(call.item, answer)], Call.State.OK)


def _interpret_fills(call: Call, completion: Completion) -> Interpretation:
    """The same for a whole story: the fill of every blank, or for every blank that there is none."""
    cloze = Cloze.objects.get(filling=call.step.instrument_id)
    blanks = list(Item.objects.filter(instrument=cloze.filling_id).order_by("position"))
    text_by_number = fills.parse_fills(completion.text, finish_reason=completion.finish_reason, document=cloze.parsed)
    if isinstance(text_by_number, parsing.Failure):
        return _unanswered(blanks, text_by_number)
    answers = [(item, Answer(value=text_by_number[n])) for n, item in enumerate(blanks, start=1)]
    return Interpretation(answers, Call.State.OK)


def _unanswered(items: list[Item], failure: parsing.Failure) -> Interpretation:
    state = Call.State(failure.state)
    return Interpretation([(item, Answer(outcome=OUTCOME_BY_STATE[state])) for item in items], state, failure.reason)
