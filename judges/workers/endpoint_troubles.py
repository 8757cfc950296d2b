"""What failures say of an endpoint: that it needs a rest, that somebody has to see to it, or nothing yet."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from judges.endpoints import limits
from judges.models import Call, Endpoint, Run
from judges.models.notes import BLOCKED_IN_A_ROW, FAILED, REFUSED_ALIKE
from judges.providers import CallFailed, Completion, FailureKind
from judges.settlement import Ended, subjects
from judges.settlement.subjects import Stories

# Kinds of failure after which no request gets an answer before a person has mended something.
OF_ENDPOINT = (FailureKind.KEY, FailureKind.CREDIT, FailureKind.REDIRECT, FailureKind.ADDRESS)
# Kinds by which a provider refuses one story as it refuses all requests: only the number of stories tells.
REFUSALS = (FailureKind.BAD_REQUEST, FailureKind.FORBIDDEN)
N_EQUAL_REFUSALS = 5
# Failures that do not ask for a wait: so many without an answer between, and the endpoint needs a rest. Of many calls
# at once more fail in a row by chance, so there it is one in so many of them.
N_FAILED_IN_A_ROW = 3
IN_A_ROW_PART = 8
RESTING = (FailureKind.OVERLOAD, FailureKind.CONNECTION, FailureKind.TIMEOUT, FailureKind.BROKEN_OFF)
# A server may fail in these ways over one story: of that the first counts. So it may with HTTP 500.
OVER_A_TEXT = (FailureKind.TIMEOUT, FailureKind.BROKEN_OFF)
# HTTP statuses that ask for less.
TOO_MUCH = (429, 503, 529)
# What differs between refusals in the same words: numbers of requests, counts, times.
_NUMBERS = re.compile(r"[\w-]*\d[\w-]*")


class Troubles:
    """One worker's failures at an endpoint since the last answer."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._n_in_a_row = 0
        self._stories_in_a_row: set[str] = set()
        self._refusals: list[Ended] = []
        self._words = ""  # of those refusals
        self._blocked: list[Ended] = []  # by a filter
        self._has_rested = False

    def note_refusals(self, ended: Iterable[Ended]) -> None:
        """Keep equal refusals in a row, and in a row what a filter stopped, which may say so of every text."""
        for e in ended:
            if isinstance(e.result, Completion) and e.result.refusal:
                self._blocked.append(e)
            elif isinstance(e.result, Completion):
                self._refusals.clear()
                self._blocked.clear()
            elif e.result.kind in REFUSALS and not e.ends_nothing:
                words = _NUMBERS.sub("", str(e.result))
                if words != self._words:
                    self._refusals.clear()
                    self._words = words
                self._refusals.append(e)

    def follow(self, ended: Iterable[Ended], *, share: int, at: datetime) -> None:
        """Rest the endpoint, or have a person see to it, as its failures say.

        share : how many calls at once this worker may have
        """
        for e in ended:
            if isinstance(e.result, Completion) and e.result.refusal:
                continue
            if isinstance(e.result, Completion):
                self._n_in_a_row = 0
                self._stories_in_a_row.clear()
                if self._has_rested:
                    limits.note_answer(self.endpoint)
                    self._has_rested = False
            elif e.ends_nothing and e.result.kind not in (FailureKind.OVERLOAD, FailureKind.CONNECTION):
                continue  # a probe's, which stops its run alone
            else:
                self.follow_failure(e.result, subjects.find_stories(e.call), share=share, at=at)
        for sentence, refusals in ((REFUSED_ALIKE, self._refusals), (BLOCKED_IN_A_ROW, self._blocked)):
            if self._are_of_endpoint(refusals):
                self._ask_attention(sentence, refusals)

    def _are_of_endpoint(self, refusals: Sequence[Ended]) -> bool:
        """Whether so many stories were refused that it is not theirs.

        Fourteen refusals of one story, or those of five readings or pairs with it, are that story's.
        """
        n = subjects.count_apart(subjects.find_stories(e.call) for e in refusals)
        if n < 2 or n >= N_EQUAL_REFUSALS or any(_kind_of(e) != FailureKind.FORBIDDEN for e in refusals):
            return n >= N_EQUAL_REFUSALS
        # The calls of these are still to be answered; where few others are, no fifth story ever comes.
        running = Run.objects.filter(judge__endpoint=self.endpoint, state=Run.State.RUNNING)
        return n >= sum(subjects.count_apart(subjects.load_pending(run)) for run in running)

    def _ask_attention(self, sentence: str, refusals: list[Ended]) -> None:
        pks = [e.call.pk for e in refusals]
        Call.objects.filter(pk__in=pks, state=Call.State.PROVIDER_ERROR).update(state=Call.State.PLANNED)
        last = refusals[-1].result
        reason = str(last.refusal if isinstance(last, Completion) else last)
        limits.ask_attention(self.endpoint, sentence, n=len(refusals), reason=reason)
        refusals.clear()

    def follow_failure(self, failure: CallFailed, stories: Stories, *, share: int, at: datetime) -> None:
        """Rest the endpoint, or have a person see to it, as this failure says after those before it.

        stories : that the call was about
        """
        if failure.kind in OF_ENDPOINT or failure.kind == FailureKind.UNKNOWN_MODEL:
            limits.ask_attention(self.endpoint, FAILED, kind=failure.kind.value, reason=str(failure))
        elif failure.kind in RESTING:
            may_be_of_text = failure.kind in OVER_A_TEXT or failure.status == 500
            if not may_be_of_text or not stories <= self._stories_in_a_row:
                self._n_in_a_row += 1
            self._stories_in_a_row |= stories
            asks_for_less = failure.status in TOO_MUCH or failure.retry_after is not None
            if asks_for_less or self._n_in_a_row >= max(N_FAILED_IN_A_ROW, share // IN_A_ROW_PART):
                limits.rest(self.endpoint, str(failure), seconds=failure.retry_after, at=at)
                self._has_rested = True


def _kind_of(ended: Ended) -> FailureKind | None:
    return ended.result.kind if isinstance(ended.result, CallFailed) else None
