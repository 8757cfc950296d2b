"""What a designer can choose of a run: only what its judge's prompt leaves open."""

import re

import pytest
from django.test import Client

from judges import catalogue, planning, runs
from judges.models import Attempt, Call, Judge, Parse, Prompt
from judges.planning import Scope
from judges.views.scopes import ScopeForm
from studies.models import Study
from tests import factories
from tests.judges.views.pages import words
from tests.reports import quiet_run

pytestmark = pytest.mark.django_db
NEW = "/studies/plums/runs/new/"


@pytest.fixture
def study() -> Study:
    return factories.study(n_stories=2, n_items=1)


@pytest.fixture
def researcher(client: Client) -> Client:
    client.force_login(factories.staff("researcher"))
    return client


def judge_with(prompt: str) -> Judge:
    catalogue.load_personas()
    judge = catalogue.make_stub_judge()
    judge.prompt = Prompt.objects.get(name=prompt)
    judge.save()
    return judge


def fields_of(html: str) -> set[str]:
    return set(re.findall(r'<(?:input|select)[^>]* name="([a-z_]+)"', html)) - {
        "judge",
        "csrfmiddlewaretoken",
        "is_chosen",
    }


@pytest.mark.parametrize(
    ("prompt", "fields"),
    [
        ("ttcw-reasoning-first", {"steps", "probes", "anchors", "afresh", "interventions"}),
        ("pds-zero-shot", {"steps", "persona_set", "probes", "anchors", "afresh", "interventions"}),
        ("ttcw-few-shot", {"steps", "n_examples", "probes", "anchors", "afresh", "interventions"}),
    ],
)
def test_only_what_the_prompt_leaves_open_is_a_field(
    researcher: Client, study: Study, prompt: str, fields: set[str]
) -> None:
    html = researcher.get(NEW, {"judge": judge_with(prompt).pk}).content.decode()

    assert fields_of(html) >= fields
    assert not fields_of(html) & ({"persona_set", "n_examples"} - fields)


@pytest.mark.parametrize(
    ("prompt", "offered", "chosen"),
    [
        ("quiet-judge", ["judge", "judge-coarse"], ["judge"]),
        ("ttcw-reasoning-first", ["judge", "judge-coarse"], ["judge"]),
        ("quiet-judge-coarse", ["judge-coarse"], ["judge-coarse"]),
    ],
)
def test_a_control_in_three_steps_is_asked_where_it_is_chosen_or_nothing_else_can_be(
    prompt: str, offered: list[str], chosen: list[str]
) -> None:
    study = quiet_run.judged_study(quiet_run.filled_study(), has_coarse=True)
    judge = judge_with(prompt)

    form = ScopeForm(None, study=study, judge=judge)
    both = ScopeForm({"is_chosen": "True", "steps": offered}, study=study, judge=judge)

    assert [key for key, _title in form.fields["steps"].choices] == offered
    assert form.fields["steps"].initial == chosen
    assert (form.scope.steps or ("judge",)) == tuple(chosen)
    asked = {call.step.key for call in planning.plan_run(study, judge, form.scope).all_calls if call.step}
    assert asked == set(chosen)
    assert {c.step.key for c in planning.plan_run(study, judge, both.scope).all_calls if c.step} == set(offered)


def test_what_was_chosen_is_run(researcher: Client, study: Study) -> None:
    judge = judge_with("pds-zero-shot")
    (personas,) = catalogue.load_personas()
    fields = {"is_chosen": "True", "steps": ["tests"], "persona_set": personas.pk, "probes": "True", "anchors": "False"}

    shown = researcher.get(NEW, {"judge": judge.pk} | fields)
    response = researcher.post(NEW, {"judge": judge.pk} | fields)

    run = judge.runs.get()
    assert response.status_code == 302
    assert (run.persona_set, run.asks, run.n_planned) == (personas, "story", 5 * 2 + 2)
    assert run.frozen["steps"] == ["tests"]
    assert f"would be asked {run.n_planned} times" in shown.content.decode()


