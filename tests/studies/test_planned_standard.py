"""A standard in an analysis plan: named with where its labels are, shown again, registered, or refused."""

from typing import Any

import pytest
from django.test import Client

from studies import protocol
from studies.documents.analysis_plan import parse_analysis_plan
from studies.documents.errors import DocumentError
from studies.models import Provenance, Source
from studies.protocol.preregistration import write_preregistration
from tests import factories

TABLE = {"outcome": "verdicts", "reference": "Ann"}
LABELS = [["tests/item-1", "gold"]]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"standard": "the votes"}, "standard_labels"),
        ({"standard_labels": LABELS}, "standard"),
        ({"standard_rater": "release"}, "standard"),
        ({"standard": "both", "standard_labels": LABELS, "standard_rater": "release"}, "standard_rater"),
        ({"standard": "the votes", "standard_labels": ["upvotes"]}, "standard_labels"),
        ({"standard": "the votes", "standard_labels": [*LABELS, ["tests/item-1", "votes"]]}, "standard_labels"),
        ({"standard": "one", "standard_rater": "one", "jury": ["one", "two"]}, "standard_rater"),
    ],
)
def test_what_names_no_labels_is_refused(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(DocumentError) as refusal:
        parse_analysis_plan(TABLE | fields, "study.toml")

    assert refusal.value.location == f"analysis_plan, {field}"


def test_a_plan_without_a_standard_is_written_as_before() -> None:
    assert parse_analysis_plan(TABLE, "study.toml").as_table() == TABLE


@pytest.mark.django_db
def test_a_standard_is_planned_shown_again_and_registered(client: Client) -> None:
    draft = factories.study("plums", n_groups=2, n_stories=2, n_items=1, state="draft", planned=False)
    Provenance.objects.update(factors={"gold": "yes"})
    client.force_login(factories.staff("designer"))
    address = "/studies/plums/analysis-plan/"
    fields = {"outcome": "tests/item-1", "contrasts": "every_pair", "test": "model", "epsilon": "0.2"}
    fields |= {"standard": "the gold labels"}

    refused = [
        client.post(address, fields | {"standard_labels": lines})
        for lines in ("tests/item-1", "tests/item-9 = gold", "tests/item-1 = golden")
    ]
    planned = client.post(address, fields | {"standard_labels": "tests/item-1 = gold\n"})

    assert [list(page.context["form"].errors) for page in refused] == [["standard_labels"]] * 3
    assert planned.status_code == 302
    draft.refresh_from_db()
    plan = protocol.drafted_plan(draft)
    assert plan is not None
    assert (plan.standard, plan.standard_labels) == ("the gold labels", (("tests/item-1", "gold"),))
    assert "tests/item-1 = gold</textarea>" in client.get(address).content.decode()
    assert "held against the gold labels, which is no person" in write_preregistration(draft, plan)


@pytest.mark.django_db
def test_stories_of_one_source_can_be_planned_for_with_a_standard() -> None:
    draft = factories.study("plums", n_groups=2, n_stories=2, n_items=1, state="draft", planned=False)
    Provenance.objects.update(source=Source.objects.earliest("pk"), factors={"gold": "yes"})
    current = protocol.read_rows(protocol.latest(draft))
    table = {"outcome": "tests/item-1", "contrasts": "every_pair"}
    without = parse_analysis_plan(table, "study.toml")
    plan = parse_analysis_plan(table | {"standard": "the gold labels", "standard_labels": LABELS}, "study.toml")

    sources = protocol.list_sources(draft)

    assert [field for field, _words in protocol.find_misfits(without, current, sources)] == ["contrasts"]
    assert list(protocol.find_misfits(plan, current, sources)) == []
