"""The pages of judges and prompts: parameters as fields and rows, prompts tried on a story of the study."""

import json
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from judges import catalogue, prompts, runs
from judges.models import Endpoint, Judge, PersonaSet, Prompt
from judges.views.judges import JudgeForm
from studies.models import Study
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return factories.study(n_stories=2, n_items=1)


@pytest.fixture
def researcher(client: Client) -> Client:
    client.force_login(factories.staff("researcher"))
    return client


def filled(judge: Judge, **fields: Any) -> dict[str, Any]:
    """The form of a judge as it stands, with these fields changed."""
    form = JudgeForm(instance=judge)
    values = {name: form[name].value() for name in form.fields}
    return {name: value for name, value in (values | fields).items() if value is not None}


def test_parameters_are_fields_and_rows_and_come_back_as_they_were(researcher: Client, study: Study) -> None:
    judge = catalogue.make_stub_judge()
    parameters = {"temperature": 0.5, "max_tokens": 64, "seed": 7, "yes_rate": 0.25, "effort": "low", "stop": "5"}
    Judge.objects.filter(pk=judge.pk).update(parameters=parameters | {"thinking": {"budget": 3}, "log": True})
    judge.refresh_from_db()

    response = researcher.post(f"/studies/plums/judges/{judge.pk}/", filled(judge))

    assert response.status_code == 302
    judge.refresh_from_db()
    assert judge.parameters == parameters | {"thinking": {"budget": 3}, "log": True}


def test_a_reasoning_effort_is_chosen_and_one_that_is_not_offered_stays(researcher: Client, study: Study) -> None:
    judge = catalogue.make_stub_judge()
    address = f"/studies/plums/judges/{judge.pk}/"

    efforts = []
    for choice in ("minimal", "", "xhigh"):
        if choice == "xhigh":
            Judge.objects.filter(pk=judge.pk).update(parameters={"reasoning_effort": choice})
            judge.refresh_from_db()
        researcher.post(address, filled(judge, reasoning_effort=choice))
        judge.refresh_from_db()
        efforts.append(judge.parameters.get("reasoning_effort"))

    assert efforts == ["minimal", None, "xhigh"]


def test_a_tick_asks_for_probabilities_and_takes_the_parameters_away_again(researcher: Client, study: Study) -> None:
    judge = catalogue.make_stub_judge()
    Judge.objects.filter(pk=judge.pk).update(parameters={})
    judge.refresh_from_db()
    address = f"/studies/plums/judges/{judge.pk}/"
    asked = {"logprobs": True, "top_logprobs": 20}

    parameters = []
    for is_asked in (True, False):
        response = researcher.post(address, filled(judge, asks_probabilities="on" if is_asked else None))
        assert response.status_code == 302
        judge.refresh_from_db()
        parameters.append(judge.parameters)

    assert parameters == [asked, {}]
    Judge.objects.filter(pk=judge.pk).update(parameters=asked | {"top_logprobs": 5})
    form = JudgeForm(instance=Judge.objects.get(pk=judge.pk))
    assert not form["asks_probabilities"].value()
    names = [name.value() for name, _value in form.rows]
    assert names[:2] == ["logprobs", "top_logprobs"]


@pytest.mark.parametrize("effort", [["high"], 5])
def test_a_judge_with_an_effort_that_is_no_word_can_be_opened_and_mended(
    researcher: Client, study: Study, effort: Any
) -> None:
    judge = catalogue.make_stub_judge()
    Judge.objects.filter(pk=judge.pk).update(parameters={"reasoning_effort": effort})
    judge.refresh_from_db()
    address = f"/studies/plums/judges/{judge.pk}/"

    response = researcher.get(address)

    (row, *_others) = response.context["form"].rows
    assert (row[0].value(), row[1].value()) == ("reasoning_effort", json.dumps(effort))
    researcher.post(address, filled(judge, name0="", value0="", reasoning_effort="low"))
    judge.refresh_from_db()
    assert judge.parameters == {"reasoning_effort": "low"}


def test_what_anthropic_takes_as_an_object_is_one() -> None:
    judge = catalogue.make_stub_judge()
    judge.endpoint = Endpoint(name="claude", adapter="anthropic")
    judge.parameters = {"output_config": ["low"]}

    with pytest.raises(ValidationError, match="output_config: a JSON object"):
        judge.clean()


