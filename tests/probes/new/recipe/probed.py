"""A new recipe is offered where models are brought to write."""

import pytest
from django.test import Client

from tests import factories
from tests.judges.laboratory.generation.stories import draft_study

pytestmark = pytest.mark.django_db


def test_probed_recipe_is_offered(client: Client) -> None:
    draft_study()
    client.force_login(factories.staff("designer"))

    assert "Haiku" in client.get("/studies/plums/generations/new/").text
    assert "An idea, whatever its length." in client.get("/studies/plums/generations/new/?recipe=haiku").text
