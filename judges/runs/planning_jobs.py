"""Runs of many calls: looked at, planned and approved by a worker, where it is more than a request should do.

A worker that dies leaves nothing half done: a run is written in one transaction with the end of its job, and what was
taken over of earlier replies before is not taken twice. The sweep of jobs tells another worker.
"""

from dataclasses import asdict
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Rater
from judges.models import Judge, PersonaSet, Price, Run
from judges.planning import CannotRun, Scope, select_steps
from judges.requests import expert_answers
from judges.runs import approvals, dry_runs
from judges.runs.approvals import RunOptions
from judges.runs.dry_runs import DryRun
from judges.runs.preparation import PreparedRun
from studies import jobs, licences
from studies import protocol as protocols
from studies.models import Study, StudyJob

PREVIEW, PLAN, APPROVE = (f"judges.tasks.{name}" for name in ("preview_run", "plan_run", "approve_run"))
# What asks more is planned by a worker: about half a second of a request.
CALLS_AT_ONCE = 2_000
LISTED = ("selection", "orders", "steps", "interventions")  # fields of a scope that JSON has as lists
PLAN_CHANGED = gettext_lazy(
    "What it would ask has changed since you opened this page. Review it again before you approve."
)


def is_large(study: Study, judge: Judge, scope: Scope) -> bool:
    """Whether a worker is to plan it, by the most that it could ask. Four queries."""
    n_stories = len(scope.selection) or study.stories.count()
    n_passes = len(scope.orders) * scope.n_repeats * (len(scope.persona_set.text_by_name) if scope.persona_set else 1)
    return n_stories * n_passes * _count_questions(study, judge, scope) > CALLS_AT_ONCE


def _count_questions(study: Study, judge: Judge, scope: Scope) -> int:
    """About how many calls one story takes in one reading; 0 if something is in the way, which the request says."""
    try:
        protocol = protocols.load_protocol(protocols.latest(study))
        steps = select_steps(study, judge, protocol, scope) if judge.prompt else []
    except (IndexError, protocols.NotPlannable, CannotRun):
        return 0
    if judge.prompt is None or judge.prompt.asks != judge.prompt.Asks.ITEM:
        return max(1, len(steps))
    return sum(len(protocols.items_of(step)) for step in steps)


def ask_for_preview(study: Study, judge: Judge, scope: Scope, *, by: User, at: datetime) -> StudyJob:
    """Have a worker look what the judge would be asked; what was found already for all that it rests on stays."""
    arguments = {"judge": judge.pk, "scope": _write_scope(scope)}
    return jobs.ask(study, PREVIEW, _hash_inputs(study, judge, scope, arguments), by=by, at=at, arguments=arguments)


def find_preview(study: Study, judge: Judge, scope: Scope) -> StudyJob | None:
    """The job that looks, or has looked, at what the judge would be asked now."""
    arguments = {"judge": judge.pk, "scope": _write_scope(scope)}
    return jobs.find(study, PREVIEW, _hash_inputs(study, judge, scope, arguments))


def load_preview(job: StudyJob) -> DryRun | None:
    """What the worker found; None while it has found nothing."""
    return DryRun.load(job.outcome) if job.outcome else None


def ask_to_plan(
    study: Study,
    judge: Judge,
    *,
    n_calls: int | None,
    approves: bool,
    by: User,
    at: datetime,
    **options: Any,
) -> StudyJob:
    """Have a worker plan a run; of one judge one at a time.

    Raises CannotRun while a run is being planned that somebody else, or the same person otherwise, has asked for.

    n_calls : how many were shown to whoever asks; another number is refused
    approves : whether it is to be at work then
    """
    key = jobs.hash_inputs(judge.pk)
    StudyJob.objects.filter(study=study, task=PLAN, inputs=key, ended_at__isnull=False).delete()
    budget = options.get("budget")
    arguments = {
        "judge": judge.pk,
        "scope": _write_scope(options.get("scope") or Scope()),
        "n_calls": n_calls,
        "approves": approves,
        "budget": None if budget is None else str(budget),
        "resends_unknown": options.get("resends_unknown", True),
        "sends_batches": options.get("sends_batches", False),
        jobs.DECIDED: True,
    }
    job = jobs.ask(study, PLAN, key, by=by, at=at, arguments=arguments)
    if (job.user_id, job.arguments) != (by.pk, arguments):
        raise CannotRun(_("A run of %(judge)s is being planned. Wait until it is planned.") % {"judge": judge.slug})
    return job


