"""What a judge cost: every request that was paid, also those that came to nothing."""

from decimal import Decimal
from typing import Any

import pytest

from annotation.models import Rater
from judges import catalogue
from judges.models import Attempt, Call, Endpoint, Judge, Run
from reports import results
from studies import protocol
from studies.models import Study
from tests import factories
from tests.factories import NOON
from tests.reports import given

pytestmark = pytest.mark.django_db


def run_of(study: Study, slug: str, costs: list[list[str | None]]) -> Run:
    """A run with a call for each story, of which each list holds what its requests cost; None if nobody knows."""
    endpoint = Endpoint.objects.create(name=slug, base_url="https://api.example.org/v1", is_allowed=True)
    judge = Judge.objects.create(slug=slug, endpoint=endpoint, model="m", prompt=catalogue.load_prompts()[0])
    given.verdicts(study, {slug: "y" * study.stories.count()}, kind=Rater.Kind.MODEL)
    run = Run.objects.create(study=study, judge=judge, document="{}", sha256="0" * 64, created_by="tests", n_planned=2)
    step = protocol.load_protocol(protocol.current(study)).step("tests")
    assert step is not None
    assignment = study.assignments.filter(rater__code=slug).first()
    for story, of_call in zip(study.stories.order_by("code"), costs, strict=False):
        fields: dict[str, Any] = {"assignment": assignment, "step": step, "item": protocol.items_of(step)[0]}
        call = Call.objects.create(run=run, story=story, state=Call.State.OK, request={}, **fields)
        for number, cost in enumerate(of_call, start=1):
            Attempt.objects.create(
                call=call,
                number=number,
                sent_at=NOON,
                outcome=Attempt.Outcome.ANSWERED,
                cost=None if cost is None else Decimal(cost),
                n_tokens_in=1000,
                n_tokens_out=10,
            )
    return run


def test_a_judge_costs_what_its_requests_cost_and_what_was_paid_twice_is_counted() -> None:
    study = given.closed_study(n_groups=1)
    run_of(study, "dear", [["0.03", "0.01"], ["0.02", None]])
    run_of(study, "free", [[None], [None]])

    dear, free = results.compute(study)["judge_costs"]

    assert dear == {
        "judge": "dear",
        "cost": pytest.approx(0.06),
        "per_story": pytest.approx(0.03),
        "n_stories": 2,
        "n_calls": 2,
        "n_requests": 4,
        "n_without_cost": 1,
        "n_paid_again": 1,
        "n_tokens_in": 4000,
        "n_tokens_out": 40,
    }
    assert (free["cost"], free["per_story"], free["n_without_cost"]) == (None, None, 2)


def test_calls_that_were_never_sent_are_counted_apart_from_those_without_a_reply() -> None:
    study = given.closed_study(n_groups=2)
    run = run_of(study, "dear", [["0.03"], ["0.01"], [], []])
    for call, state in zip(
        run.calls.order_by("pk"), ("ok", "provider_error", "not_asked", "budget_stopped"), strict=True
    ):
        Call.objects.filter(pk=call.pk).update(state=state)

    (dear,) = results.compute(study)["judge_costs"]

    assert (dear["n_calls"], dear["n_without_reply"], dear["n_not_asked"]) == (4, 1, 2)


def test_another_request_makes_another_report(client: Any) -> None:
    study = given.closed_study(n_groups=1)
    run = run_of(study, "dear", [["0.03"]])
    before = results.fingerprint(study)
    Attempt.objects.create(
        call=run.calls.get(), number=2, sent_at=NOON, outcome=Attempt.Outcome.ANSWERED, cost=Decimal("0.01")
    )
    client.force_login(factories.staff("researcher"))

    page = client.get("/reports/plums/figures/all/").content.decode()

    assert results.fingerprint(study) != before
    assert '<td class="n lead-figure">0.0400</td>' in page
