"""A study in draft with two premises, a writer at the stand-in, and replies of any length."""

from decimal import Decimal
from typing import Any

from judges import runs
from judges.laboratory import generation, recipes
from judges.laboratory.generation import GenerationOrder
from judges.models import Endpoint, Generation, Run
from studies.models import Study
from tests import factories
from tests.judges import standin as told
from tests.judges.standin import StandIn


def draft_study() -> Study:
    """Two groups, each with a premise and one story by a person."""
    return factories.study(n_groups=2, n_stories=1, comparative=False, state=Study.State.DRAFT, planned=False)


def endpoint_at(standin: StandIn, **more: Any) -> Endpoint:
    values = {"name": "lab", "is_allowed": True, "is_outside": False, "n_at_once": 1, "timeout_seconds": 5}
    return Endpoint.objects.create(base_url=standin.base_url, key_variable="STANDIN_API_KEY", **values | more)


def order(endpoint: Endpoint, recipe: str = "pds-writer-profile", **more: Any) -> GenerationOrder:
    values: dict[str, Any] = {"model": "standin", "groups": ("plot1",)} | more
    return GenerationOrder(recipes.find_recipe(recipe), endpoint, **values)


def words(n: int, lead: str = "") -> told.Reply:
    """A story of so many words, after what a model may say before it."""
    return told.says(lead + story_of(n))


def story_of(n: int) -> str:
    return " ".join(f"w{number}" for number in range(n))


def planned(study: Study, wish: GenerationOrder, *, budget: Decimal | None = None) -> Run:
    return generation.write(study, generation.plan(study, wish), budget=budget, by="ana")


def written(study: Study, wish: GenerationOrder) -> Generation:
    """The generation after its run was approved and worked off."""
    run = runs.drain(runs.approve(planned(study, wish), by="rui"))
    return Generation.objects.get(run=run)
