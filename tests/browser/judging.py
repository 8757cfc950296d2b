"""Everything that pages of judges can show, made once: endpoints, judges, runs and choices of prompts in each state."""

import os
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.test import override_settings
from django.utils import timezone

from judges import catalogue, lifecycle, runs
from judges.endpoints import connection_tests
from judges.laboratory import prompt_choices
from judges.models import Attempt, Call, ConnectionTest, Endpoint, Judge, Price, Prompt, ProviderBatch, Run, TextRelease
from judges.planning import Scope
from judges.planning.estimates import N_ASKED_AT_MOST
from judges.settlement import erasure
from studies.models import Provenance, Source, Study
from tests import factories
from tests.judges import standin as told
from tests.judges.conftest import KEY, judge_at, sendable
from tests.judges.laboratory.prompt_choices.test_validation import knows_with_one_template, pairs
from tests.judges.standin import Hit, Reply, StandIn, serving

LOST = (told.REFUSED, told.BLOCKED, told.TRUNCATED, told.PROSE, told.OUT_OF_RANGE, told.OTHER_MODEL)
TRIED = ("litbench-minimal", "litbench-alternative")


def build() -> dict[str, str]:
    """The addresses of all pages of judges in each of their states, by what is seen there."""
    os.environ["STANDIN_API_KEY"] = KEY
    with serving() as standin, override_settings(ALLOWED_PRIVATE_ENDPOINTS=[standin.base_url.split("/")[2]]):
        study = sendable(factories.study("damsons", n_stories=2, n_items=2))
        addresses = {
            **dict(_endpoints(standin)),
            **dict(_runs(study, standin)),
            **dict(_shelves(study)),
            **dict(_erased(standin)),
            **dict(releases()),
            **dict(_choices(standin)),
        }
    del os.environ["STANDIN_API_KEY"]
    return addresses


def _judge(standin: StandIn, slug: str) -> Judge:
    """A judge whose model has a price."""
    judge = judge_at(standin, slug)
    Judge.objects.filter(pk=judge.pk).update(parameters={"temperature": 0, "max_tokens": 200})
    judge.refresh_from_db()
    Price.objects.get_or_create(
        adapter="openai",
        model=judge.model,
        valid_from=timezone.localdate(),
        defaults={"usd_per_million_in": Decimal(3), "usd_per_million_out": Decimal(15)},
    )
    return judge


def _endpoints(standin: StandIn) -> Iterator[tuple[str, str]]:
    yield "endpoints", "/endpoints/"
    yield "a new endpoint", "/endpoints/new/"
    yield "a new endpoint from a preset", "/endpoints/new/?preset=ollama"
    for name, script in (("answers", []), ("refuses-the-key", [told.NO_KEY])):
        endpoint = _judge(standin, name).required_endpoint
        standin.script = list(script)
        connection_tests.run(ConnectionTest.objects.create(endpoint=endpoint, model="standin", asked_by="ann"))
        yield f"an endpoint that {name}", f"/endpoints/{endpoint.pk}/"
    endpoint = _judge(standin, "was-asked").required_endpoint
    ConnectionTest.objects.create(endpoint=endpoint, model="standin", asked_by="ann")
    yield "an endpoint whose test is awaited", f"/endpoints/{endpoint.pk}/"