def test_a_new_judge_is_made_without_a_document(researcher: Client, study: Study) -> None:
    stub = catalogue.make_stub_judge()
    fields = {"slug": "stub-9", "endpoint": stub.endpoint_id, "model": "stub", "prompt": stub.prompt_id}

    researcher.post("/studies/plums/judges/new/", fields | {"temperature": "0", "name0": "yes_rate", "value0": "0.75"})

    assert Judge.objects.get(slug="stub-9").parameters == {"temperature": 0, "yes_rate": 0.75}


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ('{"type": "enabled", "budget_tokens": 2048}', {"type": "enabled", "budget_tokens": 2048}),
        ('["END", "5"]', ["END", "5"]),
        ('"{not json}"', "{not json}"),
        ("NaN", "NaN"),
    ],
)
def test_a_nested_parameter_is_typed_as_json_and_stands_in_its_row_again(
    researcher: Client, study: Study, typed: str, value: Any
) -> None:
    judge = catalogue.make_stub_judge()

    researcher.post(f"/studies/plums/judges/{judge.pk}/", filled(judge, name0="thinking", value0=typed))

    judge.refresh_from_db()
    assert judge.parameters["thinking"] == value
    row = next(row for row in JudgeForm(instance=judge).rows if row[0].value() == "thinking")
    assert row[1].value() == typed


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"name0": "temperature", "value0": "1", "temperature": "0"}, "This parameter is set already."),
        ({"value0": "1"}, "A value needs a name."),
        ({"name0": "thinking", "value0": '{"type": "enabled", budget: 3}'}, "cannot be read at character 21"),
        ({"name0": "logit_bias", "value0": '{"50256": 1e999}'}, "This number is too large."),
        ({"name0": "stop", "value0": '"\\u0000"'}, "a character that cannot be kept"),
        ({"name0": "stop", "value0": '{"\\ud800": 1}'}, "a character that cannot be kept"),
        ({"name0": "stop", "value0": "[" * 1000}, "within one another 20 times at most"),
        ({"name0": "stop", "value0": "[" * 30 + "]" * 30}, "within one another 20 times at most"),
        ({"name0": "reasoning_effort", "value0": '["high"]'}, "reasoning_effort: a word, such as none, minimal"),
        ({"name0": "reasoning_effort", "value0": "5"}, "reasoning_effort: a word, such as none, minimal"),
        ({"name0": "messages", "value0": "x"}, "set by Quire itself"),
        ({"name0": "max_completion_tokens", "value0": "-1"}, "max_completion_tokens: a whole number from 1"),
        ({"slug": "best"}, "its name needs “stub” in it"),
        ({"temperature": "9"}, "less than or equal to 2"),
    ],
)
def test_what_is_not_right_is_said_at_its_field(
    researcher: Client, study: Study, fields: dict[str, str], sentence: str
) -> None:
    stub = catalogue.make_stub_judge()
    complete = {"slug": "stub-9", "endpoint": stub.endpoint_id, "model": "stub", "prompt": stub.prompt_id}

    response = researcher.post("/studies/plums/judges/new/", complete | fields)

    assert response.status_code == 400
    assert sentence in response.content.decode()
    assert Judge.objects.count() == 1


def test_a_seed_is_refused_where_the_protocol_knows_none(researcher: Client, study: Study) -> None:
    stub = catalogue.make_stub_judge()
    endpoint = Endpoint.objects.create(name="r", adapter="openai-responses", base_url="https://example.org/v1")
    fields = {"slug": "nine", "endpoint": endpoint.pk, "model": "m", "prompt": stub.prompt_id}

    response = researcher.post("/studies/plums/judges/new/", fields | {"seed": "7"})

    assert "seed: OpenAI, Responses API does not take it. Leave it out." in response.content.decode()
    assert researcher.post("/studies/plums/judges/new/", fields).status_code == 302


def test_a_judge_that_was_used_is_shown_and_copied_but_not_changed(researcher: Client, study: Study) -> None:
    judge = catalogue.make_stub_judge()
    runs.start(study, judge, by="ann")
    address = f"/studies/plums/judges/{judge.pk}/"

    assert "so it cannot be changed" in researcher.get(address).content.decode()
    assert researcher.post(address, filled(judge, model="other")).status_code == 409
    copy = researcher.get(f"/studies/plums/judges/new/?like={judge.pk}").content.decode()
    assert 'value="stub"' in copy


