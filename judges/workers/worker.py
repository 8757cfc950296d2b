"""Workers: a loop that keeps an endpoint's window full, and a ledger that keeps its rows.

A window of calls is under way. As one is answered the next is sent, from a few that stand ready, so that none waits for
the slowest; answers are settled together, after so many or so long.
"""

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from judges import reasons
from judges.models import Endpoint, Run
from judges.providers import CallFailed, CannotConnect, Client, Completion, FailureKind
from judges.settlement import Ended
from judges.workers.jobs import Ready
from judges.workers.ledger import Ledger, Turn
from judges.workers.loops import Database, run_beside

__all__ = ["CannotConnect", "Shift", "complete", "stopping", "work"]

log = logging.getLogger(__name__)

# Answers are settled together: at most so many, and none waits longer than this.
N_TOGETHER = 256
TOGETHER_SECONDS = 0.1
# While there is room for calls that are not written down yet no more are settled before: those wait for it.
N_BEFORE_NEXT = 32
# With nothing ready to be sent in its place an answer is settled almost at once.
SOON_SECONDS = 0.005
# One in so many of the window stands ready, so that it stays full while answers are settled.
READY_PART = 8
# What is under way gets so long to come back after the worker was told to end.
GRACE_SECONDS = 6.0
GLANCE_SECONDS = 0.25

# Set when this process is told to end: no worker of it begins another call.
stopping = threading.Event()


@dataclass(frozen=True)
class Shift:
    """A worker's settings: how long it stays, what ends it, and whom it informs.

    seconds : after how long it begins no more calls; None to go on until nothing is left
    stays : it goes on all the same, as long as no other endpoint waits for a worker
    tell : called in the database's thread after every settlement
    hand_over : called there once it begins no more calls, unless it was told to end
    stop : set when it is told to end
    """

    seconds: float | None = None
    stays: bool = False
    tell: Callable[[], None] = lambda: None
    hand_over: Callable[[], None] = lambda: None
    clock: Callable[[], datetime] = timezone.now
    stop: threading.Event = stopping