def _runs(study: Study, standin: StandIn) -> Iterator[tuple[str, str]]:
    base = f"/studies/{study.slug}/runs"
    now = timezone.now()
    yield "a run that is planned", f"{base}/{runs.plan(study, _judge(standin, 'planned'), by='ann', budget=5).pk}/"
    yield "a run at work", f"{base}/{_at_work(study, _judge(standin, 'at-work')).pk}/"

    resting = _at_work(study, _judge(standin, "resting"))
    Endpoint.objects.filter(name="resting").update(
        resting_until=now + timedelta(hours=1), resting_reason="HTTP 429: slow down"
    )
    yield "a run that rests", f"{base}/{resting.pk}/"

    waiting = _at_work(study, _judge(standin, "waiting"))
    Endpoint.objects.filter(name="waiting").update(needs_attention="The key is refused. Set the right one.")
    yield "a run that waits for a person", f"{base}/{waiting.pk}/"

    standin.script = [told.NO_KEY] * 3
    stopped = runs.drain(runs.start(study, _judge(standin, "stopped"), by="ann"))
    standin.script = []
    yield "a run whose first calls were refused", f"{base}/{stopped.pk}/"

    paused = runs.pause(_at_work(study, _judge(standin, "paused")), lifecycle.PAUSED_BY, name="ann")
    yield "a run that is paused", f"{base}/{paused.pk}/"

    yield "a run whose budget is reached", f"{base}/{_spent(study, _judge(standin, 'spent')).pk}/"

    # Each question has its own fault, whenever and however often it comes.
    reply_by_call: dict[str, Reply] = {}
    usual, standin.reply = standin.reply, lambda hit: reply_by_call.setdefault(hit.call, LOST[len(reply_by_call) % 6])
    failed = runs.drain(runs.start(study, _judge(standin, "failed"), by="ann", scope=Scope(n_repeats=2)))
    standin.reply = usual
    yield "a finished run with failures", f"{base}/{failed.pk}/"
    yield "its calls", f"{base}/{failed.pk}/calls/"
    yield "its refused calls", f"{base}/{failed.pk}/calls/?state=refused"
    yield "a call that is answered", f"{base}/{paused.pk}/calls/{paused.calls.filter(state='ok')[0].pk}/"
    for state in ("refused", "blocked", "truncated", "unreadable", "out_of_range"):
        yield f"a call that is {state}", f"{base}/{failed.pk}/calls/{failed.calls.filter(state=state)[0].pk}/"

    guarded = _guarded(study, _judge(standin, "guarded"), standin)
    yield "a finished run with its guards", f"{base}/{guarded.pk}/"
    yield "a probe", f"{base}/{guarded.pk}/calls/{guarded.calls.filter(kind=Call.Kind.PROBE)[0].pk}/"
    yield "a fixed text", f"{base}/{guarded.pk}/calls/{guarded.calls.filter(kind=Call.Kind.TEST)[0].pk}/"

    batched = runs.plan(study, _judge(standin, "batched"), by="ann", sends_batches=True)
    Run.objects.filter(pk=batched.pk).update(state=Run.State.RUNNING, approved_by="ann", approved_at=now)
    ProviderBatch.objects.create(run=batched, name="batch-1", state="sent", n_calls=4, created_at=now, due_at=now)
    yield "a run in batches", f"{base}/{batched.pk}/"

    measured = runs.start(study, catalogue.make_metric_judge("length"), by="ann")
    yield "a run of a metric", f"{base}/{measured.pk}/"

    free = _judge(standin, "free")
    yield "runs", f"{base}/"
    yield "a new run", f"{base}/new/"
    yield "a dry run", f"{base}/new/?judge={free.pk}"
    yield "a dry run of nothing", f"{base}/new/?judge={failed.judge_id}"
    yield "a dry run with a mistake", f"{base}/new/?judge={free.pk}&stories=nowhere"


def _at_work(study: Study, judge: Judge) -> Run:
    """A run with some calls answered and one on the way, which no worker takes up."""
    run = runs.drain(runs.start(study, judge, by="ann", scope=Scope(n_repeats=2), budget=Decimal(5)))
    keys = list(run.calls.order_by("-pk").values_list("pk", flat=True))
    run.calls.filter(pk__in=keys[:3]).update(state=Call.State.PLANNED)
    run.calls.filter(pk=keys[3]).update(state=Call.State.LEASED)
    _spread(run)
    Run.objects.filter(pk=run.pk).update(state=Run.State.RUNNING, finished_at=None)
    run.refresh_from_db()
    return run


def _spent(study: Study, judge: Judge) -> Run:
    """A run that has stopped at its budget with calls left: it bears one call at its worst and little besides."""
    planned = runs.plan(study, judge, by="ann", scope=Scope(n_repeats=2))
    worst = Decimal(planned.estimate["worst_cost"]) / N_ASKED_AT_MOST / planned.n_planned
    runs.discard(planned)
    run = runs.drain(
        runs.start(study, judge, by="ann", scope=Scope(n_repeats=2), budget=round(worst * Decimal("1.05"), 4))
    )
    assert run.state == Run.State.WAITING
    assert {"ok", "budget_stopped"} <= set(runs.count_calls(run))
    return run


def _spread(run: Run) -> None:
    """Its answers, as if they had come over a minute."""
    begins = timezone.now() - timedelta(minutes=1)
    for n, attempt in enumerate(Attempt.objects.filter(call__run=run).order_by("pk")):
        sent_at = begins + timedelta(seconds=n * n / 4)
        Attempt.objects.filter(pk=attempt.pk).update(
            sent_at=sent_at, ended_at=sent_at + timedelta(seconds=0.4 + n % 5 / 2)
        )


