"""A run before it is approved: what it will take, and its rows."""

from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

from annotation import design
from annotation.models import Assignment, Rater
from judges import planning
from judges.models import Call, Prompt, PromptProposal, Reading, Run
from judges.planning import Plan, Scope, extensions
from judges.planning.estimates import RunEstimate
from judges.requests import PlannedCall
from judges.runs.packed_calls import CallPacker
from judges.settlement import attempts, reuse
from studies.models import Study

AT_ONCE = 500  # rows a query
CALLS_AT_ONCE = 2_000


@dataclass(frozen=True)
class PreparedRun:
    """A run before it is written: its plan with packed calls, and what it will take; None of a metric."""

    plan: Plan
    scope: Scope
    packer: CallPacker
    estimate: RunEstimate | None


def estimate(study: Study, planned: Plan, *, in_batches: bool = False) -> RunEstimate | None:
    """What the plan will take, without the calls that take an earlier reply; None of a metric. Three queries.

    in_batches : whether calls are handed in as batches
    """
    packer = CallPacker(planned.judge, is_afresh=planned.is_afresh)
    return prepare(study, planned, Scope(), packer, in_batches=in_batches).estimate


def prepare(study: Study, planned: Plan, scope: Scope, packer: CallPacker, *, in_batches: bool = False) -> PreparedRun:
    """The run with its calls packed, and what it will take. Three queries; none of a metric."""
    seats = [packer.pack_seat(seat, planned.canary) for seat in planned.seats]
    first = {seat.group: seat.calls for seat in seats if seat.reading == planned.first}
    packed = replace(
        planned,
        calls=first,
        further=[seat for seat in seats if seat.reading != planned.first],
        guards=[packer.pack(call, planned.first, planned.canary) for call in planned.guards],
    )
    is_metric = planned.judge.kind == Rater.Kind.METRIC
    estimate_of_run = None if is_metric else _estimate(study, packed, packer, in_batches=in_batches)
    return PreparedRun(packed, scope, packer, estimate_of_run)


def write(study: Study, prepared: PreparedRun, *, by: str, **values: Any) -> Run:
    """The rows of a run that is planned and not approved: its rater, seats, assignments and calls.

    values : of fields that the plan does not decide
    """
    planned, scope, judge = prepared.plan, prepared.scope, prepared.plan.judge
    rater, _created = Rater.objects.get_or_create(
        study=study, code=judge.slug, defaults={"kind": judge.kind, "is_simulated": judge.is_stub}
    )
    run = Run.objects.create(
        study=study,
        judge=judge,
        state=Run.State.PLANNED,
        document=planned.document,
        sha256=planned.sha256,
        created_by=by,
        n_planned=planned.n_calls,
        selection=list(scope.selection),
        orders=list(scope.orders),
        n_repeats=scope.n_repeats,
        asks=judge.prompt.asks if judge.prompt else Prompt.Asks.ITEM,
        persona_set=scope.persona_set,
        canary=planned.canary,
        estimate=prepared.estimate.document if prepared.estimate else {},
        **values,
    )
    if judge.prompt and judge.prompt.source == Prompt.Source.OWN:
        # The first run of a judge whose prompt was aligned here shows what it gained, wherever it was started.
        PromptProposal.objects.filter(judge=judge, run=None, alignment__study=study).update(run=run)
    # Row by row a run of ten thousand texts would keep everybody else from writing for half a minute.
    seats = design.add_judge_seats(study, [(seat.group, seat.order) for seat in planned.seats], kind=rater.kind)
    assignments = Assignment.objects.bulk_create(
        (
            Assignment(
                study=study,
                rater=rater,
                rater_kind=rater.kind,
                seat=seat,
                group=seat.group,
                version=planned.protocol.version,
            )
            for seat in seats
        ),
        batch_size=AT_ONCE,
    )
    readings = [
        Reading(
            run=run,
            assignment=assignment,
            order=seat.reading.order,
            persona=seat.reading.persona,
            repeat=seat.reading.repeat,
            intervention=seat.reading.intervention,
        )
        for seat, assignment in zip(planned.seats, assignments, strict=True)
    ]
    Reading.objects.bulk_create(readings, batch_size=AT_ONCE)
    prepared.packer.shelf.store()
    rows = chain(
        (
            _call(run, assignment, call)
            for seat, assignment in zip(planned.seats, assignments, strict=True)
            for call in seat.calls
        ),
        (_call(run, None, call) for call in planned.guards),
    )
    while some := list(islice(rows, CALLS_AT_ONCE)):  # all at once they would take as much memory as the plan
        Call.objects.bulk_create(some, batch_size=200)
    return run


def _estimate(study: Study, planned: Plan, packer: CallPacker, *, in_batches: bool) -> RunEstimate:
    answered = reuse.find_answered(study, (call.sha256 for seat in planned.seats for call in seat.calls))
    fresh = extensions.select(planned, lambda _seat, call: call.sha256 not in answered)
    one_by_one = replace(planning.estimate(fresh, packer.render), n_reused=planned.n_calls - fresh.n_calls)
    return one_by_one.in_batches(n_alone=attempts.N_PROBES) if in_batches else one_by_one


def _call(run: Run, assignment: Assignment | None, planned: PlannedCall) -> Call:
    """The row of one call; of one that waits for another without its texts, of which it has none yet."""
    unsent = {name: part for name, part in planned.request.items() if name != "messages"}
    return Call(
        run=run,
        kind=planned.kind,
        assignment=assignment,
        step=planned.step,
        item=planned.item,
        story=planned.story,
        items=list(planned.keys),
        anchor=planned.anchor,
        section=planned.section,
        request=unsent if planned.stored is None else planned.stored,
        request_sha256=planned.sha256,
    )