class Worker:
    """One worker's loop at one endpoint, from when it takes a share until it has given it up."""

    def __init__(self, ledger: Ledger, client: Client, database: Database, shift: Shift) -> None:
        self._ledger, self._client, self._database = ledger, client, database
        self._shift, self._clock, self._stop = shift, shift.clock, shift.stop
        self._until = None if shift.seconds is None else time.monotonic() + shift.seconds
        self._pace = ledger.begin_pace()
        self._has_sent = False
        self._ready: deque[Ready] = deque()
        self._under_way: dict[asyncio.Task[Ended], float] = {}  # with when they were sent, the oldest first
        self._ended: list[Ended] = []
        self._ended_since = 0.0
        self._n_answered = 0
        self._event = asyncio.Event()

    async def run(self) -> None:
        """Work until nothing is left, time is up, or the process is told to end."""
        try:
            await self._work()
        finally:
            for task in self._under_way:
                task.cancel()
            await asyncio.gather(*self._under_way, return_exceptions=True)
            await self._client.close()

    async def _work(self) -> None:
        grace_until: float | None = None
        unsent: list[Ready] = []
        while True:
            if self._ledger.is_leaving or self._is_time_up():
                unsent += self._ready
                self._ready.clear()
                await self._begin_leaving()
            if self._stop.is_set():
                grace_until = grace_until or time.monotonic() + GRACE_SECONDS
            turn = await self._turn(unsent)
            unsent = [ready for ready in self._ready if ready.attempt.call.run_id not in turn.open_runs]
            self._ready = deque(ready for ready in self._ready if ready.attempt.call.run_id in turn.open_runs)
            self._ready.extend(turn.ready)
            self._fill()
            is_grace_over = grace_until is not None and time.monotonic() >= grace_until
            is_done = not self._under_way and not self._ended and not self._ready
            if is_grace_over or (is_done and not unsent and (turn.is_idle or self._ledger.is_leaving)):
                break
            await self._wait(turn, grace_until)
        attempts = [ready.attempt for ready in [*unsent, *self._ready]]
        await self._database(self._ledger.leave, attempts, size=self._size_borne, at=self._clock())

    async def _begin_leaving(self) -> None:
        """Leave the place to a successor, which need not wait for what is still under way here."""
        if self._ledger.is_leaving:
            return
        await self._database(self._ledger.begin_leaving, n_busy=self._n_busy, at=self._clock())
        if not self._stop.is_set():
            await self._database(self._shift.hand_over)

    @property
    def _n_busy(self) -> int:
        """How many calls are under way, or may be before the next turn."""
        return len(self._under_way) + min(self._n_free, len(self._ready))

    @property
    def _size_borne(self) -> int | None:
        """How many calls at once the endpoint was found to bear; None if that was not tried."""
        return self._pace.lasting_size if self._has_sent else None

    @property
    def _has_room(self) -> bool:
        """Whether a call more could be under way if it were written down."""
        return not self._ready and self._n_free > 0

    @property
    def _n_free(self) -> int:
        """How many calls more may be under way now."""
        return self._pace.n_free(self._under_way.values())

    async def _turn(self, unsent: list[Ready]) -> Turn:
        """Settle what has come back so far, and see what comes next."""
        is_leaving = self._ledger.is_leaving or self._stop.is_set()
        n = N_BEFORE_NEXT if self._has_room and not is_leaving else N_TOGETHER
        ended, self._ended = self._ended[:n], self._ended[n:]
        self._ended_since = time.monotonic()
        self._event.clear()
        n_busy = self._n_busy
        n_wanted = max(0, self._n_free + self._pace.limit // READY_PART - len(self._ready))
        if (n_left := self._pace.n_left()) is not None:
            n_wanted = min(n_wanted, max(0, n_left - len(self._ready)))
        size = self._size_borne
        given_back = [ready.attempt for ready in unsent]

        def turn() -> Turn:
            turn = self._ledger.turn(ended, given_back, n_wanted=n_wanted, n_busy=n_busy, size=size, at=self._clock())
            if ended:
                self._shift.tell()
            return turn

        result = await self._database(turn)
        if self._has_sent:
            self._pace.set_share(result.share)
        else:  # the first share may be none of it yet
            self._pace = self._ledger.begin_pace()
        return result

    def _fill(self) -> None:
        """Send what stands ready, as much as the window holds."""
        for _ in range(min(self._n_free, len(self._ready))):
            if self._stop.is_set():
                return
            ready = self._ready.popleft()
            self._pace.note_sending()
            self._has_sent = True
            sent_at = time.monotonic()
            task = asyncio.create_task(self._send(ready, sent_at))
            self._under_way[task] = sent_at
            task.add_done_callback(self._come_back)

    async def _send(self, ready: Ready, sent_at: float) -> Ended:
        n_answered = self._n_answered
        result = await complete(self._client, ready.request)
        ended = Ended(ready.attempt, result, self._clock(), protocol=ready.protocol)
        if isinstance(result, Completion):
            self._n_answered += 1
            self._pace.note_answer(sent_at=sent_at)
        else:
            ended.was_endpoint_well = self._n_answered > n_answered
            if result.status in (429, 529) and result.kind == FailureKind.OVERLOAD:
                self._pace.note_overload(sent_at=sent_at)
        self._pace.note_limits(result.limits)
        return ended

    def _come_back(self, task: asyncio.Task[Ended]) -> None:
        """Note what came back, and send the next in its place: in one step, since settling counts both."""
        del self._under_way[task]
        if not task.cancelled():
            if not self._ended:
                self._ended_since = time.monotonic()
            self._ended.append(task.result())
        self._fill()
        self._event.set()

    async def _wait(self, turn: Turn, grace_until: float | None) -> None:
        """Wait until there is something to settle, or it is time to look again."""
        look_at = time.monotonic() + turn.pause
        while (seconds := self._due_at(look_at) - time.monotonic()) > 0:
            if self._stop.is_set() and (grace_until is None or time.monotonic() >= grace_until):
                return
            self._event.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._event.wait(), min(seconds, GLANCE_SECONDS))

    def _due_at(self, look_at: float) -> float:
        """When the next settlement is due: soon if there is room for a call that is not written down yet."""
        if not self._ended:
            return look_at
        if len(self._ended) >= N_TOGETHER or not self._under_way:
            return 0.0
        return min(look_at, self._ended_since + (SOON_SECONDS if self._has_room else TOGETHER_SECONDS))

    def _is_time_up(self) -> bool:
        if self._stop.is_set():
            return True
        is_late = self._until is not None and time.monotonic() >= self._until
        return is_late and (self._ledger.is_wanted_elsewhere or not self._shift.stays)


async def complete(client: Client, request: dict[str, object]) -> Completion | CallFailed:
    """What came back for the request, or why nothing did."""
    try:
        return await client.complete(request)
    except CallFailed as failure:
        return failure
    except Exception as error:
        # A client's own fault must not take down the calls beside it. No traceback: it could show the key.
        log.warning("a client failed with %s", type(error).__name__)
        return CallFailed(reasons.CLIENT_FAILED % {"error": type(error).__name__}, kind=FailureKind.CLIENT)


def work(endpoint: Endpoint, shift: Shift = Shift(), *, only: Run | None = None) -> bool:
    """Work at the endpoint, here and now; False if there were workers enough without this one.

    only : work at this run and leave the endpoint's others alone
    The queries run in the thread of the caller, the calls in a loop beside it. Raises CannotConnect.
    """
    ledger = Ledger(endpoint, only=only, at=shift.clock())
    if not ledger.enter(at=shift.clock()):
        return False
    try:
        client = ledger.connect()
    except BaseException:
        ledger.leave([], size=None, at=shift.clock())
        raise

    async def main(database: Database) -> None:
        await Worker(ledger, client, database, shift).run()

    run_beside(main, interrupt=shift.stop)
    return True
