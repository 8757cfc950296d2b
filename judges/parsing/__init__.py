"""What a model's reply says: a verdict for each item, or why there is none. No Django models here.

Parsing is a step of its own over replies that are kept as they came, so that it can be improved and run again without
a call. What does not parse is unreadable; nothing is guessed, and nothing missing ever counts as No. A verdict stands
in its place and is the only one: a reply that gives two different ones, or only a quoted one, is unreadable.
"""

from collections.abc import Sequence

from judges import reasons
from judges.parsing.cleanup import clean_reply, find_refusal, strip_fence, strip_unstorable
from judges.parsing.grades import Grade, grade_verdicts
from judges.parsing.outcomes import FORMS, Failure, State, Verdict, Verdicts
from judges.parsing.recognition import RecognitionReply, parse_recognition, score_recognition
from judges.parsing.several import parse_several
from judges.parsing.single import parse_one
from judges.parsing.values import Allowed
from judges.prompts import Question, leaks_canary
from studies.items import StoryLabel

__all__ = [
    "FORMS",
    "LEAKED",
    "VERSION",
    "Failure",
    "Grade",
    "RecognitionReply",
    "State",
    "Verdict",
    "Verdicts",
    "clean_reply",
    "find_refusal",
    "grade_verdicts",
    "parse_recognition",
    "parse_reply",
    "score_recognition",
    "strip_fence",
    "strip_unstorable",
]

VERSION = "7"
LEAKED = reasons.LEAKED


def parse_reply(
    text: str,
    *,
    finish_reason: str,
    protocol: str,
    items: Sequence[Question],
    stories: Sequence[StoryLabel] = (),
    canary: str = "",
    by_key: bool = False,
) -> Verdicts | Failure:
    """The verdict on each of the items that were asked in one call, or the failure that the reply is.

    text : the reply as it was stored; nothing else of the call is needed, so that old replies can be read again
    finish_reason : as the provider says it; "refusal" if the provider marked the text as one
    protocol : "reasoning_first" takes the answer from the end of the reply, "verdict_first" from its beginning
    canary : the run's code that must not come back, if it had one
    by_key : the answer was asked for under the item's key also if there is one item

    One answer that is missing, not allowed or contradicted is a failure of its item alone.
    """
    reply = clean_reply(text, finish_reason=finish_reason)
    if isinstance(reply, Failure):
        return reply
    # Thoughts whose beginning did not come back may be a text that is quoted, and the code with it.
    if leaks_canary(text if "<think" not in text.lower() else reply, canary):
        return Failure("unreadable", LEAKED)
    if by_key or len(items) > 1:
        return parse_several(reply, protocol=protocol, items=items, stories=stories)
    (item,) = items
    verdict = parse_one(reply, protocol=protocol, allowed=Allowed(item, stories))
    return verdict if isinstance(verdict, Failure) else Verdicts({item.key: verdict})
