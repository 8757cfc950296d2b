"""`python -m tools.trials`: the long experiments, and docs/trials.md with what came of them. Fails if one failed.

With --only a part of them is run, and the others keep what was found of them when they were last run.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tools import measurement
from tools.trials import record


@dataclass(frozen=True)
class Trial:
    """One experiment: what it shows, how it is run, and which of its numbers must be what.

    vendor : the database without which it shows nothing
    """

    name: str
    about: str
    run: Callable[[], dict[str, Any]]
    must: dict[str, Any]
    vendor: str = ""


def trials(scale: float = 1.0) -> list[Trial]:
    """All of them. Called once Django is set up.

    scale : of the storm over judges, which takes longest
    """
    from tests import triggers
    from tests.trust import crawl
    from tools.trials import faults, flips, judges, keys, older_copy, restarts, sessions, two_tabs

    def flipped() -> dict[str, Any]:
        with triggers.lifted():
            return flips.run(1000)

    n_groups, n_kills, n_ends = max(1, round(30 * scale)), round(20 * scale), round(5 * scale)

    return [
        Trial(
            "Crawl",
            "Every address of the site is asked for as everybody, in every manner; no answer holds what its reader may "
            "not see. At least 2,000 go to visitors who have no right to provenance.",
            crawl.run,
            {"patterns left out": [], "failed": [], "hits": []},
        ),
        Trial(
            "Flipped bytes",
            "One bit of one byte is changed in the database, behind triggers that were removed, one at a time; "
            "`verify_history` must find each.",
            flipped,
            {"flips": 1000, "found": 1000},
        ),
        Trial(
            "Faults on the way",
            "20 people answer 60 items each and change every answer once, over a line that drops, delays and doubles "
            "saves, to a gunicorn that is killed (SIGKILL to all of its processes) and restarted by turns.",
            lambda: faults.run(20, 60),
            {"answers": 1200, "lost": 0, "doubled": 0, "met themselves as a stranger": 0, "faults in the history": 0},
        ),
        Trial(
            "Two windows",
            "200 edits of three answers, in two windows by turns, of which a third never hear that they were saved.",
            lambda: two_tabs.run(200),
            {"edits": 200, "silent overwrites": 0},
        ),
        Trial(
            "Sessions ended in mid-sentence",
            "50 raters in a real browser lose their session on the server while they write, write on, leave or stay, "
            "and come in again by their link; then the whole sentence must be on the server. Its short form, "
            "`tests/tools/test_sessions.py`, needs no browser: it sends what a page kept.",
            lambda: in_a_browser(lambda browser: sessions.run(browser, 50)),
            {"sessions": 50, "kept": 50},
        ),
        Trial(
            "Backends ended",
            "20 people answer 40 items each and change every answer once, while all backends of the database are ended "
            "three times, as a restart of PostgreSQL does. A request sent more than a second later must not fail.",
            restarts.run,
            {"answers": 800, "times ended": 3, "lost": 0, "doubled": 0, "late": 0, "faults in the history": 0},
            vendor="postgresql",
        ),
        Trial(
            "An older copy of the database",
            "Under pages of the desk, of several questions and of a cloze, with words on the device that no server "
            "has, the database is put back to how it was two saves before; left open, opened anew, or closed with all "
            "of it acknowledged, they must bring every word. Its short form, `tests/tools/test_older_copy.py`, needs "
            "no browser.",
            lambda: in_a_browser(older_copy.run),
            {"pages": 9, "with every word": 9},
        ),
        Trial(
            "Keys faster than the network",
            "Y, J and N by chance, 24 in each of 30 runs in a real browser: one every 60 to 400 ms, while a request "
            "takes up to 400 ms more. Keys count in their order, as if the network took no time: what is "
            "stored must be what they ask for, and the question shown in the end the one to which they lead.",
            lambda: in_a_browser(lambda browser: keys.run(browser, 30)),
            {"runs": 30, "answers other than the key": 0, "moves lost": 0},
        ),
        Trial(
            "Judges: a storm",
            f"A judge makes {168 * n_groups:,} calls, 128 at once, to a server that fails (20 %), hangs (5 %; "
            "time-out 120 s), sends rubbish (3 %) and answers 429 for two of every fifteen seconds. Of three "
            f"workers one is killed (SIGKILL) {n_kills} times and told to end (SIGTERM) {n_ends} times; "
            "every message is sent twice. On PostgreSQL messages go over a Redis of the trial's own, which is "
            "killed twice and forgets them. An attempt is unexplained if its result is unknown though no worker "
            "was killed or ended while it was under way.",
            lambda: judges.run_storm(n_groups, n_kills=n_kills, n_ends=n_ends),
            {"calls": 168 * n_groups, "state": "finished", "in a terminal state": 168 * n_groups, "stuck": 0}
            | {"without an answer": 0}
            | {"doubled": 0, "requests that no row tells of": 0, "calls answered twice": 0, "unexplained": 0}
            | {"paid beyond those": 0, "above the limit": 0, "ends of more than 10 s": 0},
        ),
        Trial(
            "Judges: one limit",
            "Two judges with 504 calls each at one endpoint that takes 200 at once, four workers that are up, and "
            "eight messages at least. The server counts.",
            judges.run_limit,
            {"calls": 1008, "ok": 1008, "workers that sent some": 4, "requests": 1008, "above the limit": 0},
        ),
        Trial(
            "Judges: half of the budget",
            "A budget, in US dollars, of half of what all calls of a run cost.",
            judges.run_budget,
            {"state": "waiting", "above the budget": "0.000"},
        ),
        Trial(
            "Judges: bursts of 429",
            "A server that answers 429 for five of every fifteen seconds, at 64 calls at once of a second each.",
            judges.run_bursts,
            {"calls": 1512, "state": "finished", "stuck": 0, "without an answer": 0, "doubled": 0},
        ),
        Trial(
            "Judges: all refused",
            "Every call is refused, with 400, then in another study with 402. At most five are sent, nothing is "
            "submitted, and the study goes on once that was mended.",
            judges.run_refusals,
            {f"{status}: {name}": value for status in (400, 402) for name, value in judges.ONCE_REFUSED.items()},
        ),
        Trial(
            "Judges: the next call after a kill",
            "An endpoint that is worth one worker. The worker is killed (SIGKILL) three times, and another started: "
            "seconds until the next call. Then it is told to end (SIGTERM) while its calls take a minute each.",
            judges.run_ends,
            {"kills": 3, "waits of more than 45 s": 0, "ends of more than 10 s": 0},
        ),
    ]


def in_a_browser(run: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    """What a trial finds with a new Chromium, which it is given."""
    from django.db import connection
    from playwright.sync_api import sync_playwright

    from tests.chromium import ARGS, CHROMIUM

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        try:
            return run(browser)
        finally:
            browser.close()
            # Beside Playwright's event loop this is a connection of its own, which the next trial might end.
            connection.close()


def _connect_anew() -> None:
    """Let the next query have a new connection: the trial before may have ended this one."""
    from django.db import connection

    connection.close()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.trials", description=__doc__)
    parser.add_argument("--only", action="append", default=[], help="the trials whose name contains this, or that")
    parser.add_argument("--postgres", metavar="URL", help="on this PostgreSQL, in place of the configured database")
    parser.add_argument("--scale", type=float, default=1.0, help="of the storm over judges; 1: 5,040 calls, 20 kills")
    arguments = parser.parse_args()
    if arguments.postgres:
        os.environ["DATABASE_URL"] = arguments.postgres
    commit, failures = measurement.commit(), list[str]()
    with measurement.own_database() as database:
        from django.utils import timezone

        all_trials = trials(arguments.scale)
        order = [trial.name for trial in all_trials]
        for trial in choose(all_trials, arguments.only):
            if trial.vendor and not database.lower().startswith(trial.vendor):
                measurement.progress(f"{trial.name} needs {trial.vendor}: --postgres URL")
                continue
            measurement.progress(f"{trial.name} …")
            _connect_anew()
            started_at = time.monotonic()
            result = trial.run()
            seconds = time.monotonic() - started_at
            day = timezone.now().date()
            run = record.Run(trial.name, trial.about, result, trial.must, database, seconds, commit, day)
            measurement.progress(run.words())
            # At once, so that a trial that breaks off takes nothing of the ones before it with it.
            page = (measurement.ROOT / record.PAGE).read_text()
            measurement.write(record.PAGE, record.put_into(page, run, order))
            failures += [f"{trial.name}: {name} is {result.get(name)}" for name in run.broken]
    for failure in failures:
        measurement.progress(f"does not hold: {failure}")
    return bool(failures)


def choose(all_trials: list[Trial], only: list[str]) -> list[Trial]:
    """Those whose names contain any of the words; all of them, where there are no words."""
    return [trial for trial in all_trials if not only or any(word.lower() in trial.name.lower() for word in only)]


if __name__ == "__main__":
    sys.exit(main())
