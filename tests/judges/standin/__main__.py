"""The stand-in by itself, for benches and trials: `python -m tests.judges.standin --port 9000 --delay 1`.

Prints its base URL once it listens. POST /v1/tell {"script": [{"body": …, "status": 429}]} orders its next replies, GET
/v1/seen counts. What becomes of a hit is drawn from the request and how often it has come, so it is the same each time
that the trial is run, and another try may fare better.
"""

import argparse
import hashlib
import signal
import time
from dataclasses import dataclass, replace

from tests.judges.standin.replies import BUSY, ERROR, GARBAGE, HANG, NO, YES, Reply
from tests.judges.standin.server import Hit, StandIn, serving


@dataclass(frozen=True)
class Faults:
    """Which share of the hits gets what, and what the others wait for."""

    delay: float = 0.0
    slow_share: float = 0.0
    slow_times: float = 8.0
    errors: float = 0.0
    hangs: float = 0.0
    malformed: float = 0.0
    busy_seconds: float = 0.0
    busy_every: float = 15.0
    yes_rate: float = 1.0
    seed: int = 0

    def reply(self, hit: Hit, *, n_before: int, seconds: float) -> Reply:
        """What to say to a hit: one of its call that so many came before, so many seconds after the start."""
        if seconds % self.busy_every < self.busy_seconds:
            return replace(BUSY, headers={"Retry-After": "1"})
        fate = self._draw("fate", hit, n_before)
        for share, reply in ((self.errors, ERROR), (self.hangs, HANG), (self.malformed, GARBAGE)):
            if fate < share:
                return replace(reply, delay=self.delay)
            fate -= share
        is_slow = self._draw("slow", hit, n_before) < self.slow_share
        verdict = YES if self._draw("verdict", hit, 0) < self.yes_rate else NO
        return replace(verdict, delay=self.delay * (self.slow_times if is_slow else 1.0))

    def _draw(self, what: str, hit: Hit, n_before: int) -> float:
        digest = hashlib.sha256(f"{self.seed} {what} {hit.call} {n_before}".encode()).digest()
        return int.from_bytes(digest[:8]) / 2**64


def order(standin: StandIn, faults: Faults) -> None:
    """Have the stand-in deal out the faults from now on."""
    started_at = time.monotonic()
    standin.reply = lambda hit: faults.reply(
        hit, n_before=standin.n_by_call[hit.call] - 1, seconds=time.monotonic() - started_at
    )
    standin.is_quick = True


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.judges.standin", description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    for name, default in vars(Faults()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default)
    options = vars(parser.parse_args())
    ends = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)  # also for the threads to come: else one of them dies of it
    with serving(options.pop("port")) as standin:
        order(standin, Faults(**options))
        print(standin.base_url, flush=True)
        signal.sigwait(ends)


if __name__ == "__main__":
    main()
