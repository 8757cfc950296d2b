from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from annotation.models import Rater
from judges import catalogue, prompts, runs
from judges.models import AlreadyUsed, Attempt, Endpoint, Judge, Prompt
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.services]


def endpoint(**more: Any) -> Endpoint:
    given = {"name": "far", "base_url": "https://api.example.org/v1", "key_variable": "FAR_API_KEY", "is_allowed": True}
    return Endpoint(**(given | more))


def test_an_endpoint_keeps_the_name_of_its_key() -> None:
    made = endpoint()
    made.full_clean()
    made.save()

    assert Endpoint.objects.get().key_variable == "FAR_API_KEY"


@pytest.mark.parametrize(
    "name", ["sk-abc123", "SECRET_KEY", "DATABASE_URL", "far_api_key", "FAR_API_KEY\n", "FAR_API_KEY;X", "_API_KEY"]
)
def test_what_could_be_a_key_itself_or_a_secret_of_quires_is_no_name_of_a_key(name: str) -> None:
    with pytest.raises(ValidationError, match="key_variable"):
        endpoint(key_variable=name).full_clean()


@pytest.mark.parametrize("url", ["ftp://x.example", "https://u:p@x.example/v1", "nonsense"])
def test_an_endpoint_needs_an_address_that_can_be_called(url: str) -> None:
    with pytest.raises(ValidationError, match="base_url"):
        endpoint(base_url=url).full_clean()


@pytest.mark.parametrize(("adapter", "url"), [("openai", ""), ("stub", "https://api.example.org/v1")])
def test_an_endpoint_has_an_address_unless_it_is_a_stub(adapter: str, url: str) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        endpoint(adapter=adapter, base_url=url).save()


def test_another_address_takes_the_key_and_the_permission_away() -> None:
    made = endpoint()
    made.save()

    made.base_url = "https://elsewhere.example/v1"
    made.save()

    made.refresh_from_db()
    assert (made.key_variable, made.is_allowed) == ("", False)


def test_the_same_address_keeps_them() -> None:
    made = endpoint()
    made.save()

    made.timeout_seconds = 10
    made.save()

    made.refresh_from_db()
    assert (made.key_variable, made.is_allowed) == ("FAR_API_KEY", True)


def test_a_prompt_can_be_changed_until_it_is_used() -> None:
    judge = catalogue.make_stub_judge()
    prompt = judge.prompt
    prompt.citation = "Ours."
    prompt.save()

    runs.start(factories.study(), judge, by="tests")
    prompt.template += " Be kind."

    with pytest.raises(AlreadyUsed, match="its template cannot change"):
        prompt.save()
    assert "Be kind" not in Prompt.objects.get(pk=prompt.pk).template


@pytest.mark.parametrize(
    "change",
    [
        lambda judge: setattr(judge, "model", "better"),
        lambda judge: judge.parameters.update(seed=5),
        lambda judge: setattr(judge, "slug", "stub-3"),
    ],
)
def test_a_judge_can_be_changed_until_it_is_used(change: Callable[[Judge], None]) -> None:
    judge = catalogue.make_stub_judge()
    judge.save()
    runs.start(factories.study(), judge, by="tests")

    change(judge)

    with pytest.raises(AlreadyUsed):
        judge.save()


def test_a_judge_without_a_model_says_so_in_its_name() -> None:
    stub = catalogue.make_stub_judge()

    with pytest.raises(ValidationError, match="stub"):
        Judge(slug="gpt4", endpoint=stub.endpoint, model="gpt4", prompt=stub.prompt).full_clean()


@pytest.mark.parametrize("parameters", [[], "x", {"model": "other"}, {"messages": []}, {"stream": True}, {"n": 2}])
def test_parameters_are_an_object_that_leaves_quires_own_alone(parameters: Any) -> None:
    stub = catalogue.make_stub_judge()

    with pytest.raises(ValidationError, match="parameters"):
        Judge(
            slug="stub-2", endpoint=stub.endpoint, model="stub", prompt=stub.prompt, parameters=parameters
        ).full_clean()


def test_a_prompt_that_cannot_be_filled_is_refused() -> None:
    with pytest.raises(ValidationError, match="exactly once"):
        Prompt(name="p", version="1", template="Judge this.").full_clean()


@pytest.mark.parametrize("about_story", [True, False])
def test_the_database_refuses_a_call_that_is_there_already(about_story: bool) -> None:
    run = runs.start(factories.study(), catalogue.make_stub_judge(), by="tests")
    call = run.calls.exclude(story=None).first() if about_story else run.calls.get(story=None)
    assert call is not None

    call.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        call.save(force_insert=True)


