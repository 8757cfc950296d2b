"""A judge at work over a bad line, at workers that are killed: is any call lost, doubled, stuck or paid in vain?"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import httpx2
import numpy as np
from django.db.models import Count, Sum

from annotation.models import Assignment, Response, ResponseEvent
from judges import runs
from judges.models import Attempt, Call, Price, Run
from studies.models import Study
from tests.judges import standin as told
from tests.judges.standin import Reply, serving
from tools.bench.judges import make_judge, make_study, standing_in
from tools.trials.judges_processes import End, fleet

# Seconds between two of the things that befall the workers, once all of them are up again.
PAUSES = (4.0, 14.0)
N_WORKERS = 3
N_AT_ONCE = 128
LONGEST_SECONDS = 1800
# What must be true of calls that were all refused.
ONCE_REFUSED = {"sent more than five": False, "submitted": 0, "once mended": "finished, ok 168"}


def run_storm(n_groups: int = 30, *, n_kills: int = 20, n_ends: int = 5, n_restarts: int = 2) -> dict[str, Any]:
    """Calls to a server that fails, hangs, sends rubbish and is busy at times; workers killed and ended meanwhile.

    n_groups : of twelve stories with fourteen tests each, 168 calls
    paid at most : requests that were answered, or may have been; nobody knows of those that are marked as unknown
    needed : one for each call, and another for each reply that could not be read
    unexplained : attempts whose outcome is unknown though no worker was killed while they were under way
    """
    study, rng = make_study(n_groups), np.random.default_rng(11)
    faults = {"delay": 0.5, "errors": 0.2, "hangs": 0.05, "malformed": 0.03, "busy_seconds": 2.0, "seed": 1}
    ends: list[End] = []
    explained: set[int] = set()
    began = time.monotonic()
    with standing_in(**faults) as url:
        judge = make_judge(url, n_at_once=N_AT_ONCE, timeout_seconds=120)
        run = runs.start(study, judge, by="trial")
        with fleet(N_WORKERS, url) as (workers, redis):
            workers.wait_until_ready()
            workers.tell(judge.required_endpoint.pk, n=N_WORKERS)
            fates = ["kill"] * n_kills + ["end"] * n_ends + ["restart"] * (n_restarts if redis else 0)
            for fate in rng.permutation(fates):
                _wait(lambda: _is_over(run), seconds=float(rng.uniform(*PAUSES)))
                n = int(rng.integers(N_WORKERS))
                if fate == "restart" and redis:
                    redis.restart()
                    continue
                if fate == "kill":
                    workers.kill(n)
                    explained |= _in_flight()
                else:
                    explained |= _in_flight()
                    ends.append(workers.terminate(n))
                workers.replace(n)
                if not _is_over(run):
                    workers.wait_until_ready()
            is_over_late = not _is_over(run)
            _wait(lambda: _is_over(run), seconds=LONGEST_SECONDS)
        tally = httpx2.get(f"{url}/seen").json()
    unknown = set(Attempt.objects.filter(outcome=Attempt.Outcome.UNKNOWN).values_list("pk", flat=True))
    n_by_outcome = Counter(outcome or "in flight" for outcome in Attempt.objects.values_list("outcome", flat=True))
    n_needed = n_by_outcome[Attempt.Outcome.ANSWERED]
    n_paid = n_needed + n_by_outcome[Attempt.Outcome.UNKNOWN] + n_by_outcome[Attempt.Outcome.LATE]
    return _ends(run) | {
        "attempts": dict(n_by_outcome),
        "paid at most": n_paid,
        "needed": n_needed,
        "in flight at the ends": len(explained),
        "paid beyond those": max(n_paid - n_needed - len(explained), 0),
        "requests that no row tells of": max(tally["n_hits"] - Attempt.objects.count(), 0),
        "calls answered twice": _n_answered_twice(run),
        "unknown outcomes": len(unknown),
        "unexplained": len(unknown - explained),
        "at once": tally["most_at_once"],
        "above the limit": max(tally["most_at_once"] - N_AT_ONCE, 0),
        "fates": dict(Counter(map(str, fates))),
        "all while it worked": is_over_late,
        **_describe(ends),
        "seconds": round(time.monotonic() - began),
    }


def run_limit(n_groups: int = 3, *, n_at_once: int = 200) -> dict[str, Any]:
    """Two judges at one endpoint, four workers and eight messages: how many calls were under way at once."""
    study, other = make_study(n_groups), make_study(n_groups)
    with standing_in(delay=2.0) as url:
        judge = make_judge(url, n_at_once=n_at_once)
        second = make_judge(url)
        second.endpoint = judge.endpoint
        second.save()
        with fleet(4, url) as (workers, _redis):
            workers.wait_until_ready()
            both = [runs.start(study, judge, by="trial"), runs.start(other, second, by="trial")]
            workers.tell(judge.required_endpoint.pk, n=8)
            _wait(lambda: all(_is_over(run) for run in both), seconds=LONGEST_SECONDS)
        tally = httpx2.get(f"{url}/seen").json()
    n_workers = Attempt.objects.filter(call__run__in=both).values("worker").distinct().count()
    return {
        "calls": sum(run.n_planned for run in both),
        "ok": Call.objects.filter(run__in=both, state=Call.State.OK).count(),
        "workers that sent some": n_workers,
        "at once": tally["most_at_once"],
        "above the limit": max(tally["most_at_once"] - n_at_once, 0),
        "requests": tally["n_hits"],
    }


def run_budget(n_groups: int = 3) -> dict[str, Any]:
    """A budget of half of what all calls cost: where the run stops, in US dollars and in calls."""
    study = make_study(n_groups)
    with serving() as standin:
        judge = make_judge(standin.base_url, n_at_once=16)
        judge.parameters = {"max_tokens": 16}
        judge.save()
        prices = {"usd_per_million_in": Decimal(0), "usd_per_million_out": Decimal(1000), "valid_from": "2026-01-01"}
        Price.objects.create(endpoint=judge.endpoint, model=judge.model, **prices)
        half = Decimal("0.003") * study.stories.count() * 14 / 2  # the stand-in says that a reply takes three tokens
        run = runs.drain(runs.start(study, judge, by="trial", budget=half))
        cost = Attempt.objects.filter(call__run=run).aggregate(cost=Sum("cost"))["cost"]
    return {
        "calls": run.n_planned,
        "budget": f"{half:.3f}",
        "cost": f"{cost:.3f}",
        "above the budget": f"{max(cost - half, Decimal(0)):.3f}",
        "requests": len(standin.hits),
        "state": run.state,
        "calls by state": runs.count_calls(run),
    }


def run_bursts(n_groups: int = 9) -> dict[str, Any]:
    """HTTP 429 for five of every fifteen seconds, at 64 calls at once of a second each."""
    study = make_study(n_groups)
    began = time.monotonic()
    with standing_in(delay=1.0, busy_seconds=5.0) as url:
        run = runs.drain(runs.start(study, make_judge(url, n_at_once=64), by="trial"))
        tally = httpx2.get(f"{url}/seen").json()
    return _ends(run) | {
        "at once": tally["most_at_once"],
        "requests": tally["n_hits"],
        "seconds": round(time.monotonic() - began),
    }


def run_refusals() -> dict[str, Any]:
    """Every call is refused with 400, then with 402; what was sent, and what becomes of the study once it is mended."""
    figures: dict[str, Any] = {}
    for status in (400, 402):
        study = make_study(1)
        with serving() as standin:
            standin.reply = lambda hit, status=status: Reply('{"error": {"message": "no"}}', status=status)
            run = runs.drain(runs.start(study, make_judge(standin.base_url, n_at_once=16), by="trial"))
            figures[f"{status}: sent"] = len(standin.hits)
            figures[f"{status}: sent more than five"] = len(standin.hits) > 5
            figures[f"{status}: submitted"] = _n_submitted(study)
            standin.reply = lambda hit: told.YES
            run = runs.drain(runs.resume(run))
        states = ", ".join(f"{state} {n}" for state, n in runs.count_calls(run).items())
        figures[f"{status}: once mended"] = f"{run.state}, {states}"
    return figures


def run_ends(n_kills: int = 3) -> dict[str, Any]:
    """Seconds to the next call after the one worker of an endpoint was killed, and until it ends when it is told to."""
    study = make_study(3)
    waits: list[float] = []
    with standing_in(delay=2.0) as url:
        judge = make_judge(url, n_at_once=4)
        run = runs.start(study, judge, by="trial")
        with fleet(1, url) as (workers, _redis):
            for _n in range(n_kills):
                _wait(lambda: bool(_in_flight()), seconds=120)
                workers.kill(0)
                killed = time.monotonic()
                last = Attempt.objects.latest("pk").pk
                workers.replace(0)
                _wait(lambda last=last: Attempt.objects.filter(pk__gt=last).exists(), seconds=120)
                waits.append(time.monotonic() - killed)
        runs.pause(run, "for the next")
    with standing_in(delay=60.0) as url:
        run = runs.start(make_study(1), make_judge(url, n_at_once=4), by="trial")
        with fleet(1, url) as (workers, _redis):
            _wait(lambda: Attempt.objects.filter(call__run=run).exists(), seconds=120)
            end = workers.terminate(0)
    return {
        "kills": n_kills,
        "longest seconds to the next call": round(max(waits), 1),
        "waits of more than 45 s": sum(wait > 45 for wait in waits),
        **_describe([end]),
    }


def _describe(ends: Sequence[End]) -> dict[str, Any]:
    """The longest end, and of how many the machine's other work may have made more than ten seconds."""
    longest = max(ends, key=lambda end: end.seconds, default=End(0.0, 0.0))
    late = [end for end in ends if end.seconds > 10]
    return {
        "longest seconds to end": round(longest.seconds, 1),
        "of which waiting for a processor": round(longest.waited, 1),
        "ends of more than 10 s": len(late),
        "of which without that waiting": sum(end.seconds - end.waited > 10 for end in late),
    }


