"""What failures say of an endpoint: that it needs a rest, that somebody has to see to it, or nothing yet."""

from collections.abc import Iterable
from datetime import datetime

from judges.endpoints import limits
from judges.models import Call, Endpoint
from judges.models.notes import FAILED, REFUSED_ALIKE
from judges.providers import CallFailed, Completion, FailureKind
from judges.settlement import Ended

# Kinds of failure after which no request gets an answer before a person has mended something.
OF_ENDPOINT = (FailureKind.KEY, FailureKind.CREDIT, FailureKind.REDIRECT, FailureKind.ADDRESS)
N_EQUAL_BAD_REQUESTS = 5
# Failures that do not ask for a wait: so many without an answer between, and the endpoint needs a rest. Of many calls
# at once more fail in a row by chance, so there it is one in so many of them.
N_FAILED_IN_A_ROW = 3
IN_A_ROW_PART = 8
# HTTP statuses that ask for less.
TOO_MUCH = (429, 503, 529)


class Troubles:
    """One worker's failures at an endpoint since the last answer."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._n_in_a_row = 0
        self._bad_requests: list[Ended] = []
        self._has_rested = False

    def note_bad_requests(self, ended: Iterable[Ended]) -> None:
        """Of equal refusals in a row the last plans its call again, as those before it will be: it is not the words."""
        for e in ended:
            if isinstance(e.result, Completion):
                self._bad_requests.clear()
            elif e.result.kind == FailureKind.BAD_REQUEST and not e.ends_nothing:
                before = self._bad_requests
                if before and str(before[-1].result) != str(e.result):
                    before.clear()
                before.append(e)

    def follow(self, ended: Iterable[Ended], *, share: int, at: datetime) -> None:
        """Rest the endpoint, or have a person see to it, as its failures say.

        share : how many calls at once this worker may have
        """
        for e in ended:
            if isinstance(e.result, Completion):
                self._n_in_a_row = 0
                if self._has_rested:
                    limits.note_answer(self.endpoint)
                    self._has_rested = False
            elif e.ends_nothing and e.result.kind not in (FailureKind.OVERLOAD, FailureKind.CONNECTION):
                continue  # a probe's, which stops its run alone
            else:
                self.follow_failure(e.result, share=share, at=at)
        bad = self._bad_requests
        # Fourteen refusals of one story are that story's.
        if len({(e.call.assignment_id, e.call.story_id) for e in bad}) >= N_EQUAL_BAD_REQUESTS:
            pks = [e.call.pk for e in bad]
            Call.objects.filter(pk__in=pks, state=Call.State.PROVIDER_ERROR).update(state=Call.State.PLANNED)
            limits.ask_attention(self.endpoint, REFUSED_ALIKE, n=len(bad), reason=str(bad[-1].result))
            bad.clear()

    def follow_failure(self, failure: CallFailed, *, share: int, at: datetime) -> None:
        """Rest the endpoint, or have a person see to it, as this failure says after those before it."""
        if failure.kind in OF_ENDPOINT or failure.kind == FailureKind.UNKNOWN_MODEL:
            limits.ask_attention(self.endpoint, FAILED, kind=failure.kind.value, reason=str(failure))
        elif failure.kind in (FailureKind.OVERLOAD, FailureKind.CONNECTION, FailureKind.TIMEOUT):
            self._n_in_a_row += 1
            asks_for_less = failure.status in TOO_MUCH or failure.retry_after is not None
            if asks_for_less or self._n_in_a_row >= max(N_FAILED_IN_A_ROW, share // IN_A_ROW_PART):
                limits.rest(self.endpoint, str(failure), seconds=failure.retry_after, at=at)
                self._has_rested = True
