"""Choosing a prompt for pairs: tried on some of them, decided by agreement with people, used on the others.

Page and command do the same: `preview`, `plan`, `approve`, `decide`, `start_chosen`, `evaluate`. The trials are runs
like any other, made by workers; what stands in rows survives them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_DOWN, Decimal

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from judges import planning, runs
from judges.laboratory import splits
from judges.laboratory.prompt_choices import validation
from judges.laboratory.prompt_choices.validation import BOTH_ORDERS, PairAccuracy, PairQuestion
from judges.laboratory.splits import Split
from judges.models import Judge, Prompt, PromptChoice, PromptTrial, Run
from judges.planning import CannotRun, Scope
from judges.planning.estimates import RunEstimate
from judges.runs import preparation
from studies.models import Study

# Which prompts are ticked before anybody has chosen: the six templates of LitBench.
PRESELECTED = "litbench-"
LEAST_PROMPTS = 2
USUAL_SHARE = 0.2


@dataclass(frozen=True)
class TrialsPreview:
    """What choosing among prompts would ask and take, all trials together; nothing is written.

    majorities : by code of each pair that is set apart and tried, the story that most people chose
    """

    question: PairQuestion
    split: Split
    majorities: dict[str, str]
    estimate: RunEstimate


def preview(study: Study, model: Judge, prompts: Sequence[Prompt], *, share: float, seed: int) -> TrialsPreview:
    """What the trials would ask and take. Raises CannotRun. Writes and sends nothing.

    model : a judge whose endpoint, model and parameters are tried with each prompt
    share : of the pairs that are set apart, between 0 and 1
    """
    if len(set(prompts)) < LEAST_PROMPTS:
        raise CannotRun(_("Choose at least two prompts to compare."))
    question = validation.find_pair_question(study)
    split = splits.split_groups(study, share=share, seed=seed)
    majorities = validation.find_majorities(study, question, split.first)
    if not majorities:
        message = _(
            "In the pairs set apart, no story was preferred by most people, so the prompts cannot be compared. "
            "Wait for more answers, or set more pairs apart."
        )
        raise CannotRun(message)
    scope = _scope(study, question, majorities)
    estimates = [_estimate(study, _judge_like(model, prompt), scope) for prompt in prompts]
    return TrialsPreview(question, split, majorities, add_up(estimates))


def plan(
    study: Study,
    model: Judge,
    prompts: Sequence[Prompt],
    *,
    share: float,
    seed: int,
    by: str,
    budget: Decimal | None = None,
) -> PromptChoice:
    """A choice with a planned run for each prompt, which sends nothing before it is approved. Raises CannotRun.

    budget : in US dollars for all trials together; each gets an equal part
    """
    trials = preview(study, model, prompts, share=share, seed=seed)
    with transaction.atomic():
        choice = PromptChoice.objects.create(
            study=study,
            judge=model,
            step=trials.question.step.key,
            item=trials.question.item.key,
            share=share,
            seed=seed,
            validation=sorted(trials.majorities),
            judged=list(trials.split.judged),
            created_by=by,
        )
        scope = _scope(study, trials.question, trials.majorities)
        part = divide_budget(budget, len(prompts))
        for prompt in sorted(prompts, key=str):
            judge = _judge_like(model, prompt, slug=f"validation-{choice.pk}-{prompt.pk}-{prompt.name}")
            judge.is_trial = True
            judge.save()
            run = runs.plan(study, judge, by=by, scope=scope, budget=part)
            PromptTrial.objects.create(choice=choice, prompt=prompt, run=run)
    return choice


def approve(choice: PromptChoice, *, by: str) -> PromptChoice:
    """The choice with its trials at work, and who approved them. Raises CannotRun if that has been done.

    Whatever an earlier approval that broke off has left is approved now.
    """
    if choice.approved_at is not None:
        raise CannotRun(_("These trials have been approved already."))
    for trial in choice.trials.select_related("run__judge__endpoint", "run__study"):
        if trial.run.state == Run.State.PLANNED:
            runs.approve(trial.run, by=by)
    PromptChoice.objects.filter(pk=choice.pk, approved_at=None).update(approved_by=by, approved_at=timezone.now())
    choice.refresh_from_db()
    return choice


@transaction.atomic
def discard(choice: PromptChoice) -> None:
    """Take back a choice that nobody has approved, with its trials. Raises CannotRun if somebody has."""
    judges = []
    for trial in choice.trials.select_related("run__judge"):
        runs.discard(trial.run)
        judges.append(trial.run.judge_id)
    choice.delete()
    Judge.objects.filter(pk__in=judges, is_trial=True).delete()


def decide(choice: PromptChoice, *, at: datetime) -> PromptChoice:
    """The choice with what each prompt came to, and the best: of equals the first by name. Loads numpy and scipy.

    Raises CannotRun while a trial is unfinished. Decided once, it stays as it is.
    """
    if choice.decided_at is not None:
        return choice
    trials = sorted(
        choice.trials.select_related("prompt", "run__judge", "run__study"), key=lambda trial: str(trial.prompt)
    )
    for trial in trials:
        if trial.run.state != Run.State.FINISHED:
            raise CannotRun(_describe_unfinished(trial))
    question = validation.find_pair_question(choice.study)
    majorities = validation.find_majorities(choice.study, question, choice.validation)
    results = [validation.measure_accuracy(trial.run, question, majorities) for trial in trials]
    best = max(range(len(trials)), key=lambda n: (results[n].accuracy, -n))
    with transaction.atomic():
        row = PromptChoice.objects.filter(pk=choice.pk, decided_at=None)
        if row.update(prompt=trials[best].prompt, decided_at=at):
            for trial, result in zip(trials, results, strict=True):
                PromptTrial.objects.filter(pk=trial.pk).update(result=result.document)
    choice.refresh_from_db()
    return choice


def preview_chosen(choice: PromptChoice) -> RunEstimate:
    """What the run of the chosen prompt about the other pairs would take. Raises CannotRun. Writes nothing."""
    prompt = _require_prompt(choice)
    question = validation.find_pair_question(choice.study)
    return _estimate(choice.study, _judge_like(choice.judge, prompt), _scope(choice.study, question, choice.judged))


def start_chosen(choice: PromptChoice, *, by: str, budget: Decimal | None = None) -> Run:
    """A run of the model with the chosen prompt about the other pairs, approved and at work. Raises CannotRun."""
    with transaction.atomic():
        row = PromptChoice.objects.select_for_update(no_key=True, of=("self",)).get(pk=choice.pk)
        prompt = _require_prompt(row)
        if row.run_id is not None:
            raise CannotRun(_("The run with the chosen prompt has been started already."))
        question = validation.find_pair_question(row.study)
        scope = _scope(row.study, question, row.judged, choice=row.document)
        run = runs.plan(row.study, _make_chosen(row, prompt), by=by, scope=scope, budget=budget)
        row.run = run
        row.save(update_fields=["run"])
    choice.refresh_from_db()
    return runs.approve(run, by=by)


def evaluate(choice: PromptChoice, *, at: datetime) -> PromptChoice:
    """The choice with how the chosen prompt agrees with people on the pairs that it was not chosen on.

    Raises CannotRun while its run is unfinished. Loads numpy and scipy.
    """
    run = choice.run
    if run is None or run.state != Run.State.FINISHED:
        raise CannotRun(_("The run with the chosen prompt is not finished."))
    question = validation.find_pair_question(choice.study)
    majorities = validation.find_majorities(choice.study, question, choice.judged)
    result = validation.measure_accuracy(run, question, majorities).document if majorities else {}
    PromptChoice.objects.filter(pk=choice.pk).update(held_out=result, evaluated_at=at)
    choice.refresh_from_db()
    return choice


def compare(choice: PromptChoice, *, at: datetime) -> None:
    """Decide or evaluate the choice if it is time; nothing if it is not, or if people's answers are gone."""
    try:
        decide(choice, at=at)
        if choice.run is not None and choice.run.state == Run.State.FINISHED:
            evaluate(choice, at=at)
    except CannotRun:
        return


