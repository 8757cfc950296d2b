"""A real model asks and answers through Quire: the small one of `make model`, over HTTP, as it is started there.

What it says is held against nothing: a model of 135 million parameters judges no story. Form, counts and ledger are.
"""

import json
import math
import signal
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Fill, Response
from judges import catalogue, runs
from judges.endpoints import connection_tests
from judges.endpoints.presets import LOCAL, all_presets
from judges.laboratory import generation, recipes
from judges.laboratory.generation import GenerationOrder
from judges.models import Attempt, Call, Draft, Endpoint, GeneratedText, Judge, Parse, Price, Run, ScoreCard
from judges.runs import Scope
from studies.models import Instrument, ProtocolVersion, Step, StoryGroup, Study
from tests import factories
from tests.annotation import clozes
from tests.judges.conftest import assert_everything_ended_once
from tools import local_model

pytestmark = [pytest.mark.django_db, pytest.mark.model]
PRESET = all_presets()[LOCAL]
# Short, since every word is read on one core.
LAMP = "The lamp went out, and Ana laughed. She had waited for the dark all day, as others wait for a letter."
DOOR = "Rui painted the door blue. In the morning it was green, and nobody in the house would say who had been up."
CLOZE = """
slug = "night"
version = "1"
title = "A House at Night"
citation = "Written for the tests."
skeleton = "The lamp went out, and Ana {{1}}. On the stairs stood {{2}}."

[[sections]]
number = 1
title = "The Stairs"

[[sections.constraints]]
text = "Nobody is frightened."

[[blanks]]
number = 1
kind = "word"
section = 1
hint = "what Ana did"

[[blanks]]
number = 2
kind = "word"
section = 1
hint = "who was there"
"""
FORM = {"temperature": 0, "seed": 1, "max_tokens": 120}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where the model answers, started as `make model` starts it; Ctrl-C ends it."""
    try:
        local_model.find_weights()
    except local_model.NoServer as error:
        pytest.skip(str(error))
    with local_model.serving() as (process, base_url):
        yield base_url
        process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        assert (process.wait(30), process.stdout.read()) == (0, b""), "it ends at Ctrl-C, and says nothing before"


@pytest.fixture
def endpoint(address: str, settings: Any) -> Endpoint:
    """The preset's endpoint, at the port of this test's server, with a price of 0."""
    settings.ALLOWED_PRIVATE_ENDPOINTS = [address.split("/")[2]]
    row = Endpoint.objects.create(**PRESET.fields | {"base_url": address, "is_allowed": True})
    Price.objects.create(
        endpoint=row, model=PRESET.model, usd_per_million_in=0, usd_per_million_out=0, valid_from="2026-01-01"
    )
    return row


def judge(endpoint: Endpoint, prompt: str, **parameters: Any) -> Judge:
    row = next(p for p in catalogue.load_prompts() if p.name == prompt)
    return Judge.objects.create(
        slug="small", endpoint=endpoint, model=PRESET.model, prompt=row, parameters=FORM | parameters
    )


def study_of(*texts: str, instrument: Instrument, scope: str) -> Study:
    """A live study of one group with these stories, all asked by one step."""
    study = Study.objects.create(
        slug="lamps", title="Lamps", seats_per_group=1, seed=7, organiser="Us", contact="us@example.org"
    )
    group = StoryGroup.objects.create(study=study, code="night", premise="A house at night")
    group.stories.add(*(factories.story(study, f"s{n}", text=text) for n, text in enumerate(texts, 1)))
    version = ProtocolVersion.objects.create(study=study, number=1)
    Step.objects.create(version=version, position=1, key="consent", kind="consent", text="You can stop at any time.")
    Step.objects.create(
        version=version, position=2, key="asked", kind="rating", title="Read", instrument=instrument, scope=scope
    )
    factories.plan(study)
    Study.objects.filter(pk=study.pk).update(state=Study.State.LIVE)
    study.refresh_from_db()
    return study


def bodies(run: Run) -> list[dict[str, Any]]:
    answered = Attempt.objects.filter(call__run=run, outcome=Attempt.Outcome.ANSWERED).order_by("pk")
    return [json.loads(attempt.body) for attempt in answered]


def assert_ledger(run: Run) -> None:
    """Every call has ended and every request has its tokens, by the model that was asked, for nothing."""
    run.refresh_from_db()
    assert run.state == Run.State.FINISHED
    assert sum(runs.count_calls(run).values()) == run.n_planned == run.calls.count()
    assert not set(runs.count_calls(run)) & set(Call.PENDING)
    rows = list(Attempt.objects.filter(call__run=run))
    assert {(row.outcome, row.model, row.cost) for row in rows} == {("answered", PRESET.model, Decimal(0))}
    assert all(row.n_tokens_in and row.n_tokens_out for row in rows)


def test_the_presets_endpoint_answers_by_its_model(endpoint: Endpoint) -> None:
    test = connection_tests.run(connection_tests.ask(endpoint, PRESET.model, by="tests"))

    assert (test.kind, test.answered_by, test.is_asked_model) == ("", PRESET.model, True)


def test_verdicts_come_with_the_log_probabilities_of_their_words(endpoint: Endpoint) -> None:
    study = study_of(LAMP, DOOR, instrument=factories.instrument(), scope="story")
    asked = judge(endpoint, "plain-verdict-first", logprobs=True, top_logprobs=5)

    run = runs.drain(runs.start(study, asked, by="tests"))

    assert_ledger(run)
    assert_everything_ended_once(run)
    assert run.n_planned == 4
    assert set(Response.objects.filter(outcome="answered").values_list("value", flat=True)) <= {"yes", "no"}
    for choice in (body["choices"][0] for body in bodies(run)):
        tokens = choice["logprobs"]["content"]
        assert "".join(token["token"] for token in tokens).strip() == choice["message"]["content"].strip()
        assert all(token["logprob"] <= 0 for token in tokens)
        assert all(0 < sum(math.exp(t["logprob"]) for t in token["top_logprobs"]) < 1.001 for token in tokens)
    read = Parse.objects.filter(attempt__call__run=run, state=Call.State.OK)
    for parse in read:
        for key, grade in parse.grades.items():
            assert key in parse.values
            assert set(grade["by_value"]) == {"yes", "no"}
            assert sum(grade["by_value"].values()) == pytest.approx(1)
            assert 0 <= grade["outside"] < 1
    assert any(parse.grades for parse in read) or not read.exists()


def test_scales_with_a_schema_are_read_without_a_loss(endpoint: Endpoint) -> None:
    settings = {"low": 1, "high": 5}
    instrument = factories.instrument(type="scale", rationale="none", rationale_least=0, settings=settings)
    study = study_of(LAMP, DOOR, instrument=instrument, scope="story")

    run = runs.drain(runs.start(study, judge(endpoint, "plain-all-items-structured"), by="tests"))

    assert_ledger(run)
    assert (run.n_planned, runs.count_calls(run)) == (2, {"ok": 2})
    values = list(Response.objects.values_list("value", flat=True))
    assert len(values) == 4
    assert set(values) <= {1, 2, 3, 4, 5}
    assert all(set(json.loads(b["choices"][0]["message"]["content"])) == {"item-1", "item-2"} for b in bodies(run))


def test_a_pair_is_read_in_both_orders(endpoint: Endpoint) -> None:
    instrument = factories.instrument(n_items=1, type="pair", rationale="none", rationale_least=0)
    study = study_of(LAMP, DOOR, instrument=instrument, scope="group")
    scope = Scope(orders=("planned", "reversed"))

    run = runs.drain(runs.start(study, judge(endpoint, "plain-structured"), by="tests", scope=scope))

    assert_ledger(run)
    assert_everything_ended_once(run)
    assert (run.n_planned, runs.count_calls(run)) == (2, {"ok": 2})
    assert run.readings.count() == 2
    assert set(Response.objects.values_list("value", flat=True)) <= {"s1", "s2"}


def test_a_cloze_is_filled_in_the_form_that_the_server_is_told(endpoint: Endpoint) -> None:
    study = clozes.study(toml=CLOZE)
    blanks = {key: {"type": "string", "minLength": 3, "maxLength": 40} for key in ("1", "2")}
    schema = {"type": "object", "properties": blanks, "required": ["1", "2"], "additionalProperties": False}
    form = {"type": "json_schema", "json_schema": {"name": "blanks", "strict": True, "schema": schema}}

    run = runs.drain(runs.start(study, judge(endpoint, "quiet-fill-section", response_format=form), by="tests"))

    assert_ledger(run)
    assert (run.n_planned, runs.count_calls(run)) == (1, {"ok": 1})
    assert Fill.objects.get().state == "submitted"
    filled = dict(Response.objects.filter(outcome="answered").values_list("item__position", "value"))
    assert set(filled) == {1, 2}
    assert all(3 <= len(words) <= 40 for words in filled.values())


def test_a_recipe_writes_an_idea_at_each_temperature(endpoint: Endpoint) -> None:
    study = factories.study(n_stories=1, comparative=False, state=Study.State.DRAFT, planned=False)
    order = GenerationOrder(
        recipes.find_recipe("nsv-generation"),
        endpoint,
        model=PRESET.model,
        parameters={"seed": 1, "max_tokens": 300},
        groups=("plot1",),
        temperatures=(0.0, 0.8),
    )
    planned = generation.plan(study, order)

    run = runs.drain(runs.approve(generation.write(study, planned, budget=Decimal(1), by="ana"), by="rui"))

    assert_ledger(run)
    assert (planned.estimate.worst_cost, run.n_planned) == (0, 2)
    n_complete = sum(draft.state == Draft.State.COMPLETE for draft in Draft.objects.all())
    assert GeneratedText.objects.exclude(text="").count() == n_complete == runs.count_calls(run)["ok"]


def test_a_server_that_echoes_no_prompt_is_found_out_and_measures_no_surprise(endpoint: Endpoint) -> None:
    """llama.cpp gives the log-probabilities of what it writes, not of what it reads."""
    study = study_of(LAMP, DOOR, instrument=factories.instrument(), scope="story")

    with pytest.raises(CommandError, match="does not hold a log-probability for each token of the text"):
        call_command("measure_surprise", study.slug, model=f"{endpoint.name}/{PRESET.model}", yes=True)

    run = Run.objects.get()
    assert (run.state, ScoreCard.objects.count(), Response.objects.count()) == ("stopped", 0, 0)
    assert all(attempt.body for attempt in Attempt.objects.filter(call__run=run)), "what it said instead is kept"