def test_the_database_refuses_a_lease_without_an_end() -> None:
    run = runs.start(factories.study(), catalogue.make_stub_judge(), by="tests")

    with pytest.raises(IntegrityError), transaction.atomic():
        Attempt.objects.create(call=run.calls.all()[0], number=1, sent_at=factories.NOON)


def test_the_built_in_prompts_load_once() -> None:
    first, again = catalogue.load_prompts(), catalogue.load_prompts()

    assert [p.pk for p in first] == [p.pk for p in again]
    assert {(p.name, p.protocol) for p in first} >= {
        ("plain-verdict-first", "verdict_first"),
        ("ttcw-reasoning-first", "reasoning_first"),
        ("quiet-fill-whole", "reasoning_first"),
    }
    assert len(first) == len(prompts.load_built_in())
    for prompt in first:
        prompt.full_clean()


def test_a_built_in_prompt_that_changed_under_its_version_is_refused() -> None:
    catalogue.load_prompts()
    Prompt.objects.filter(name="plain-verdict-first").update(system="Otherwise.")

    with pytest.raises(prompts.InvalidPrompt, match=r"plain-verdict-first 1: .* new version"):
        catalogue.load_prompts()


def test_the_stub_judge_is_made_once_and_is_never_outside() -> None:
    first, again = catalogue.make_stub_judge(), catalogue.make_stub_judge()

    assert first == again
    assert (first.endpoint.is_outside, first.endpoint.is_allowed) == (False, True)
    assert str(first.endpoint) == "stub (stub)"


def test_an_adapter_that_no_file_defines_is_refused_with_those_there_are() -> None:
    with pytest.raises(
        ValidationError, match=r"adapter.*“telegraph”.*: anthropic, gemini, openai, openai-responses, stub"
    ):
        endpoint(adapter="telegraph").full_clean()


def test_an_endpoint_whose_provider_is_gone_is_still_named() -> None:
    made = endpoint(adapter="telegraph")

    assert (str(made), made.is_stub, made.provider) == ("far", False, None)


def test_the_judge_of_a_metric_needs_neither_endpoint_nor_prompt() -> None:
    first, again = catalogue.make_metric_judge("length"), catalogue.make_metric_judge("length")

    assert first == again
    assert (first.slug, first.kind, first.metric_version, first.endpoint, first.prompt) == (
        "length-2",
        Rater.Kind.METRIC,
        "2",
        None,
        None,
    )
    assert catalogue.make_stub_judge().kind == Rater.Kind.MODEL


def test_a_metric_that_no_file_defines_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValidationError, match=r"metric.*“width”.*: .*length"):
        Judge(slug="width", metric="width").full_clean()


@pytest.mark.parametrize("name", ["endpoint", "model", "prompt"])
def test_a_model_needs_all_that_it_is_asked_with(name: str) -> None:
    stub = catalogue.make_stub_judge()
    whole: dict[str, Any] = {"endpoint": stub.endpoint, "model": "stub", "prompt": stub.prompt}
    del whole[name]

    with pytest.raises(ValidationError, match=f"'{name}': .*required"):
        Judge(slug="stub-2", **whole).full_clean()


@pytest.mark.parametrize("name", ["endpoint", "model", "prompt", "parameters"])
def test_a_metric_has_nothing_of_a_model(name: str) -> None:
    stub = catalogue.make_stub_judge()
    extra: dict[str, Any] = {
        "endpoint": stub.endpoint,
        "model": "stub",
        "prompt": stub.prompt,
        "parameters": {"temperature": 0},
    }

    with pytest.raises(ValidationError, match=name):
        Judge(slug="length", metric="length", **{name: extra[name]}).full_clean()


@pytest.mark.parametrize(
    "change",
    [
        {"endpoint": None},
        {"prompt": None},
        {"metric": "length"},
        {"metric": "length", "metric_version": "2"},
        {"metric": "length", "endpoint": None, "prompt": None, "model": ""},
        {"metric": "length", "metric_version": "2", "endpoint": None, "prompt": None},
        {"metric_version": "2"},
    ],
)
def test_the_database_refuses_what_is_neither_a_model_nor_a_metric(change: dict[str, Any]) -> None:
    judge = catalogue.make_stub_judge()

    with pytest.raises(IntegrityError), transaction.atomic():
        Judge.objects.filter(pk=judge.pk).update(**change)


def test_the_judge_of_a_metric_never_changes_once_it_has_run() -> None:
    judge = catalogue.make_metric_judge("length")
    runs.start(factories.study(), judge, by="tests")

    judge.metric_version = "3"

    with pytest.raises(AlreadyUsed, match="its metric_version cannot change"):
        judge.save()