def _ends(run: Run) -> dict[str, Any]:
    """How the calls of a run have ended, and the answers beside them."""
    run.refresh_from_db()
    states = runs.count_calls(run)
    responses = Response.objects.filter(assignment__reading__run=run)
    keys = ResponseEvent.objects.filter(response__in=responses).values("response", "key").annotate(n=Count("pk"))
    return {
        "calls": run.n_planned,
        "state": run.state,
        "calls by state": states,
        "in a terminal state": sum(n for state, n in states.items() if state not in Call.PENDING),
        "stuck": sum(n for state, n in states.items() if state in Call.PENDING),
        "without an answer": states.get(Call.State.PROVIDER_ERROR, 0),
        "answers": responses.count(),
        "doubled": sum(row["n"] - 1 for row in keys),
    }


def _n_answered_twice(run: Run) -> int:
    """Calls with more than one answer that counts, asked again after an unreadable one or not."""
    answered = Attempt.objects.filter(call__run=run, outcome=Attempt.Outcome.ANSWERED, parses__state=Call.State.OK)
    return answered.values("call").annotate(n=Count("pk")).filter(n__gt=1).count()


def _n_submitted(study: Study) -> int:
    return Assignment.objects.filter(study=study, status=Assignment.Status.SUBMITTED).count()


def _in_flight() -> set[int]:
    return set(Attempt.objects.filter(outcome=Attempt.Outcome.IN_FLIGHT).values_list("pk", flat=True))


def _is_over(run: Run) -> bool:
    return not Run.objects.filter(pk=run.pk, state=Run.State.RUNNING).exists()


def _wait(is_so: Callable[[], bool], *, seconds: float) -> None:
    """Wait until it is so, at most so long."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and not is_so():
        time.sleep(0.25)