def test_a_prompt_for_one_kind_of_question_is_offered_its_steps_alone(researcher: Client, study: Study) -> None:
    judge = judge_with("ttcw-paper-reasoning-first")

    html = researcher.get(NEW, {"judge": judge.pk}).content.decode()
    researcher.post(NEW, {"judge": judge.pk})

    assert re.findall(r'<input type="checkbox" name="steps" value="([a-z]+)"', html) == ["tests"]
    assert judge.runs.get().n_planned == 2


def test_a_choice_that_is_none_starts_nothing(researcher: Client, study: Study) -> None:
    judge = judge_with("ttcw-reasoning-first")

    response = researcher.post(NEW, {"judge": judge.pk, "is_chosen": "True", "steps": ["nonsense"]})

    assert (response.status_code, judge.runs.count()) == (400, 0)


def test_what_a_prompt_asks_follows_from_its_words(researcher: Client, study: Study) -> None:
    template = (
        "{{ stories }}{% for item in questions %}{{ item.key }}: {{ item.question }} {{ item.words }}{% endfor %}"
    )
    fields = {"name": "mine", "version": "1", "template": template, "protocol": "reasoning_first", "source": "own"}

    researcher.post("/studies/plums/prompts/new/", fields | {"is_structured": "on", "personas": ""})

    made = Prompt.objects.get(name="mine")
    assert (made.asks, made.is_structured, made.personas) == ("story", True, "")


@pytest.mark.parametrize("prompt", ["pds-zero-shot", "ttcw-few-shot"])
def test_a_prompt_about_all_items_or_with_examples_is_shown_as_it_would_be_sent(
    researcher: Client, study: Study, prompt: str
) -> None:
    catalogue.load_prompts()

    html = researcher.get(f"/studies/plums/prompts/{Prompt.objects.get(name=prompt).pk}/").content.decode()

    assert "Is it good in way 1?" in html
    assert "The p1s1 began." in html


def test_a_call_that_guards_the_run_can_be_read(researcher: Client, study: Study) -> None:
    run = runs.drain(runs.start(study, catalogue.make_stub_judge(), by="tests", scope=Scope(probes=True, anchors=True)))
    probe, test = run.calls.filter(kind="probe")[0], run.calls.filter(kind="test")[0]
    Attempt.objects.filter(call=probe).update(model="gpt-other")
    Parse.objects.filter(attempt__call=probe).update(values={"is_known": True, "n_words": 1})

    pages = [researcher.get(f"/studies/plums/runs/{run.pk}/calls/{c.pk}/").content.decode() for c in (probe, test)]

    said = words(pages[0])
    assert "says that it knows the text yes words in a row as in the text 1" in said
    assert "names another model than stub" in said
    assert "n_words" not in said
    assert test.anchor in pages[1]
    assert Call.objects.filter(run=run, kind="test", state="ok").count() == 6
    assert researcher.get(f"/studies/plums/runs/{run.pk}/calls/").status_code == 200


def test_changes_of_the_stories_are_chosen_on_the_page_and_asked(researcher: Client, study: Study) -> None:
    judge = judge_with("ttcw-reasoning-first")
    values = {"judge": judge.pk, "is_chosen": "on", "steps": ["tests"], "interventions": ["request", "byline-model"]}

    page = words(researcher.get(NEW, values).content.decode())
    researcher.post(NEW, values | {"do": "start", "orders": "planned", "n_repeats": 1})

    assert "Byline: a language model: “Written by a large language model” in a line of its own on top." in page
    run = judge.runs.get()
    assert run.n_planned == 3 * 2, "both stories as they are, and changed in two ways"
    assert sorted(run.readings.values_list("intervention", flat=True)) == ["", "byline-model-1", "request-1"]
    runs.drain(run)
    shown = words(researcher.get(f"/studies/plums/runs/{run.pk}/").content.decode())
    assert "Request for a Yes; Byline: a language model" in shown
    assert "Try interventions" not in shown, "they have been tried"