def find_due() -> QuerySet[PromptChoice]:
    """The choices of which all trials are finished and nothing is decided, or whose run has finished since."""
    unfinished = PromptTrial.objects.filter(choice=OuterRef("pk")).exclude(run__state=Run.State.FINISHED)
    is_new = Q(evaluated_at=None) | Q(evaluated_at__lt=F("run__finished_at"))
    to_decide = Q(~Exists(unfinished), decided_at=None, approved_at__isnull=False)
    return PromptChoice.objects.filter(to_decide | (Q(run__state=Run.State.FINISHED) & is_new))


def find_same(study: Study, model: Judge, prompts: Sequence[Prompt], *, share: float, seed: int) -> PromptChoice | None:
    """The latest choice that has tried just this; None if there is none."""
    for choice in study.prompt_choices.filter(judge=model, share=share, seed=seed):
        if {trial.prompt_id for trial in choice.trials.all()} == {prompt.pk for prompt in prompts}:
            return choice
    return None


def add_up(estimates: Sequence[RunEstimate]) -> RunEstimate:
    """What several runs take together, one after the other."""
    costs = [estimate.cost for estimate in estimates if estimate.cost is not None]
    worst = [estimate.worst_cost for estimate in estimates if estimate.worst_cost is not None]
    is_known = len(costs) == len(worst) == len(estimates)
    return RunEstimate(
        n_calls=sum(estimate.n_calls for estimate in estimates),
        n_tokens_in=sum(estimate.n_tokens_in for estimate in estimates),
        n_tokens_out=sum(estimate.n_tokens_out for estimate in estimates),
        cost=sum(costs, Decimal(0)) if is_known else None,
        worst_cost=sum(worst, Decimal(0)) if is_known else None,
        seconds=sum(estimate.seconds for estimate in estimates),
        n_reused=sum(estimate.n_reused for estimate in estimates),
    )


