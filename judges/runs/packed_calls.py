"""Planned calls with their texts set aside, each once, as they will be stored.

As they are sent, the calls of one story hold its words once each: of a hundred thousand calls that is gigabytes.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from judges.models import Judge
from judges.planning import PlannedSeat
from judges.planning.readings import Pass
from judges.providers import Request
from judges.requests import PlannedCall, texts
from studies import hashing


def do_nothing() -> None:
    """The step of whoever waits for the plan."""


@dataclass
class CallPacker:
    """Packs the calls of a run.

    is_afresh : whether the run asks again what the study has a reply to already
    on_step : called after each seat
    """

    judge: Judge
    is_afresh: bool = False
    on_step: Callable[[], None] = do_nothing
    shelf: texts.Shelf = field(default_factory=texts.Shelf)
    _settings: dict[str, dict[str, Any]] = field(default_factory=dict)

    def pack_seat(self, seat: PlannedSeat, canary: str) -> PlannedSeat:
        """The seat with its calls packed. canary : of the run"""
        packed = replace(seat, calls=[self.pack(call, seat.reading, canary) for call in seat.calls])
        self.on_step()
        return packed

    def pack(self, call: PlannedCall, reading: Pass, canary: str) -> PlannedCall:
        """The call with the hashes of its texts, which are on the shelf; as it is if it is packed, or not sent yet: one
        that waits for another has no texts."""
        if "messages" not in call.request or call.waits:
            return call
        sha256 = self._fingerprint(call.request, reading, canary)
        stored = self.shelf.put_request(call.request, call.stories)
        return replace(call, request={}, stories={}, stored=self._share(stored), sha256=sha256)

    def render(self, call: PlannedCall) -> Request:
        """What is sent for the call."""
        return call.request if call.stored is None else self.shelf.render(call.stored)

    def _fingerprint(self, request: Request, reading: Pass, canary: str) -> str:
        """The hash of all that the call asks. Asked afresh, it is like no other run's."""
        apart = {"run": canary} if self.is_afresh else {}
        place = asdict(reading)
        if not reading.intervention:
            del place["intervention"]  # else what was hashed before there were any would be asked and paid again
        return texts.fingerprint(request, endpoint=self.judge.endpoint_id, **place, **apart)

    def _share(self, stored: dict[str, Any]) -> dict[str, Any]:
        """The request with its schema and parameters as the one object that all equal ones hold."""
        settings = {name: part for name, part in stored.items() if name != "messages"}
        shared = self._settings.setdefault(hashing.canonical_json(settings), settings)
        return shared | {"messages": stored["messages"]}
