"""What a completion means for a call: an answer for each item that it asked, or for each that there is none."""

from annotation import responses
from annotation.models import Response
from annotation.responses import Answer
from judges import filling, parsing
from judges.clients import Completion
from judges.models import Call
from studies.items import Shown
from studies.models import Cloze, Item

OUTCOME_BY_STATE = {
    Call.State.OK: Response.Outcome.ANSWERED,
    Call.State.REFUSED: Response.Outcome.DECLINED,
    Call.State.BLOCKED: Response.Outcome.DECLINED,
    Call.State.TRUNCATED: Response.Outcome.UNREADABLE,
    Call.State.UNREADABLE: Response.Outcome.UNREADABLE,
    Call.State.OUT_OF_RANGE: Response.Outcome.UNREADABLE,
}
Read = tuple[list[tuple[Item, Answer]], Call.State, str]


def read(call: Call, completion: Completion, protocol: str) -> Read:
    """What is recorded for a completion, the state in which its call ends, and why if that is not ok."""
    if call.item is None:
        return _read_fills(call, completion)
    seat = call.assignment.seat
    stories = [Shown(letter) for letter in responses.letters(seat.order)] if seat else []
    found = parsing.read(
        completion.text, finish_reason=completion.finish_reason, protocol=protocol, item=call.item, stories=stories
    )
    if isinstance(found, parsing.Verdict):
        return [(call.item, Answer(value=found.value, rationale=found.rationale))], Call.State.OK, ""
    state = Call.State(found.state)
    return [(call.item, Answer(outcome=OUTCOME_BY_STATE[state]))], state, found.reason


def _read_fills(call: Call, completion: Completion) -> Read:
    """The same for a whole story: the fill of every blank, or for every blank that there is none."""
    cloze = Cloze.objects.get(filling=call.step.instrument_id)
    blanks = list(Item.objects.filter(instrument=cloze.filling_id).order_by("position"))
    found = filling.read(completion.text, finish_reason=completion.finish_reason, document=cloze.parsed)
    if isinstance(found, parsing.Failure):
        state = Call.State(found.state)
        return [(item, Answer(outcome=OUTCOME_BY_STATE[state])) for item in blanks], state, found.reason
    return [(item, Answer(value=found[n])) for n, item in enumerate(blanks, start=1)], Call.State.OK, ""