def _guarded(study: Study, judge: Judge, standin: StandIn) -> Run:
    def know(hit: Hit) -> Reply:
        return told.says('{"known": "yes", "title": "Plums", "author": "", "continuation": "and then it rained"}')

    usual, standin.reply = standin.reply, know
    run = runs.drain(runs.start(study, judge, by="ann", scope=Scope(probes=True, anchors=True)))
    standin.reply = usual
    return run


def _shelves(study: Study) -> Iterator[tuple[str, str]]:
    base = f"/studies/{study.slug}"
    free, used = Judge.objects.get(slug="free"), Judge.objects.get(slug="failed")
    own = Prompt.objects.create(name="own", version="1", template="{{ stories }}\n{{ question }}\n{{ words }}")
    yield "judges", f"{base}/judges/"
    yield "a new judge", f"{base}/judges/new/"
    yield "a judge that can be changed", f"{base}/judges/{free.pk}/"
    yield "a judge that was used", f"{base}/judges/{used.pk}/"
    yield "a new panel", f"{base}/judges/panel/"
    yield "prompts", f"{base}/prompts/"
    yield "a new prompt", f"{base}/prompts/new/"
    yield "a prompt that can be changed", f"{base}/prompts/{own.pk}/"
    yield "a prompt that was used", f"{base}/prompts/{used.prompt_id}/"


def _erased(standin: StandIn) -> Iterator[tuple[str, str]]:
    study = sendable(factories.study("sloes", n_stories=2, n_items=1))
    run = runs.drain(runs.start(study, _judge(standin, "erased"), by="ann"))
    story = study.stories.order_by("code")[0]
    erasure.empty_calls([story.pk])
    yield "a run with erased calls", f"/studies/sloes/runs/{run.pk}/"
    yield "a call that was erased", f"/studies/sloes/runs/{run.pk}/calls/{run.calls.filter(story=story)[0].pk}/"


def releases() -> Iterator[tuple[str, str]]:
    """The page of derived texts, with some to release and with none."""
    study = factories.study("gages", n_stories=4, planned=False)
    model = Source.objects.create(name="model-1", kind=Source.Kind.MODEL)
    provenance = Provenance.objects.filter(story__study=study)
    provenance.update(source=model)
    factories.plan(study)
    released = {"licence": "CC BY 4.0", "reason": "The writers agreed to it on the consent page."}
    TextRelease.objects.create(study=study, codes=["p1s4"], by="ann", **released)
    provenance.filter(story__code="p1s4").update(may_send_out=True)
    yield "texts to release", "/studies/gages/runs/texts/"
    yield "no texts to release", "/studies/sloes/runs/texts/"


def _choices(standin: StandIn) -> Iterator[tuple[str, str]]:
    study = pairs()
    standin.reply = knows_with_one_template
    judge = _judge(standin, "chooses")
    prompts = [prompt for prompt in catalogue.load_prompts() if prompt.name in TRIED]
    base = f"/studies/{study.slug}/runs/prompt"
    ticked = "&".join(f"prompts={prompt.pk}" for prompt in prompts)
    yield "a new choice of a prompt", f"{base}/"
    yield "what a choice would take", f"{base}/?judge={judge.pk}&{ticked}&share=30"
    yield "runs with choices", f"/studies/{study.slug}/runs/"

    def plan(seed: int) -> Any:
        return prompt_choices.plan(study, judge, prompts, share=0.3, seed=seed, by="ann")

    yield "a planned choice", f"{base}/{plan(0).pk}/"
    tried = prompt_choices.approve(plan(1), by="bea")
    yield "a choice being tried", f"{base}/{tried.pk}/"
    held = prompt_choices.approve(plan(2), by="bea")
    Run.objects.filter(pk=held.trials.all()[0].run_id).update(state=Run.State.STOPPED)
    yield "a choice that is held up", f"{base}/{held.pk}/"
    for seed, is_evaluated in ((3, False), (4, True)):
        choice = prompt_choices.approve(plan(seed), by="bea")
        for trial in choice.trials.all():
            runs.drain(trial.run)
        prompt_choices.decide(choice, at=timezone.now())
        if is_evaluated:
            runs.drain(prompt_choices.start_chosen(choice, by="bea"))
            choice.refresh_from_db()
            prompt_choices.choices.evaluate(choice, at=timezone.now())
        yield f"a choice that is {'evaluated' if is_evaluated else 'decided'}", f"{base}/{choice.pk}/"