def test_a_metric_is_added_once(researcher: Client, study: Study) -> None:
    for _n in range(2):
        researcher.post("/studies/plums/judges/metric/", {"metric": "length"})
    researcher.post("/studies/plums/judges/metric/", {"metric": "nonsense"})

    assert list(Judge.objects.values_list("metric", flat=True)) == ["length"]


# ── prompts ────────────────────────────────────────────────────────────────────────────────────────────────────────


def prompt_form(**fields: str) -> dict[str, str]:
    form = {"name": "mine", "version": "1", "protocol": "reasoning_first", "source": "own", "system": ""}
    return form | {"template": "{{ stories }}\n{{ question }}\n{{ words }}"} | fields


def test_a_prompt_is_tried_on_the_story_that_is_chosen_and_not_saved(researcher: Client, study: Study) -> None:
    story = study.stories.get(code="p1s2")
    item = study.versions.get().steps.get(key="tests").instrument.items.get()
    form = prompt_form(preview="yes", story=str(story.pk), item=str(item.pk))

    html = researcher.post("/studies/plums/prompts/new/", form).content.decode()

    assert "The p1s2 began." in html
    assert "Is it good in way 1?" in html
    assert not Prompt.objects.filter(name="mine").exists()


def test_htmx_gets_the_preview_alone(researcher: Client, study: Study) -> None:
    form = prompt_form(preview="yes", template="{{ stories }} {{ nonsense }}")

    html = researcher.post("/studies/plums/prompts/new/", form, headers={"HX-Request": "true"}).content.decode()

    assert "<html" not in html
    assert "the template cannot be filled" in html


def test_a_prompt_is_saved_or_refused_with_a_sentence(researcher: Client, study: Study) -> None:
    refused = researcher.post("/studies/plums/prompts/new/", prompt_form(template="{{ question }}"))
    assert refused.status_code == 400
    assert not Prompt.objects.filter(name="mine").exists()

    assert researcher.post("/studies/plums/prompts/new/", prompt_form()).status_code == 302
    assert Prompt.objects.get(name="mine").template.startswith("{{ stories }}")


def test_a_prompt_as_a_browser_sends_it_has_the_line_ends_of_a_file(researcher: Client, study: Study) -> None:
    fields = prompt_form(system="Read.\nThen answer.")
    researcher.post("/studies/plums/prompts/new/", {name: v.replace("\n", "\r\n") for name, v in fields.items()})

    prompt = Prompt.objects.get(name="mine")
    assert (prompt.system, prompt.template) == (fields["system"], fields["template"])


def test_a_prompt_that_was_used_is_final(researcher: Client, study: Study) -> None:
    judge = catalogue.make_stub_judge()
    runs.start(study, judge, by="ann")
    address = f"/studies/plums/prompts/{judge.prompt_id}/"

    html = researcher.get(address).content.decode()
    assert "so it cannot be changed" in html
    assert "began." in html
    assert researcher.post(address, prompt_form()).status_code == 409


def test_a_story_of_another_study_is_not_shown(researcher: Client, study: Study) -> None:
    other = factories.study("pears", n_stories=2, n_items=1)
    story = other.stories.get(code="p1s2")
    item = study.versions.get().steps.get(key="tests").instrument.items.get()
    form = prompt_form(preview="yes", story=str(story.pk), item=str(item.pk))

    html = researcher.post("/studies/plums/prompts/new/", form).content.decode()

    assert "The p1s1 began." in html  # the first of this study, in its place
    assert "The p1s2 began." not in html


@pytest.mark.parametrize("page", ["prompts/", "judges/new/", "judges/panel/"])
def test_a_new_installation_has_the_prompts_that_come_with_quire(researcher: Client, study: Study, page: str) -> None:
    assert not Prompt.objects.exists()

    html = researcher.get(f"/studies/plums/{page}").content.decode()

    assert Prompt.objects.count() == len(prompts.load_built_in())
    assert PersonaSet.objects.get().name == "pds"
    assert "ttcw-reasoning-first" in html


def test_what_came_with_quire_stays_as_it_is_once_it_is_there(django_assert_num_queries: Any) -> None:
    catalogue.ensure_built_in()
    Prompt.objects.filter(name="quiet-judge").update(template="Changed.")

    with django_assert_num_queries(2):
        catalogue.ensure_built_in()

    assert Prompt.objects.get(name="quiet-judge").template == "Changed."
