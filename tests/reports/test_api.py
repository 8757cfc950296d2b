"""The read API of responses: for staff who may read them, blind, page by page, and nothing that was not listed."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from config import roles
from reports import api
from studies.models import Provenance, Source, Study
from tests import factories, triggers
from tests.reports import given

pytestmark = pytest.mark.django_db
ADDRESS = "/api/studies/plums/responses/"


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(factories.staff("coordinator"))
    return client


@pytest.fixture
def study() -> Study:
    made = given.closed_study()
    given.verdicts(made, {"E01": "ynyn", "E02": "yyyy"})
    return made


def test_only_staff_who_may_see_answers_may_read(client: Client, study: Study) -> None:
    anonymous = client.get(ADDRESS).status_code
    seen = {}
    for role in ("", *roles.ROLES):
        client.force_login(factories.staff(role))
        seen[role] = client.get(ADDRESS).status_code

    assert anonymous == 403
    assert [role for role, status in seen.items() if status == 200] == ["coordinator", "researcher"]
    assert set(seen.values()) == {200, 403}


def test_the_api_refuses_every_method_but_reading(staff: Client, study: Study) -> None:
    assert [getattr(staff, method)(ADDRESS).status_code for method in ("post", "put", "patch", "delete")] == [405] * 4


def test_every_response_comes_with_the_listed_fields_and_no_others(staff: Client, study: Study) -> None:
    found = staff.get(ADDRESS).json()

    assert (found["count"], found["next"], found["previous"], len(found["results"])) == (8, None, None, 8)
    assert {tuple(row) for row in found["results"]} == {api.FIELDS}
    first = found["results"][0]
    assert (first["rater"], first["story"], first["item"], first["value"]) == ("E01", "p1s1", "item-1", "yes")


def test_it_is_blind_even_when_the_study_is_closed(staff: Client, study: Study) -> None:
    with triggers.lifted():
        Source.objects.update(kind="other")
        Provenance.objects.update(title="Canary", url="https://example.org/canary", factors={"tier": "canary"})

    with CaptureQueriesContext(connection) as asked:
        answer = staff.get(ADDRESS).content.decode().casefold()

    assert Provenance.objects.filter(title="Canary").exists()
    assert "canary" not in answer
    assert "source" not in answer
    assert not [query for query in asked if "provenance" in query["sql"]]


def test_pages_follow_each_other_without_gap_or_repeat(staff: Client, study: Study) -> None:
    seen, address = [], f"{ADDRESS}?limit=3"
    while address:
        page = staff.get(address).json()
        seen += [(row["rater"], row["story"]) for row in page["results"]]
        address = page["next"]

    assert len(seen) == 8
    assert seen == sorted(set(seen))


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        ("source=GPT4", {"source": "There is no such parameter; there are limit and offset."}),
        ("ordering=value", {"ordering": "There is no such parameter; there are limit and offset."}),
        ("limit=0", {"limit": "This must be a whole number from 1 to 1000."}),
        ("limit=1001", {"limit": "This must be a whole number from 1 to 1000."}),
        ("limit=ten", {"limit": "This must be a whole number from 1 to 1000."}),
        ("offset=-1", {"offset": "This must be a whole number from 0 to 1000000000."}),
        ("offset=٣", {"offset": "This must be a whole number from 0 to 1000000000."}),
    ],
)
def test_what_it_does_not_know_it_refuses(staff: Client, study: Study, query: str, complaint: dict[str, str]) -> None:
    answer = staff.get(f"{ADDRESS}?{query}")

    assert (answer.status_code, answer.json()) == (400, complaint)


def test_an_unknown_study_is_not_found(staff: Client) -> None:
    assert staff.get("/api/studies/pears/responses/").status_code == 404


def test_a_page_costs_the_same_for_eight_as_for_sixteen(staff: Client, study: Study) -> None:
    counts = []
    for raters in ({}, {"E03": "ynyn", "E04": "yyyy"}):
        given.verdicts(study, raters)
        with CaptureQueriesContext(connection) as asked:
            staff.get(ADDRESS)
        counts.append(len(asked))

    assert counts == [13, 13]
