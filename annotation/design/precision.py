"""How exact a study's results will be: simulated by a worker for the plan as it is saved, and kept.

What comes of it says how many sources there are and how many stories each has, so it is for those who may know sources.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from annotation.design import prospects, reading_plans
from annotation.design.planned_outcomes import (
    Assumptions,
    PlannedOutcome,
    form_of,
    list_planned,
    read_assumptions,
)
from annotation.design.prospects import PlanChoices, Texts
from annotation.design.reading_plans import Design
from studies import jobs, premises, protocol
from studies.models import Study, StudyJob

if TYPE_CHECKING:
    from stats.planned_answers import AnswerForm, Deviations, PlannedReadings
    from stats.precision import PlannedComparison

TASK = "annotation.tasks.compute_precision"
EDITION = 2  # counts up when what is computed changes
N_KEPT = 10  # results of a study
SEED = 20_260_101
FULL_OUTCOMES = 4  # of so many each is simulated as often as time allows; of more each has its share of that time
FEWEST_TO_ENLARGE = 6  # studies: where time allows no more, studies of twice the size take too long
SHARE_OF_LARGER = 0.6  # of the time of an outcome, for each larger study that it is compared with


@dataclass(frozen=True)
class PlannedStudy:
    """What a simulation rests on. sources : names by story, in no order that is shown"""

    texts: Texts
    premise_by_group: Mapping[str, str]
    choices: PlanChoices
    design: Design
    source_by_story: Mapping[str, str]
    outcomes: list[PlannedOutcome]

    @property
    def sources(self) -> list[str]:
        return sorted(set(self.source_by_story.values()), key=str.casefold)

    @property
    def is_possible(self) -> bool:
        return bool(self.outcomes and self.texts.n_stories)

    def hash_with(self, assumptions: Mapping[str, Assumptions]) -> str:
        """SHA-256 of all that the outcome rests on: texts by code alone, since no word of them enters."""
        return jobs.hash_inputs(
            EDITION,
            [self.texts.groups, self.texts.stories, dict(self.premise_by_group), dict(self.source_by_story)],
            asdict(self.choices),
            [_simulated_of(outcome) for outcome in self.outcomes],
            {key: asdict(assumed) for key, assumed in assumptions.items()},
        )


def _simulated_of(outcome: PlannedOutcome) -> dict[str, Any]:
    """What of an outcome enters its simulation: not which instrument asks it."""
    return {name: value for name, value in asdict(outcome).items() if name != "questions"}


def read_planned(study: Study) -> PlannedStudy:
    """The study as it is planned now. Six queries."""
    texts = prospects.read_texts(study)
    plan = reading_plans.plan_of_study(study)
    source_by_story = protocol.source_by_story(study)
    sources = sorted(set(source_by_story.values()), key=str.casefold)
    outcomes = list_planned(
        protocol.read_rows(protocol.latest(study)),
        protocol.drafted_plan(study),
        sources=sources,
        most_stories=max(texts.sizes, default=0),
    )
    return PlannedStudy(
        texts,
        dict(study.groups.order_by("code").values_list("code", "premise")),
        plan.choices,
        reading_plans.design_of(plan, texts),
        source_by_story,
        outcomes,
    )


def assumptions_of(planned: PlannedStudy, job: StudyJob | None) -> dict[str, Assumptions]:
    """What was assumed when that job was asked for, or what is typical."""
    return dict(read_assumptions(planned.outcomes, job.arguments["assumptions"] if job else {}))


def find_last(study: Study) -> StudyJob | None:
    """The precision that was asked for last, whatever was planned then. One query."""
    return jobs.find_last(study, TASK)


def is_outdated(job: StudyJob, planned: PlannedStudy) -> bool:
    """Whether something was planned otherwise since the job was asked for."""
    return job.inputs != planned.hash_with(assumptions_of(planned, job))


def ask(
    study: Study, planned: PlannedStudy, assumptions: Mapping[str, Assumptions], *, by: User, at: datetime
) -> StudyJob:
    """Have a worker simulate the study, or have again what was simulated of the same."""
    by_key = {outcome.key: outcome for outcome in planned.outcomes}
    written = {key: asdict(assumed) | {"form": form_of(by_key[key])} for key, assumed in assumptions.items()}
    inputs = planned.hash_with(assumptions)
    arguments = {"assumptions": written, jobs.LASTS: True}
    job = jobs.ask(study, TASK, inputs, by=by, at=at, arguments=arguments)
    StudyJob.objects.filter(pk=job.pk).update(asked_at=at)
    kept = StudyJob.objects.filter(study=study, task=TASK).order_by("-asked_at").values_list("pk", flat=True)[:N_KEPT]
    StudyJob.objects.filter(study=study, task=TASK).exclude(pk__in=list(kept)).delete()
    return job


def ask_again(study: Study, *, by: User, at: datetime) -> None:
    """Have the plan as it is now simulated with what was assumed last; nothing if nobody asked before."""
    if job := find_last(study):
        planned = read_planned(study)
        if planned.is_possible:
            ask(study, planned, assumptions_of(planned, job), by=by, at=at)


def compute(pk: int) -> None:
    """Do a job of `ask`."""
    jobs.carry_out(pk, _simulate, find_inputs=_inputs_of_now)


def _inputs_of_now(job: StudyJob) -> str:
    planned = read_planned(job.study)
    return planned.hash_with(assumptions_of(planned, job))


def _simulate(job: StudyJob, renew: jobs.Renew) -> dict[str, Any]:
    import numpy as np  # here, so that pages come without it

    planned = read_planned(job.study)
    readings = read_readings(planned)
    if readings is None:
        raise jobs.WorkRefused(_("Nothing is planned yet: import stories and save the reading plan first."))
    assumptions = assumptions_of(planned, job)
    rows: list[dict[str, Any]] = []
    n_outcomes = len({outcome.key for outcome in planned.outcomes if not outcome.is_primary})
    for outcome in planned.outcomes:
        rng = np.random.default_rng(SEED)
        try:
            row = _expect(outcome, planned, readings, assumptions[outcome.key], n_outcomes, rng=rng, renew=renew)
            if not rows and row["contrasts"]["n_studies"] >= FEWEST_TO_ENLARGE:
                row["larger"] = _enlarge(outcome, planned, readings, assumptions[outcome.key], n_outcomes, renew=renew)
        except ValueError:
            sentence = _("%(outcome)s: raters and stories vary more than a share of Yes of %(mean)g %% allows.")
            names = {"outcome": outcome.title, "mean": assumptions[outcome.key].mean}
            raise jobs.WorkRefused(sentence % names) from None
        rows.append(row)
    return {
        "rows": rows,
        "n_readings": len(readings.rater),
        "n_raters": readings.n_raters,
        "n_sources": readings.n_sources,
        "n_groups": len(planned.texts.groups),
        "seats_per_group": planned.choices.seats_per_group,
        "same_raters": planned.design == Design.EVERYBODY,
    }


def _expect(
    outcome: PlannedOutcome,
    planned: PlannedStudy,
    readings: PlannedReadings,
    assumed: Assumptions,
    n_outcomes: int,
    *,
    rng: Any,
    renew: jobs.Renew,
) -> dict[str, Any]:
    """What is expected of one outcome, as JSON has it."""
    from stats import coefficient_precision, precision

    form, deviations = answer_form(outcome, assumed), deviations_of(assumed)
    share = min(1.0, FULL_OUTCOMES / len(planned.outcomes))
    is_of_order = outcome.kind in ("preference", "rank")
    contrasts = precision.expect_contrasts(
        readings,
        form,
        deviations,
        _comparison(outcome, planned, n_outcomes),
        effect=_effect(outcome, assumed),
        rng=rng,
        share=share,
        on_step=renew,
    )
    coefficients = coefficient_precision.expect_coefficients(
        readings, form, deviations, rng=rng, share=share, on_step=renew
    )
    reliability = None
    if not is_of_order:
        parts = replace(deviations, rest=rest_of(outcome, assumed))
        is_crossed = planned.design == Design.EVERYBODY
        reliability = asdict(precision.generalise(parts, planned.choices.seats_per_group, is_crossed=is_crossed))
    return {
        "key": outcome.key,
        "effect": assumed.effect,
        "contrasts": asdict(contrasts),
        "coefficients": [asdict(coefficient) for coefficient in coefficients],
        "reliability": reliability,
    }


def _enlarge(
    outcome: PlannedOutcome,
    planned: PlannedStudy,
    readings: PlannedReadings,
    assumed: Assumptions,
    n_outcomes: int,
    *,
    renew: jobs.Renew,
) -> dict[str, Any]:
    """What the same outcome would come to with twice as many groups, and with twice as many raters for each."""
    import numpy as np  # here, so that pages come without it

    from stats import precision
    from stats.planned_answers import double_groups, double_raters

    larger = {
        "groups": double_groups(readings, same_raters=planned.design == Design.EVERYBODY),
        "raters": double_raters(readings),
    }
    comparison, effect = _comparison(outcome, planned, n_outcomes), _effect(outcome, assumed)
    return {
        name: asdict(
            precision.expect_contrasts(
                plan,
                answer_form(outcome, assumed),
                deviations_of(assumed),
                comparison,
                effect=effect,
                rng=np.random.default_rng(SEED),
                share=SHARE_OF_LARGER,
                on_step=renew,
            )
        )
        for name, plan in larger.items()
    }


def _comparison(outcome: PlannedOutcome, planned: PlannedStudy, n_outcomes: int) -> PlannedComparison:
    from stats.precision import PlannedComparison

    number = {name: n for n, name in enumerate(planned.sources)}
    return PlannedComparison(
        test=outcome.test,
        pairs=tuple((number[first], number[second]) for first, second in outcome.pairs),
        n_outcomes=1 if outcome.is_primary else max(n_outcomes, 1),
    )


def _effect(outcome: PlannedOutcome, assumed: Assumptions) -> float:
    """As `stats.planned_answers` takes it."""
    from stats.planned_answers import latent_effect

    is_of_order = outcome.kind in ("preference", "rank")
    return latent_effect(assumed.effect, deviations_of(assumed)) if is_of_order else assumed.effect


def answer_form(outcome: PlannedOutcome, assumed: Assumptions) -> AnswerForm:
    from stats.planned_answers import AnswerForm

    kind: Any = outcome.kind
    return AnswerForm(kind=kind, mean=assumed.mean, low=outcome.low, high=outcome.high, step=outcome.step)


def deviations_of(assumed: Assumptions) -> Deviations:
    from stats.planned_answers import PARTS, Deviations

    return Deviations(**{name: getattr(assumed, name) for name in (*PARTS, "rest")})


def rest_of(outcome: PlannedOutcome, assumed: Assumptions) -> float:
    """The standard deviation of the rest; of a verdict what its share of Yes leaves beside the other parts."""
    if outcome.kind != "verdict":
        return assumed.rest
    parts = (assumed.rater, assumed.rater_source, assumed.premise, assumed.story)
    left = assumed.mean * (100 - assumed.mean) - sum(part**2 for part in parts)
    return float(max(left, 0.0) ** 0.5)


def read_readings(planned: PlannedStudy) -> PlannedReadings | None:
    """Who reads what, if everybody reads as many groups as allowed; None if nobody reads a story of a known source.

    Where no story has a source, all are taken as of one.
    """
    import numpy as np  # here, so that pages come without it

    from stats.planned_answers import PlannedReadings

    prospect = prospects.look_ahead(planned.texts, planned.choices)
    clusters = _clusters(planned)
    sources = planned.source_by_story
    rows = [
        (
            sources.get(story, ""),
            clusters.block(group),
            clusters.name(group, story),
            group,
            story,
            str(rater),
        )
        for rater, path in enumerate(prospect.paths)
        for visit in path
        if not visit.is_repeat
        for group in [planned.texts.groups[visit.group]]
        for story in visit.stories
        if story in sources or not sources
    ]
    if not rows:
        return None
    names = list(zip(*rows, strict=True))
    order_of_sources = {name: n for n, name in enumerate(planned.sources or [""])}
    numbered = [np.unique(np.array(column), return_inverse=True)[1].astype(np.int64) for column in names[1:]]
    source = np.array([order_of_sources[name] for name in names[0]], dtype=np.int64)
    block, cluster, group, story, rater = numbered
    return PlannedReadings(source=source, block=block, cluster=cluster, group=group, story=story, rater=rater)


def _clusters(planned: PlannedStudy) -> premises.Clusters:
    """What stories are sampled with, as reports will find it; see `reports.dataset.premises`."""
    units = [
        (group, story)
        for group, stories in zip(planned.texts.groups, planned.texts.stories, strict=True)
        for story in stories
    ]
    has_batches = (
        planned.design == Design.EVERYBODY
        and not any(outcome.kind in ("preference", "rank") for outcome in planned.outcomes)
        and premises.repeat_sources(units, planned.source_by_story)
    )
    return premises.cluster_stories(list(planned.premise_by_group.items()), has_batches=lambda: has_batches)