def divide_budget(budget: Decimal | None, n_runs: int) -> Decimal | None:
    """What each of several runs may spend, so that all together stay within it; None if there is no budget."""
    return None if budget is None else (budget / n_runs).quantize(Decimal("0.0001"), ROUND_DOWN)


def load_accuracy(document: dict[str, object]) -> PairAccuracy | None:
    """What was kept of a comparison with people; None if there is none."""
    return PairAccuracy(**document) if document else None  # type: ignore[arg-type]


def _describe_unfinished(trial: PromptTrial) -> str:
    message = _("The trial of %(prompt)s is not finished (%(state)s). %(note)s")
    names = {"prompt": trial.prompt, "state": trial.run.get_state_display(), "note": trial.run.note}
    return (message % names).strip()


def _require_prompt(choice: PromptChoice) -> Prompt:
    if choice.prompt is None:
        raise CannotRun(_("No prompt has been chosen yet: its trials must end first."))
    return choice.prompt


def _scope(
    study: Study,
    question: PairQuestion,
    groups: Collection[str],
    *,
    choice: dict[str, object] | None = None,
) -> Scope:
    """Both orders of these pairs, and nothing but the step that asks which story is better."""
    codes = splits.find_codes(study, list(groups))
    return Scope(selection=codes, orders=BOTH_ORDERS, steps=(question.step.key,), choice=choice)


def _estimate(study: Study, judge: Judge, scope: Scope) -> RunEstimate:
    estimate = preparation.estimate(study, planning.plan_run(study, judge, scope))
    if estimate is None:
        raise CannotRun(_("A metric has no prompt. Choose a judge that is a model."))
    return estimate


def _judge_like(model: Judge, prompt: Prompt, *, slug: str = "") -> Judge:
    """A judge that is the model with that prompt, not saved."""
    return Judge(
        slug=(slug or f"validation-{model.slug}-{prompt.name}")[:80],
        endpoint=model.endpoint,
        model=model.model,
        prompt=prompt,
        parameters=dict(model.parameters),
    )


def _make_chosen(choice: PromptChoice, prompt: Prompt) -> Judge:
    """A new judge of the model with the chosen prompt, under the first name that is free."""
    taken = set(Judge.objects.filter(slug__startswith="chosen-").values_list("slug", flat=True))
    taken |= set(choice.study.raters.values_list("code", flat=True))
    n, slug = 1, f"chosen-{choice.judge.slug}"[:80]
    while slug in taken:
        n += 1
        slug = f"chosen-{choice.judge.slug}"[: 79 - len(str(n))] + f"-{n}"
    judge = _judge_like(choice.judge, prompt, slug=slug)
    judge.save()
    return judge
