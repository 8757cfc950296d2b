"""How far a run is: what its page refreshes every two seconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import Count, Q, Sum
from django.utils.translation import gettext as _

from annotation.models import Rater
from judges import reasons, runs
from judges.models import Attempt, Call, Endpoint, Run
from judges.settlement import attempts, budgets
from judges.settlement.budgets import RunSpending
from judges.views import states
from judges.views.states import Segment, StateWords

RATE_SECONDS = 60


@dataclass(frozen=True)
class Failures:
    """The calls that ended in one way without an answer. reason : what was said of most of them"""

    state: str
    words: StateWords
    n: int
    reason: str


@dataclass(frozen=True)
class RunProgress:
    """n_over : calls with an end, of n
    per_minute : calls that ended in the last minute
    minutes_left : None if nothing ended in the last minute
    n_reused : calls that took an earlier reply
    n_retryable : calls without a usable answer that may be asked once more
    spending : what it has spent, and what requests of unknown cost may have cost
    state : the run's; of one at work "resting" while its endpoint rests, "waiting" while a person has to see to that
    """

    n: int
    n_over: int
    n_answered: int
    n_without: int
    n_reused: int
    n_retryable: int
    segments: list[Segment]
    failures: list[Failures]
    per_minute: int
    minutes_left: int | None
    n_tokens_in: int
    n_tokens_out: int
    spending: RunSpending
    state: str
    resting_until: datetime | None
    resting_reason: str
    needs_attention: str

    @property
    def label(self) -> str:
        """Its state in words."""
        return label_of(self.state)

    @property
    def n_left(self) -> int:
        """Calls without an end."""
        return self.n - self.n_over

    @property
    def forecast(self) -> Decimal | None:
        """What the run is on course for, in US dollars, if calls go on to cost what those did whose cost is known; None
        before it is known of as many as are probes, and once none are left."""
        spent, n_paid = self.spending.spent, self.spending.n_paid
        return spent + spent / n_paid * self.n_left if n_paid >= attempts.N_PROBES and self.n_left else None

    @property
    def is_under_way(self) -> bool:
        return self.state in ("running", "resting")


def label_of(state: str) -> str:
    """A state of `state_of` in words."""
    return str(_("resting") if state == "resting" else Run.State(state).label)


def load_progress(run: Run, *, at: datetime) -> RunProgress:
    """How far the run is. Seven queries."""
    n_by_state = dict(run.calls.order_by().values_list("state").annotate(n=Count("pk")))
    n = sum(n_by_state.values()) - n_by_state.get(Call.State.NOT_NEEDED, 0)
    n_over = sum(n_by_state.get(state, 0) for state in (*states.ANSWERED, *states.WITHOUT))
    per_minute = run.calls.filter(answered_at__gt=at - timedelta(seconds=RATE_SECONDS)).count()
    sums = Attempt.objects.filter(call__run=run).aggregate(
        n_in=Sum("n_tokens_in"),
        n_out=Sum("n_tokens_out"),
        n_reused=Count("pk", filter=Q(outcome=Attempt.Outcome.REUSED)),
    )
    spending = budgets.load_spending(run)
    endpoint = run.judge.endpoint
    state = state_of(run, at=at)
    is_resting = state == "resting"
    return RunProgress(
        n=n,
        n_over=n_over,
        n_answered=sum(n_by_state.get(state, 0) for state in states.ANSWERED),
        n_reused=sums["n_reused"],
        n_retryable=runs.find_retryable(run).count() if run.judge.endpoint_id else 0,
        n_without=sum(n_by_state.get(state, 0) for state in states.WITHOUT),
        segments=states.draw_bar(n_by_state, is_measured=run.judge.kind == Rater.Kind.METRIC),
        failures=_failures(run, n_by_state),
        per_minute=per_minute,
        minutes_left=-(-(n - n_over) // per_minute) if per_minute else None,
        n_tokens_in=sums["n_in"] or 0,
        n_tokens_out=sums["n_out"] or 0,
        spending=spending,
        state=state,
        resting_until=endpoint.resting_until if endpoint and is_resting else None,
        resting_reason=reasons.translate(endpoint.resting_reason) if endpoint and is_resting else "",
        needs_attention=endpoint.attention if endpoint else "",
    )


def state_of(run: Run, *, at: datetime) -> str:
    """The state of a run; of one at work also what its endpoint makes of it."""
    endpoint = run.judge.endpoint
    if run.state == Run.State.RUNNING and endpoint is not None and endpoint.needs_attention:
        return Run.State.WAITING
    return "resting" if run.state == Run.State.RUNNING and _rests(endpoint, at=at) else run.state


def _rests(endpoint: Endpoint | None, *, at: datetime) -> bool:
    return endpoint is not None and endpoint.resting_until is not None and endpoint.resting_until > at


def _failures(run: Run, n_by_state: Mapping[str, int]) -> list[Failures]:
    """Each way in which calls ended without an answer, the most frequent first."""
    counts = run.calls.filter(state__in=states.WITHOUT).exclude(reason="")
    rows = counts.order_by().values_list("state", "reason").annotate(n=Count("pk")).order_by("n")
    reason_by_state = {state: reason for state, reason, _n in rows}  # the most frequent comes last and stays
    lost = [(state, n_by_state[state]) for state in states.WITHOUT if n_by_state.get(state)]
    return [
        Failures(state, states.WORDS[state], n, reasons.translate(reason_by_state.get(state, "")))
        for state, n in sorted(lost, key=lambda row: -row[1])
    ]
