"""What a metric's run will measure: each story once in each of its groups, by a step of the metric's own."""

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from judges import metrics
from judges.metrics import Metric
from judges.models import Judge
from judges.planning.plans import Plan
from judges.planning.scopes import CannotRun
from judges.requests import PlannedCall
from studies import hashing, loader
from studies import protocol as protocols
from studies.documents.errors import DocumentError
from studies.models import Step, Story, StoryGroup, Study
from studies.protocol import Protocol


@transaction.atomic
def plan_measurements(study: Study, judge: Judge) -> Plan:
    """Everything that the metric will measure: each story of each group that is not withheld. Raises CannotRun.

    Publishes the metric's instrument and adds its step to the frozen protocol, each if it is missing.
    """
    metric = find_metric_of(judge)
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
            group: [PlannedCall(step, None, story, describe_request(metric, story)) for story in stories]
            for group, stories in stories_by_group.items()
        },
        document=_document(study, judge, protocol, step, withheld),
        judge=judge,
    )


def find_metric_of(judge: Judge) -> Metric:
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


def describe_request(metric: Metric, story: Story) -> dict[str, str]:
    """What a call asks for: which metric, of which text."""
    return {"metric": metric.slug, "version": metric.version, "sha256": story.sha256}


def _readable(group: StoryGroup) -> list[Story]:
    """The stories of the group whose text is there, by code."""
    return sorted((story for story in group.stories.all() if not story.is_withheld), key=lambda story: story.code)


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
