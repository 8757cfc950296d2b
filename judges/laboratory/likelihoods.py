"""Surprise by a language model as a run: what it takes, its calls, and the scores that come in once it is finished.

An endpoint is asked for completions of one token that echo the premise and the story with their log-probabilities, as
vLLM gives them. Each request is a call of the engine, as those of judges are. What a reply says of a story stands in
`judges.laboratory.settlement.surprise_results`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from judges import parsing, prompts, runs, score_import
from judges.laboratory.settlement import surprise_results
from judges.laboratory.settlement.surprise_results import PlacedText
from judges.models import Call, Endpoint, Judge, Run, ScoreCard
from judges.planning import CannotRun, estimates
from judges.planning.estimates import RunEstimate
from judges.providers import LIKELIHOOD, Request
from judges.requests import texts
from judges.score_import import CardText
from studies import hashing, licences, protocol
from studies.documents.names import first_free
from studies.incoming_tables.errors import ImportRefused
from studies.models import Study

PARAMETERS = {"max_tokens": 1}
METRIC = "surprise"


class CannotMeasureSurprise(ValueError):
    """The endpoint says nothing of how likely these texts are; the message says why and what would do."""


@dataclass(frozen=True)
class SurprisePlan:
    """What is asked of a model, and what that takes. kept : values of passages that were measured before"""

    study: Study
    endpoint: Endpoint
    model: str
    passages: Sequence[PlacedText]
    kept: Mapping[PlacedText, float]
    estimate: RunEstimate

    @property
    def missing(self) -> list[PlacedText]:
        """The passages that are asked for, each in a call of its own."""
        return [passage for passage in self.passages if passage not in self.kept]

    @property
    def measure(self) -> str:
        """Under what name its values are kept."""
        return surprise_results.name_measure(self.endpoint.name, self.model)


def plan_surprise(study: Study, *, model: str) -> SurprisePlan:
    """What it takes to ask for every story that is not withheld. model : ENDPOINT/MODEL. Sends and writes nothing.

    Raises CannotMeasureSurprise, NotPlannable if nothing is frozen yet.
    """
    protocol.current(study)
    endpoint, name = _find_endpoint(model)
    passages = surprise_results.list_passages(study)
    if not passages:
        raise CannotMeasureSurprise(_("%(study)s has no story to measure") % {"study": study.slug})
    if endpoint.is_outside:
        _check_sendable(passages, endpoint)
    kept = surprise_results.read_kept(surprise_results.name_measure(endpoint.name, name), passages)
    requests = [_build_request(name, passage) for passage in passages if passage not in kept]
    judge = Judge(endpoint=endpoint, model=name, parameters=PARAMETERS)
    estimate = estimates.estimate(judge, requests, on=timezone.now().date())
    return SurprisePlan(study, endpoint, name, passages, kept, estimate)


def check_budget(plan: SurprisePlan, budget: Decimal) -> None:
    """Raise CannotMeasureSurprise if it could cost more US dollars than that, or if nobody knows what it costs."""
    worst_cost = plan.estimate.worst_cost
    if worst_cost is None:
        message = _("%(model)s has no price, so that no budget can be kept; enter its price, or leave out the budget")
        raise CannotMeasureSurprise(message % {"model": f"{plan.endpoint.name}/{plan.model}"})
    if worst_cost > budget:
        message = _("it could cost $ %(cost)s, more than the budget of $ %(budget)s")
        raise CannotMeasureSurprise(message % {"cost": f"{worst_cost:,.4f}", "budget": f"{budget:,.4f}"})


def write_run(plan: SurprisePlan, *, metric: str, budget: Decimal | None, by: str) -> Run:
    """The run of the plan, which sends nothing before it is approved; one of this model that is unfinished, as it is.

    metric : as whose scores the values come in. Raises CannotMeasureSurprise.
    """
    try:
        score_import.check_card(plan.study, CardText(metric, ScoreCard.Better.HIGHER, plan.endpoint.name))
    except ImportRefused as error:
        raise CannotMeasureSurprise(str(error)) from None
    unfinished = Run.objects.filter(study=plan.study, judge__in=_find_measurers(plan)).exclude(state=Run.State.FINISHED)
    if run := unfinished.first():
        if (other := run.frozen["metric"]) != metric:
            message = _(
                "%(model)s is already being asked for the scores “%(metric)s”; resume that run under this name, or "
                "close it first"
            )
            raise CannotMeasureSurprise(message % {"model": f"{plan.endpoint.name}/{plan.model}", "metric": other})
        return run
    try:
        with transaction.atomic():
            return _write(plan, metric=metric, budget=budget, by=by)
    except IntegrityError:
        message = _("%(model)s has just been asked in %(study)s; look at its run")
        names = {"model": f"{plan.endpoint.name}/{plan.model}", "study": plan.study.slug}
        raise CannotMeasureSurprise(message % names) from None


def work(run: Run, *, by: str) -> ScoreCard:
    """The scores of the run, which is approved and worked off here and now; one that was broken off goes on.

    Raises CannotMeasureSurprise if it does not come to its end; what came back stays.
    """
    try:
        if run.state == Run.State.PLANNED:
            run = runs.approve(run, by=by)
        elif run.state != Run.State.RUNNING:
            run = runs.resume(run)
    except CannotRun as error:
        raise CannotMeasureSurprise(str(error)) from None
    run = runs.drain(run)
    card = ScoreCard.objects.filter(run=run).last()
    if run.state != Run.State.FINISHED or card is None:
        message = _("%(model)s: %(why)s Replies received are kept: ask again to continue")
        why = run.note or (run.judge.endpoint.attention if run.judge.endpoint else "") or run.get_state_display()
        raise CannotMeasureSurprise(message % {"model": run.judge.slug, "why": f"{why.rstrip('.')}."})
    return card


def _find_endpoint(model: str) -> tuple[Endpoint, str]:
    endpoint_name, _slash, name = model.partition("/")
    endpoint = Endpoint.objects.filter(name=endpoint_name).first()
    if endpoint is None or not name:
        message = _("“%(name)s” names no endpoint with a model: write ENDPOINT/MODEL; there are: %(names)s")
        names = ", ".join(Endpoint.objects.values_list("name", flat=True)) or "–"
        raise CannotMeasureSurprise(message % {"name": model, "names": names})
    if not endpoint.is_allowed:
        message = _("%(name)s: an administrator has not allowed the endpoint %(endpoint)s")
        raise CannotMeasureSurprise(message % {"name": model, "endpoint": endpoint.name})
    if endpoint.provider is None or LIKELIHOOD not in endpoint.provider.gives:
        message = _(
            "%(name)s: %(provider)s gives no log-probabilities of a text; use an endpoint that echoes them, as vLLM "
            "does"
        )
        provider = endpoint.provider.title if endpoint.provider else endpoint.adapter
        raise CannotMeasureSurprise(message % {"name": model, "provider": provider})
    return endpoint, name


def _check_sendable(passages: Sequence[PlacedText], endpoint: Endpoint) -> None:
    hashes = {hashing.sha256(passage.story.text) for passage in passages}
    leave = licences.find_leave(hashes)
    n_refused = sum(not leave.get(sha, False) for sha in hashes)
    if n_refused:
        message = ngettext(
            "%(n)d text is not marked as free to be sent to an outside provider, which %(endpoint)s is; release it in "
            "its study, or use an endpoint of your own",
            "%(n)d texts are not marked as free to be sent to an outside provider, which %(endpoint)s is; release them "
            "in their studies, or use an endpoint of your own",
            n_refused,
        )
        raise CannotMeasureSurprise(message % {"n": n_refused, "endpoint": endpoint.name})


def _build_request(model: str, passage: PlacedText) -> Request:
    content = passage.prefix + passage.story.text
    version, sha256 = passage.key
    return {
        "model": model,
        "messages": [{"role": "user", "content": content}],
        "parameters": PARAMETERS,
        "asks": LIKELIHOOD,
        "of": {"version": version, "sha256": sha256, "n_before": len(passage.prefix), "n": len(content)},
    }


def _find_measurers(plan: SurprisePlan) -> list[Judge]:
    return list(Judge.objects.filter(endpoint=plan.endpoint, model=plan.model, parameters=PARAMETERS, is_measurer=True))


def _make_measurer(plan: SurprisePlan) -> Judge:
    """The row that stands for the model where it measures and judges nothing."""
    if rows := _find_measurers(plan):
        return rows[0]
    name = slugify(f"surprise {plan.endpoint.name} {plan.model}") or METRIC
    slugs = set(Judge.objects.filter(slug__startswith=name[:40]).values_list("slug", flat=True))
    return Judge.objects.create(
        slug=first_free(name, slugs, longest=80),
        endpoint=plan.endpoint,
        model=plan.model,
        parameters=PARAMETERS,
        is_measurer=True,
    )


def _write(plan: SurprisePlan, *, metric: str, budget: Decimal | None, by: str) -> Run:
    judge, missing = _make_measurer(plan), plan.missing
    endpoint = plan.endpoint
    document = hashing.canonical_json(
        {
            "study": plan.study.slug,
            "judge": judge.slug,
            "metric": metric,
            "measure": plan.measure,
            "endpoint": {"name": endpoint.name, "adapter": endpoint.adapter, "base_url": endpoint.base_url},
            "model": plan.model,
            "parameters": PARAMETERS,
            "parser": parsing.VERSION,
            "stories": [passage.story.code for passage in missing],
        }
    )
    run = Run.objects.create(
        study=plan.study,
        judge=judge,
        state=Run.State.PLANNED,
        document=document,
        sha256=hashing.sha256(document),
        created_by=by,
        n_planned=len(missing),
        budget=budget,
        estimate=plan.estimate.document,
    )
    shelf, mark = texts.Shelf(), prompts.new_mark()
    calls = [_make_call(run, plan, passage, shelf, mark=mark) for passage in missing]
    shelf.store()
    Call.objects.bulk_create(calls, batch_size=200)
    return run


def _make_call(run: Run, plan: SurprisePlan, passage: PlacedText, shelf: texts.Shelf, *, mark: str) -> Call:
    request = _build_request(plan.model, passage)
    request["of"] |= {"measure": plan.measure}
    # No fence stands around the text, so a salt keeps other runs, and other stories of the same words, from sharing it.
    hashes = [shelf.put(passage.story.text, passage.story, salt=f"{mark} {passage.story.pk}")]
    if passage.prefix:
        hashes.insert(0, shelf.put(passage.prefix))
    return Call(
        run=run,
        kind=Call.Kind.LIKELIHOOD,
        story=passage.story,
        request=request | {"messages": [{"role": "user", "texts": hashes}]},
        request_sha256=texts.fingerprint(request, endpoint=plan.endpoint.pk),
    )
