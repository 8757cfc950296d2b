"""A panel of judges set up on one page."""

import pytest
from django.test import Client

from judges import catalogue
from judges.models import Judge, Prompt
from studies.models import Source, Study
from tests import factories
from tests.replay import replayed

pytestmark = pytest.mark.django_db
PANEL = "/studies/plums/judges/panel/"


@pytest.fixture
@replayed
def study() -> Study:
    """Two stories; a model wrote the second."""
    study = factories.study(n_stories=2, n_items=1, state="draft", planned=False)
    Source.objects.filter(name="Source 2").update(kind=Source.Kind.MODEL)
    return study


@pytest.fixture
def designer(client: Client) -> Client:
    client.force_login(factories.staff("designer"))
    return client


def panel(*prompts: str, models: tuple[str, ...] = ("stub-a",), **fields: object) -> dict[str, object]:
    endpoint = catalogue.make_stub_judge().endpoint_id
    rows = {f"endpoint{n}": endpoint for n in range(len(models))} | {f"model{n}": m for n, m in enumerate(models)}
    pks = list(Prompt.objects.filter(name__in=prompts).values_list("pk", flat=True))
    return {"name": "panel", "prompts": pks} | rows | fields


def test_three_models_with_one_prompt_are_three_judges(designer: Client, study: Study) -> None:
    designer.post(PANEL, panel("quiet-judge", models=("stub-a", "stub-b", "stub-c"), temperature="0"))

    made = Judge.objects.filter(slug__startswith="panel-").order_by("slug")
    assert [(j.slug, j.model, j.prompt.name, j.parameters) for j in made] == [
        (f"panel-stub-{x}", f"stub-{x}", "quiet-judge", {"temperature": 0}) for x in "abc"
    ]


def test_one_model_with_two_protocols_is_two_judges_named_by_their_prompts(designer: Client, study: Study) -> None:
    designer.post(PANEL, panel("ttcw-paper-reasoning-first", "ttcw-release-verdict-first"))

    assert set(Judge.objects.filter(slug__startswith="panel-").values_list("slug", flat=True)) == {
        "panel-stub-a-ttcw-paper-reasoning-first",
        "panel-stub-a-ttcw-release-verdict-first",
    }


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"model0": ""}, "A model needs an endpoint and the name it has there"),
        ({"endpoint0": "", "model0": ""}, "A panel needs at least one model."),
        ({"endpoint1": "same", "model1": "stub-a"}, "Two judges would be called panel-stub-a."),
    ],
)
def test_a_panel_that_is_not_whole_makes_no_judge(
    designer: Client, study: Study, fields: dict[str, str], sentence: str
) -> None:
    whole = panel("quiet-judge")
    changed = {name: whole["endpoint0"] if value == "same" else value for name, value in fields.items()}

    response = designer.post(PANEL, whole | changed)

    assert (response.status_code, Judge.objects.count()) == (400, 1)
    assert sentence in response.content.decode()


def test_the_factorial_is_each_model_with_and_without_samples(designer: Client, study: Study) -> None:
    designer.post(PANEL, panel(models=("stub-a", "stub-b"), is_factorial="on"))

    made = Judge.objects.filter(slug__startswith="panel-").order_by("slug")
    assert [(j.slug, j.model, j.prompt.name) for j in made] == [
        ("panel-stub-a-anchored", "stub-a", "quiet-judge-anchored"),
        ("panel-stub-a-plain", "stub-a", "quiet-judge"),
        ("panel-stub-b-anchored", "stub-b", "quiet-judge-anchored"),
        ("panel-stub-b-plain", "stub-b", "quiet-judge"),
    ]


@pytest.mark.parametrize(
    ("prompts", "is_factorial", "sentence"),
    [((), "", "Choose at least one prompt"), (("quiet-judge",), "on", "The factorial brings its own prompts")],
)
def test_a_panel_is_of_prompts_or_the_factorial(
    designer: Client, study: Study, prompts: tuple[str, ...], is_factorial: str, sentence: str
) -> None:
    response = designer.post(PANEL, panel(*prompts, is_factorial=is_factorial))

    assert (response.status_code, Judge.objects.count()) == (400, 1)
    assert sentence in response.content.decode()


def test_the_control_is_one_more_judge_of_each_model_with_the_prompt_of_three_steps(
    designer: Client, study: Study
) -> None:
    designer.post(PANEL, panel("quiet-judge", models=("stub-a", "stub-b"), has_control="on"))

    made = Judge.objects.filter(slug__startswith="panel-").order_by("slug")
    assert [(j.slug, j.prompt.name) for j in made] == [
        ("panel-stub-a", "quiet-judge"),
        ("panel-stub-a-coarse", "quiet-judge-coarse"),
        ("panel-stub-b", "quiet-judge"),
        ("panel-stub-b-coarse", "quiet-judge-coarse"),
    ]