def find_planning(study: Study, judge_id: int) -> StudyJob | None:
    """The job that plans a run of the judge, or planned its last one."""
    return jobs.find(study, PLAN, jobs.hash_inputs(judge_id))


def ask_to_approve(run: Run, *, by: User, at: datetime) -> StudyJob:
    """Have a worker approve the run in that person's name."""
    arguments = {"run": run.pk, jobs.DECIDED: True}
    return jobs.ask(run.study, APPROVE, jobs.hash_inputs(run.pk), by=by, at=at, arguments=arguments)


def find_unplanned(study: Study) -> list[StudyJob]:
    """The jobs that are planning runs, and those that could not where the judge has no run since, the latest first."""
    unplanned = list(StudyJob.objects.filter(study=study, task=PLAN, ended_at=None).order_by("-asked_at", "-pk"))
    failed = [job.arguments["judge"] for job in unplanned if job.problem]
    latest_runs = Run.objects.filter(study=study, judge__in=failed).order_by().values_list("judge")
    planned_at = dict(latest_runs.annotate(Max("created_at"))) if failed else {}
    return [job for job in unplanned if planned_at.get(job.arguments["judge"], job.asked_at) <= job.asked_at]


def find_approval(run: Run) -> StudyJob | None:
    """The job that approves the run."""
    return jobs.find(run.study, APPROVE, jobs.hash_inputs(run.pk))


def carry_out_preview(pk: int) -> None:
    """Do a job of `ask_for_preview`."""
    jobs.carry_out(pk, _preview)


def carry_out_planning(pk: int) -> None:
    """Do a job of `ask_to_plan`."""
    jobs.carry_out(pk, _prepare, write=_write)


def carry_out_approval(pk: int) -> None:
    """Do a job of `ask_to_approve`."""
    jobs.carry_out(pk, _approve)


def _preview(job: StudyJob, renew: jobs.Renew) -> dict[str, Any]:
    judge = _load_judge(job)
    try:
        return dry_runs.preview(job.study, judge, _read_scope(job), on_step=renew).document
    except CannotRun as error:
        raise jobs.WorkRefused(str(error)) from None


def _prepare(job: StudyJob, renew: jobs.Renew) -> tuple[PreparedRun, str] | None:
    """The run before it is written, and the hash of what it rests on; None for a metric, which is prepared in the
    transaction that writes it."""
    judge, options = _load_judge(job), _read_options(job)
    if judge.kind == Rater.Kind.METRIC:
        return None
    try:
        if not approvals.writes_nothing(job.study, judge):
            # It freezes the protocol, for good: not for a run that is then refused.
            _check_number(job, approvals.rehearse(job.study, judge, _read_scope(job), on_step=renew))
        basis = _hash_basis(job.study, judge, _read_scope(job))
        return approvals.prepare(job.study, judge, by=job.user.get_username(), on_step=renew, **options), basis
    except CannotRun as error:
        raise jobs.WorkRefused(str(error)) from None


