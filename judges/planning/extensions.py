"""A further run of a judge in a study: of what a plan asks, only what the judge has not been asked there yet.

A run that is asked for more stories, another order or more readings than the runs before it asks for those alone.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from typing import Any

from django.utils.translation import gettext as _

from annotation.models import Rater
from judges.models import Call, Judge, Run
from judges.planning import metric_plans, plans
from judges.planning.plans import OnSeat, Plan, PlannedSeat, keep
from judges.planning.readings import Pass
from judges.planning.scopes import CannotRun, Scope
from judges.requests import PlannedCall
from studies import hashing
from studies.models import Study
from studies.protocol import Protocol

# Calls that ended so have no answer of any kind, so that asking for one is not asking twice.
UNANSWERED = (
    *(Call.State.PROVIDER_ERROR, Call.State.TOO_LARGE),
    *(Call.State.BUDGET_STOPPED, Call.State.NOT_ASKED),
)
# A mistyped number must not plan a million calls.
MOST_REPEATS = 50
# Group, reading, step, item and story: what no two calls of a judge in a study share.
CallKey = tuple[Any, ...]


class NothingToAsk(CannotRun):
    """The judge has been asked all of it already."""


def find_codes(study: Study, names: Iterable[str]) -> tuple[str, ...]:
    """Codes of stories by these names, each once: a group's name stands for its stories, any other for itself."""
    names = list(names)
    groups = study.groups.filter(code__in=names).prefetch_related("stories") if names else ()
    codes_by_group = {group.code: sorted(story.code for story in group.stories.all()) for group in groups}
    return tuple(dict.fromkeys(code for name in names for code in codes_by_group.get(name, [name])))


def plan(
    study: Study, judge: Judge, scope: Scope | None = None, *, protocol: Protocol | None = None, on_seat: OnSeat = keep
) -> Plan:
    """All that a run would ask and no earlier one has asked. Raises CannotRun.

    protocol : by which a model is asked; None for the frozen one

    Nothing of a model's is written; a metric's instrument and step are, so that a look rolls them back.
    """
    names = {"judge": judge.slug, "study": study.slug}
    states = set(study.runs.filter(judge=judge).values_list("state", flat=True))
    if states - {Run.State.FINISHED}:
        message = _("%(judge)s has an unfinished run in %(study)s; resume it, or close it first")
        raise CannotRun(message % names)
    if not states and study.raters.filter(code=judge.slug).exists():
        raise CannotRun(_("%(study)s already has a rater called %(judge)s; give the judge another name") % names)
    if judge.is_from_log:
        message = _("%(judge)s came in with a log of another tool, and cannot be asked; make a judge of its model")
        raise CannotRun(message % names)
    is_metric = judge.kind == Rater.Kind.METRIC
    if is_metric and scope not in (None, Scope()):
        raise CannotRun(_("A metric measures every story once; it takes no selection, orders or repeats"))
    if scope:
        check_repeats(judge, scope)
    if is_metric:
        return extend(study, judge, metric_plans.plan_measurements(study, judge))
    return extend(study, judge, plans.plan_run(study, judge, scope, protocol=protocol, on_seat=on_seat))


def check_repeats(judge: Judge, scope: Scope) -> None:
    """Raise CannotRun if every repeat would get the reply of the first."""
    if scope.n_repeats > 1 and judge.repeats_itself:
        message = _(
            "%(judge)s sends a seed with temperature 0, so each repeat would get the same reply. Ask once, or choose a "
            "judge with another temperature"
        )
        raise CannotRun(message % {"judge": judge.slug})


def extend(study: Study, judge: Judge, plan: Plan) -> Plan:
    """What of the plan is left to ask; the plan itself if the judge has no run in the study. Two queries.

    Fixed texts are asked about again, because they show change; they and probes can be all that is left.
    Raises NothingToAsk.
    """
    runs = Run.objects.filter(study=study, judge=judge, drift_check=None)
    earlier_runs = list(runs.order_by("pk").values_list("sha256", flat=True))
    if not earlier_runs:
        return plan
    asked_keys = _load_asked_keys(study, judge)
    rest = select(plan, lambda seat, call: _key(seat, call) not in asked_keys)
    guards = [call for call in plan.guards if call.kind == Call.Kind.TEST or _key(None, call) not in asked_keys]
    if not rest.seats and not guards:
        message = _("%(judge)s has been asked all of this in %(study)s; ask for more stories, orders or repeats")
        raise NothingToAsk(message % {"judge": judge.slug, "study": study.slug})
    return replace(
        rest, guards=guards, document=hashing.canonical_json(json.loads(plan.document) | {"continues": earlier_runs})
    )


def select(plan: Plan, is_selected: Callable[[PlannedSeat, PlannedCall], bool]) -> Plan:
    """The plan with only those calls that are selected, and the seats in which some are."""
    seats = []
    for seat in plan.seats:
        if calls := [call for call in seat.calls if is_selected(seat, call)]:
            seats.append(replace(seat, order=_find_order(seat.order, calls), calls=calls))
    first = {seat.group: seat for seat in seats if seat.reading == plan.first}
    return replace(
        plan,
        orders={group: seat.order for group, seat in first.items()},
        calls={group: seat.calls for group, seat in first.items()},
        further=[seat for seat in seats if seat.reading != plan.first],
    )


def _load_asked_keys(study: Study, judge: Judge) -> set[CallKey]:
    calls = Call.objects.filter(run__study=study, run__judge=judge).exclude(state__in=UNANSWERED)
    reading = [f"assignment__reading__{name}" for name in asdict(Pass())]
    return set(calls.order_by().values_list("assignment__group", *reading, "step", "item", "story"))


def _find_order(order: list[str], calls: Iterable[PlannedCall]) -> list[str]:
    """The stories of the seat, without those that nothing asks about if nothing is asked about the whole group."""
    stories = [call.story for call in calls]
    codes = {story.code for story in stories if story}
    return order if None in stories else [code for code in order if code in codes]


def _key(seat: PlannedSeat | None, call: PlannedCall) -> CallKey:
    """seat : None of a call that guards the run"""
    place = (seat.group.pk, *asdict(seat.reading).values()) if seat else (None,) * (1 + len(asdict(Pass())))
    return (*place, *(row.pk if row else None for row in (call.step, call.item, call.story)))
