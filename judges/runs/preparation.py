"""A run before it is approved: what it will take, and its rows."""

from dataclasses import asdict, replace
from decimal import Decimal

from annotation import design
from annotation.models import Assignment, Rater
from judges import planning
from judges.models import Call, Prompt, Reading, Run
from judges.planning import Plan, Scope, extensions
from judges.planning.estimates import RunEstimate
from judges.planning.readings import Pass
from judges.requests import PlannedCall, texts
from judges.settlement import attempts, reuse
from studies.models import Study

AT_ONCE = 500  # rows a query


def estimate(study: Study, planned: Plan, *, in_batches: bool = False) -> RunEstimate | None:
    """What the plan will take, without the calls that take an earlier reply; None of a metric. Three queries.

    in_batches : whether calls are handed in as batches
    """
    if planned.judge.kind == Rater.Kind.METRIC:
        return None
    hash_by_call = {id(call): fingerprint(planned, call, seat.reading) for seat in planned.seats for call in seat.calls}
    answered = reuse.find_answered(study, hash_by_call.values())
    fresh = extensions.select(planned, lambda _seat, call: hash_by_call[id(call)] not in answered)
    one_by_one = replace(planning.estimate(fresh), n_reused=planned.n_calls - fresh.n_calls)
    return one_by_one.in_batches(n_alone=attempts.N_PROBES) if in_batches else one_by_one


def write(study: Study, planned: Plan, scope: Scope, *, budget: Decimal | None, by: str) -> Run:
    """The rows of a run that is planned and not approved: its rater, seats, assignments and calls."""
    judge = planned.judge
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
        budget=budget,
    )
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
    pairs = list(zip(planned.seats, assignments, strict=True))
    readings = [
        Reading(
            run=run,
            assignment=assignment,
            order=seat.reading.order,
            persona=seat.reading.persona,
            repeat=seat.reading.repeat,
        )
        for seat, assignment in pairs
    ]
    Reading.objects.bulk_create(readings, batch_size=AT_ONCE)
    shelf = texts.Shelf()
    rows = [_call(run, planned, assignment, c, seat.reading, shelf) for seat, assignment in pairs for c in seat.calls]
    rows += [_call(run, planned, None, c, planned.first, shelf) for c in planned.guards]
    shelf.store()
    Call.objects.bulk_create(rows, batch_size=200)
    return run


def _call(
    run: Run, plan: Plan, assignment: Assignment | None, planned: PlannedCall, reading: Pass, shelf: texts.Shelf
) -> Call:
    """The row of one call; its texts are put onto the shelf, but of one that waits for another, which has none yet."""
    is_sent = "messages" in planned.request and not planned.waits
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
        request=shelf.put_request(planned.request, planned.stories) if is_sent else unsent,
        request_sha256=fingerprint(plan, planned, reading) if is_sent else "",
    )


def fingerprint(plan: Plan, planned: PlannedCall, reading: Pass) -> str:
    """The hash of all that the call asks; "" for what is not sent. Asked afresh, it is like no other run's."""
    if "messages" not in planned.request:
        return ""
    apart = {"run": plan.canary} if plan.is_afresh else {}
    return texts.fingerprint(planned.request, endpoint=plan.judge.endpoint_id, **asdict(reading), **apart)