def _write(job: StudyJob, outcome: tuple[PreparedRun, str] | None) -> int:
    """The id of the run."""
    by, options, judge = job.user.get_username(), _read_options(job), _load_judge(job)
    if outcome and outcome[1] != _hash_basis(job.study, judge, _read_scope(job)):
        raise jobs.WorkRefused(str(PLAN_CHANGED))
    try:
        prepared = outcome[0] if outcome else approvals.prepare(job.study, judge, by=by, **options)
        _check_number(job, prepared)
        run = approvals.write(job.study, prepared, by=by, **options)
    except CannotRun as error:
        raise jobs.WorkRefused(str(error)) from None
    if job.arguments["approves"]:
        ask_to_approve(run, by=job.user, at=timezone.now())
    return run.pk


def _check_number(job: StudyJob, prepared: PreparedRun) -> None:
    """Refuse the work if it asks another number of calls than were shown to whoever decided."""
    if job.arguments["n_calls"] not in (None, prepared.plan.n_calls):
        raise jobs.WorkRefused(str(PLAN_CHANGED))


def _approve(job: StudyJob, renew: jobs.Renew) -> int:
    """The id of the run."""
    run = Run.objects.select_related("judge__endpoint", "study").filter(pk=job.arguments["run"]).first()
    if run is None:
        raise jobs.WorkRefused(_("The run was discarded."))
    try:
        return approvals.approve(run, by=job.user.get_username(), on_step=renew).pk
    except CannotRun as error:
        raise jobs.WorkRefused(str(error)) from None


def _load_judge(job: StudyJob) -> Judge:
    judge = Judge.objects.select_related("endpoint", "prompt").filter(pk=job.arguments["judge"]).first()
    if judge is None:
        raise jobs.WorkRefused(_("The judge was deleted."))
    return judge


def _hash_inputs(study: Study, judge: Judge, scope: Scope, arguments: dict[str, Any]) -> str:
    """Of all that decides what would be asked and what it takes, so that an old look is not shown."""
    endpoint = judge.endpoint
    return jobs.hash_inputs(
        arguments,
        _hash_basis(study, judge, scope),
        [list(row) for row in study.runs.filter(judge=judge).order_by("pk").values_list("pk", "state")],
        [endpoint.learnt_at_once, endpoint.n_at_once] if endpoint else [],
        [[str(value) for value in row] for row in Price.objects.filter(model=judge.model).order_by("pk").values_list()],
        timezone.now().date().isoformat(),
    )


def _hash_basis(study: Study, judge: Judge, scope: Scope) -> str:
    """Of all that decides in which words the judge would be asked, and whether it may be."""
    endpoint, prompt, personas = judge.endpoint, judge.prompt, scope.persona_set
    names = ("name", "adapter", "base_url", "is_allowed", "is_outside")
    return jobs.hash_inputs(
        jobs.hash_texts(study),
        protocols.hash_rows(protocols.read_rows(protocols.latest(study))),
        sorted(licences.find_sendable_codes(study)),
        judge.content,
        prompt.content if prompt else None,
        personas.content if personas else None,
        [getattr(endpoint, name) for name in names] if endpoint else [],
        expert_answers.summarise_answers(study) if prompt and "examples" in prompt.template else None,
    )


def _write_scope(scope: Scope) -> dict[str, Any]:
    """As JSON has it."""
    return asdict(scope) | {
        "persona_set": scope.persona_set.pk if scope.persona_set else None,
        **{name: list(getattr(scope, name)) for name in LISTED},
    }


def _read_scope(job: StudyJob) -> Scope:
    document = job.arguments["scope"]
    persona_set = PersonaSet.objects.filter(pk=document["persona_set"]).first() if document["persona_set"] else None
    tuples = {name: tuple(document.get(name, ())) for name in LISTED}
    return Scope(**document | tuples | {"persona_set": persona_set})


def _read_options(job: StudyJob) -> RunOptions:
    budget = job.arguments["budget"]
    return RunOptions(
        scope=_read_scope(job),
        budget=None if budget is None else Decimal(budget),
        resends_unknown=job.arguments["resends_unknown"],
        sends_batches=job.arguments["sends_batches"],
    )
