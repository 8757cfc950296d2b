"""Runs: a judge takes its seats in a study, is asked, and its answers are recorded as everybody's are.

The rows are the truth. All calls are rows before the first is sent; a message only says that an endpoint has work. How
calls are sent stands in `judges/workers/`, how each is answered exactly once in `judges/settlement/`.
"""

from judges.lifecycle import close, discard, finish, pause, set_budget, stop, stop_at_budget, wait
from judges.planning import CannotRun, Scope
from judges.runs.approvals import RunOptions, approve, check_options, plan, preview, start
from judges.runs.foreground import count_calls, drain, measure
from judges.runs.queues import SWEEP_SECONDS, queue, queue_endpoint, sweep
from judges.runs.retries import find_retryable, resume, retry

__all__ = [
    "SWEEP_SECONDS",
    "CannotRun",
    "RunOptions",
    "Scope",
    "approve",
    "check_options",
    "close",
    "count_calls",
    "discard",
    "drain",
    "find_retryable",
    "finish",
    "measure",
    "pause",
    "plan",
    "preview",
    "queue",
    "queue_endpoint",
    "resume",
    "retry",
    "set_budget",
    "start",
    "stop",
    "stop_at_budget",
    "sweep",
    "wait",
]
