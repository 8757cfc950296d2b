"""A jury in an analysis plan: named with weights or without, shown again, registered, and refused where it is none."""

from typing import Any

import pytest
from django.test import Client

from studies import protocol
from studies.documents.analysis_plan import parse_analysis_plan
from studies.documents.errors import DocumentError
from studies.protocol.preregistration import write_preregistration
from tests import factories

TABLE = {"outcome": "verdicts", "reference": "Ann"}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"jury": ["one"]}, "“one” alone is no jury; name two judges or more, or none"),
        ({"jury": ["one", "two"], "jury_weights": [1]}, "has 1 for 2 judges; give one for each, or none"),
        ({"jury": ["one", "two"], "jury_weights": [1, 0]}, "must be a list of numbers larger than 0, as [2, 1, 1]"),
        ({"jury_weights": [1]}, "has 1 for 0 judges; give one for each, or none"),
    ],
)
def test_what_is_no_jury_is_refused(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(DocumentError) as refusal:
        parse_analysis_plan(TABLE | fields, "study.toml")

    assert refusal.value.reason == reason


def test_judges_without_weights_count_alike() -> None:
    assert parse_analysis_plan(TABLE | {"jury": ["one", "two"]}, "study.toml").weights_of_jury == (1, 1)


@pytest.mark.django_db
def test_a_jury_is_planned_with_its_weights_shown_again_and_registered(client: Client) -> None:
    draft = factories.study("plums", n_groups=2, n_stories=2, n_items=1, state="draft", planned=False)
    client.force_login(factories.staff("designer"))
    address = "/studies/plums/analysis-plan/"
    fields = {"outcome": "tests/item-1", "contrasts": "every_pair", "test": "model", "epsilon": "0.2"}

    refused = client.post(address, fields | {"jury": "one, two", "jury_weights": "2, many"})
    planned = client.post(address, fields | {"jury": "one, two three", "jury_weights": "2, 1 1.5"})

    assert (refused.status_code, planned.status_code) == (400, 302)
    assert list(refused.context["form"].errors) == ["jury_weights"]
    draft.refresh_from_db()
    plan = protocol.drafted_plan(draft)
    assert plan is not None
    assert (plan.jury, plan.weights_of_jury) == (("one", "two", "three"), (2, 1, 1.5))
    page = client.get(address).content.decode()
    assert 'value="one, two, three"' in page
    assert 'value="2, 1, 1.5"' in page
    assert "with their weights: one (2), two (1), three (1.5)." in write_preregistration(draft, plan)
