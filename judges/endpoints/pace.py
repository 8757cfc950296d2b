"""How many calls at once an endpoint bears: learnt from what it answers, never above what it was set to."""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from itertools import takewhile
from math import ceil

from judges.providers import Limits

# A call that takes so many times as long as answers do, and so many seconds at least, hangs: the endpoint is not busy
# with it as with the others.
HANGING_TIMES = 8
HANGING_SECONDS = 10.0
# An answer changes what is taken for their usual time by one in so many parts.
MEMORY = 32
# So much of what was borne before comes back with as many answers.
BACK_AT_ONCE = 0.75


@dataclass
class Pace:
    """The window of one worker at one endpoint: halved when the endpoint says that it is too much, then widened again.

    By one a window, but by one an answer up to three quarters of what was borne before: a bad minute must not narrow an
    hour, nor a server that is busy for two seconds of every fifteen keep it narrow.

    share : how many calls at once this worker may have at most
    size : how many it takes to be borne
    usual_seconds : how long an answer takes; None until one comes, if none came to others before
    """

    share: int
    size: int
    usual_seconds: float | None = None
    clock: Callable[[], float] = time.monotonic
    _halved_at: float = field(default=float("-inf"))
    _is_answering: bool = True  # a call that was sent since it was halved
    _n_answered: int = 0
    _borne: int = 0  # the largest window that was answered as a whole; less by an eighth with every halving
    _limits: Limits | None = None
    _limits_at: float = 0.0

    def __post_init__(self) -> None:
        """A window that begins narrowed was handed on by another worker, as `lasting_size` has it."""
        if self.size < self.share:
            self._borne = min(ceil(self.size / BACK_AT_ONCE), self.share)

    @property
    def limit(self) -> int:
        """How many calls may be under way now."""
        return min(self.share, self.size)

    @property
    def lasting_size(self) -> int:
        """What a worker that comes after this one begins with: to there the window comes back with as many answers.

        The window itself would not do. Of workers that are killed in a bad minute each would begin as narrow as the one
        before it had become, and none would know what was borne.
        """
        return max(self.limit, min(self._back_at_once, self.share))

    def set_share(self, share: int) -> None:
        """Take another share of the endpoint; of a window that was never narrowed the whole of it."""
        if self.size >= self.share:
            self.size = share
        self.share = share

    def note_answer(self, *, sent_at: float) -> None:
        """Widen the window by one if it is far below what was borne, or once a whole window was answered."""
        seconds = self.clock() - sent_at
        usual = self.usual_seconds
        self.usual_seconds = seconds if usual is None else usual + (seconds - usual) / MEMORY
        self._n_answered += 1
        self._is_answering |= sent_at > self._halved_at
        if self._n_answered >= self.limit:
            self._borne = max(self._borne, self.limit)
        elif self.size >= self._back_at_once:
            return
        self._n_answered = 0
        self.size += self.size < self.share

    def note_overload(self, *, sent_at: float) -> bool:
        """Halve the window; False for a call that tells nothing new.

        It was sent before the last time, or no call that was sent since then was answered: an endpoint that refuses all
        of them needs a rest, and not a narrower window.
        """
        if sent_at <= self._halved_at or not self._is_answering:
            return False
        self._halved_at, self._is_answering = self.clock(), False
        self._borne -= self._borne // 8
        self.size = max(1, min(self.size, self.share) // 2)
        self._n_answered = 0
        return True

    @property
    def _back_at_once(self) -> int:
        return int(self._borne * BACK_AT_ONCE)

    def n_free(self, sent_at: Collection[float]) -> int:
        """How many calls more may be under way beside those that were sent then, the oldest first.

        Those that hang count for the share and not for the window: a narrow one would hold nothing else.
        """
        n_hanging = 0
        if self.usual_seconds is not None:
            before = self.clock() - max(HANGING_SECONDS, HANGING_TIMES * self.usual_seconds)
            n_hanging = sum(1 for _ in takewhile(lambda at: at < before, sent_at))
        return max(0, min(self.share, self.size + n_hanging) - len(sent_at))

    def note_limits(self, limits: Limits | None) -> None:
        """What the provider said last of its minute."""
        if limits is not None:
            self._limits, self._limits_at = limits, self.clock()

    def n_left(self) -> int | None:
        """How many requests more the provider takes before its window ends, as it said itself; None if it did not."""
        limits, seconds = self._limits, self.clock() - self._limits_at
        if limits is None:
            return None
        lefts = [
            left
            for left, reset in (
                (limits.n_requests_left, limits.requests_reset_seconds),
                # Of tokens all that counts here is that none is left: how many a call takes, nobody knows before.
                (0 if limits.n_tokens_left == 0 else None, limits.tokens_reset_seconds),
            )
            if left is not None and reset is not None and seconds < reset
        ]
        return min(lefts, default=None)

    def note_sending(self) -> None:
        """One request more of those that the provider still takes."""
        if self._limits is not None and self._limits.n_requests_left:
            self._limits = replace(self._limits, n_requests_left=self._limits.n_requests_left - 1)
