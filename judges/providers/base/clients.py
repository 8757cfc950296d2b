"""What comes back to a vendor's library, whatever its status: without the key, and as a failure where it is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from judges.providers.base.completions import Completion, outcome_of
from judges.providers.base.failures import CallFailed, failure_of

if TYPE_CHECKING:
    from judges.providers.base import Connection


class LibraryClient:
    """A client by a vendor's library. request_id_header : in which the vendor numbers its replies"""

    request_id_header: ClassVar[str]

    def __init__(self, connection: Connection) -> None:
        from judges.providers.base import network

        self._connection = connection
        self._network = network

    def check_success(self, response: Any) -> None:
        """Raise CallFailed if the status is not one of success."""
        if not response.is_success:
            body = self.without_key(response.text)
            raise failure_of(response.status_code, body, response.headers, request_id=self._request_id(response))

    def completion_instead(self, failure: CallFailed) -> Completion:
        """The empty reply that stands for the refusal of a filter. Raises any other failure."""
        outcome = outcome_of(failure)
        if isinstance(outcome, CallFailed):
            raise outcome
        return outcome

    def without_key(self, text: str) -> str:
        """What came back, as it may be kept."""
        return text.replace(self._connection.key, "[key]") if self._connection.key else text

    def _request_id(self, response: Any) -> str:
        return self.without_key(response.headers.get(self.request_id_header, ""))
