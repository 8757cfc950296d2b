"""Metrics at work in a run: what is measured, and the values recorded as everybody's answers are.

Nothing is sent and nothing waits, so there are no attempts and no leases: a call's end and its responses are committed
together, if the call is still planned, so that two workers at one run record each value once.
"""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import partial

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation import responses
from annotation.models import Response
from annotation.responses import Answer
from judges import metrics
from judges.metrics import Metric
from judges.models import Attempt, Call, Judge, Run
from judges.planning import CannotRun, Plan
from judges.requests import PlannedCall
from studies import hashing, loader
from studies import protocol as protocols
from studies.documents.errors import DocumentError
from studies.items import InvalidAnswer
from studies.models import Item, Step, Story, StoryGroup, Study
from studies.protocol import Protocol


class CannotMeasure(Exception):
    """The metric gives no values as things stand; the message says why."""


@transaction.atomic
def plan_measurements(study: Study, judge: Judge) -> Plan:
    """Everything that the metric will measure: each story of each group that is not withheld. Raises CannotRun.

    Publishes the metric's instrument and adds its step to the frozen protocol, each if it is missing.
    """
    metric = _metric(judge)
    groups = list(study.groups.prefetch_related("stories").order_by("code"))
    codes = {story.code: story for group in groups for story in group.stories.all()}
    withheld = sorted(code for code, story in codes.items() if story.is_withheld)
    stories_by_group = {group: readable for group in groups if (readable := _readable(group))}
    if not stories_by_group:
        message = _("%(study)s: there is no story to measure; all of its texts are withheld")
        raise CannotRun(message % {"study": study.slug})
    try:
        protocol = protocols.load_protocol(protocols.current(study))
        instrument = loader.load_instrument(metric.instrument)
        step = protocols.add_metric_step(protocol.version, instrument, key=metric.step_key)
    except (protocols.NotPlannable, loader.VersionConflict, DocumentError) as error:
        raise CannotRun(str(error)) from None
    return Plan(
        protocol=protocol,
        orders={group: [story.code for story in stories] for group, stories in stories_by_group.items()},
        calls={
            group: [PlannedCall(step, None, story, _request(metric, story)) for story in stories]
            for group, stories in stories_by_group.items()
        },
        document=_document(study, judge, protocol, step, withheld),
        judge=judge,
    )


def measure(run: Run, *, n: int, at: datetime) -> int:
    """How many of the run's planned calls were looked at, at most n; each has ended. Raises CannotMeasure."""
    try:
        metric = _metric(run.judge)
    except CannotRun as error:
        raise CannotMeasure(str(error)) from None
    planned = run.calls.filter(state=Call.State.PLANNED).order_by("pk")
    calls = list(planned.select_related("assignment__seat", "step", "story")[:n])
    items = list(Item.objects.filter(instrument__step__in={call.step_id for call in calls}).distinct())
    for call in calls:
        values = _values(metric, call)
        try:
            commit_call(call, values, items, at=at)
        except responses.AssignmentEnded as refusal:
            raise CannotMeasure(f"a value could not be recorded: {refusal}") from None
    return len(calls)


def commit_call(call: Call, values: Mapping[str, float], items: Iterable[Item], *, at: datetime) -> bool:
    """Commit the call's end and its responses, all or nothing. False if it was not planned any more.

    Raises responses.AssignmentEnded if somebody closed the assignment meanwhile.
    """
    content = json.dumps(values, ensure_ascii=False)
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


def _record(call: Call, item: Item, value: float | None, *, at: datetime) -> str:
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
    reason: object = "there is no value"
    if value is not None:
        try:
            record(answer=Answer(value=value))
            return ""
        except InvalidAnswer as error:
            reason = error
    record(answer=Answer(outcome=Response.Outcome.UNREADABLE))
    return f"{item.key}: {reason}"


def _metric(judge: Judge) -> Metric:
    """The judge's metric. Raises CannotRun if there is none of that version any more."""
    try:
        metric = metrics.find_metric(judge.metric)
    except metrics.UnknownMetric as error:
        raise CannotRun(str(error)) from None
    if metric.version != judge.metric_version:
        message = _("%(judge)s measures by version %(old)s of %(metric)s, which is now at %(new)s; make another judge")
        names = {"judge": judge.slug, "metric": metric.slug, "old": judge.metric_version, "new": metric.version}
        raise CannotRun(message % names)
    return metric


def _readable(group: StoryGroup) -> list[Story]:
    """The stories of the group whose text is there, by code."""
    return sorted((story for story in group.stories.all() if not story.is_withheld), key=lambda story: story.code)


def _request(metric: Metric, story: Story) -> dict[str, str]:
    """What a call asks for: which metric, of which text."""
    return {"metric": metric.slug, "version": metric.version, "sha256": story.sha256}


def _values(metric: Metric, call: Call) -> Mapping[str, float]:
    """The values of the story that the call is about. Raises CannotMeasure."""
    story = call.story
    if story is None or call.request != _request(metric, story):
        raise CannotMeasure(f"story {story}: its text has changed since the run was planned")
    try:
        return metric.measure(story.text)
    except Exception as error:
        # Whatever a metric's own fault is, the run stops with a sentence and can be resumed.
        raise CannotMeasure(f"story {story}: {metric.slug} failed with {type(error).__name__}: {error}") from error


def _document(study: Study, judge: Judge, protocol: Protocol, step: Step, withheld: list[str]) -> str:
    """The run as canonical JSON: all that decides its values, and what it leaves out."""
    return hashing.canonical_json(
        {
            "study": study.slug,
            "protocol": {"number": protocol.version.number, "sha256": protocol.version.sha256},
            "judge": judge.slug,
            "metric": {
                "slug": judge.metric,
                "version": judge.metric_version,
                "instrument": step.instrument.fingerprint if step.instrument else "",
            },
            "step": step.key,
            "withheld": withheld,
        }
    )


def describe_withheld(codes: list[str]) -> str:
    """Which stories were left out, in one sentence; "" if none was."""
    if not codes:
        return ""
    message = ngettext(
        "%(n)d story is withheld and was left out: %(codes)s",
        "%(n)d stories are withheld and were left out: %(codes)s",
        len(codes),
    )
    return message % {"n": len(codes), "codes": ", ".join(codes)}
