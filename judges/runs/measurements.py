"""Metrics at work in a run: what is measured, and the values recorded as everybody's answers are.

Nothing is sent and nothing waits, so there are no attempts and no leases: a call's end and its responses are committed
together, if the call is still planned, so that two workers at one run record each value once.
"""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import partial

from django.db import transaction
from django.utils.translation import override

from annotation import responses
from annotation.models import Response
from annotation.responses import Answer
from judges import reasons, workers
from judges.metrics import Metric, NoValue
from judges.models import Attempt, Call, Run
from judges.planning import CannotRun
from judges.planning.metric_plans import describe_request, find_metric_of
from studies.items import InvalidAnswer
from studies.models import Item


class CannotMeasure(Exception):
    """The metric gives no values as things stand; the message says why."""


def measure(run: Run, *, n: int, at: datetime) -> int:
    """How many of the run's planned calls were looked at, at most n; each has ended. Raises CannotMeasure.

    Fewer if the process is told to end.
    """
    try:
        metric = find_metric_of(run.judge)
    except CannotRun as error:
        raise CannotMeasure(str(error)) from None
    planned = run.calls.filter(state=Call.State.PLANNED).order_by("pk")
    calls = list(planned.select_related("assignment__seat", "step", "story")[:n])
    items = list(Item.objects.filter(instrument__step__in={call.step_id for call in calls}).distinct())
    for n_measured, call in enumerate(calls):
        if workers.stopping.is_set():
            return n_measured
        values = _values(metric, call)
        try:
            commit_call(call, values, items, at=at)
        except responses.AssignmentEnded as refusal:
            raise CannotMeasure(f"a value could not be recorded: {refusal}") from None
    return len(calls)


def commit_call(call: Call, values: Mapping[str, float | NoValue], items: Iterable[Item], *, at: datetime) -> bool:
    """Commit the call's end and its responses, all or nothing. False if it was not planned any more.

    Raises responses.AssignmentEnded if somebody closed the assignment meanwhile.
    """
    numbers = {key: value for key, value in values.items() if not isinstance(value, NoValue)}
    content = json.dumps(numbers, ensure_ascii=False)
    with transaction.atomic():
        changes = {"state": Call.State.OK, "answered_at": at}
        if not Call.objects.filter(pk=call.pk, state=Call.State.PLANNED).update(**changes):
            return False
        # Nothing is sent, but what came of it is kept where everything that came of a call is.
        Attempt.objects.create(
            call=call, number=1, sent_at=at, ended_at=at, outcome=Attempt.Outcome.ANSWERED, body=content
        )
        refusals = [refusal for item in items if (refusal := _record(call, item, values.get(item.key), at=at))]
        if refusals:
            Call.objects.filter(pk=call.pk).update(state=Call.State.OUT_OF_RANGE, reason="; ".join(refusals))
    return True


@override("en")  # reasons are kept in English, in whichever language this process runs
def _record(call: Call, item: Item, value: float | NoValue | None, *, at: datetime) -> str:
    """Record one value, or that it is none which the item allows; why it is not, "" if it is."""
    record = partial(
        responses.record,
        call.required_assignment,
        step=call.required_step,
        item=item,
        story=call.story,
        at=at,
        key=f"call {call.pk}",
    )
    reason: object = value.reason if isinstance(value, NoValue) else reasons.NO_VALUE
    if value is not None and not isinstance(value, NoValue):
        try:
            record(answer=Answer(value=value))
            return ""
        except InvalidAnswer as error:
            reason = error
    record(answer=Answer(outcome=Response.Outcome.UNREADABLE))
    return f"{item.key}: {reason}"


def _values(metric: Metric, call: Call) -> Mapping[str, float | NoValue]:
    """The values of the story that the call is about. Raises CannotMeasure."""
    story = call.story
    if story is None or call.request != describe_request(metric, story):
        raise CannotMeasure(f"story {story}: its text has changed since the run was planned")
    try:
        return metric.measure(story.text)
    except Exception as error:
        # Whatever a metric's own fault is, the run stops with a sentence and can be resumed.
        raise CannotMeasure(f"story {story}: {metric.slug} failed with {type(error).__name__}: {error}") from error
