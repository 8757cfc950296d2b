"""The read API: for staff who may read, or their tokens; blind, sealed, page by page, nothing that was not listed."""

import json
from datetime import UTC, datetime

import jsonschema
import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from drf_spectacular.validation import validate_schema
from rest_framework.throttling import UserRateThrottle

from annotation.models import Assignment
from config import roles
from reports.api import rows, tokens
from reports.export import issues
from reports.models import ApiToken, PackageDownload
from studies.models import Membership, Provenance, Source, Study
from tests import factories, triggers
from tests.factories import NOON
from tests.replay import replayed
from tests.reports import given

pytestmark = pytest.mark.django_db
ADDRESS = "/api/studies/plums/responses/"
ADDRESSES = [
    "/api/",
    "/api/studies/",
    *(
        f"/api/studies/plums/{name}"
        for name in ("", "progress/", "amendments/", "responses/", "rationales/", "report/", "exports/")
    ),
]


@pytest.fixture(autouse=True)
def _nobody_has_asked_yet() -> None:
    cache.clear()


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(factories.staff("coordinator"))
    return client


@pytest.fixture
@replayed
def study() -> Study:
    made = given.closed_study()
    given.verdicts(made, {"E01": "ynyn", "E02": "yyyy"})
    return made


def with_token(role: str = "researcher") -> tuple[Client, ApiToken]:
    """A programme that reads with a new token of an account of that role."""
    row, secret = tokens.issue_token(factories.staff(role), name="notebook", at=NOON)
    return Client(headers={"Authorization": f"Bearer {secret}"}), row


def test_only_staff_who_may_see_answers_may_read(client: Client, study: Study) -> None:
    anonymous = client.get(ADDRESS).status_code
    seen = {}
    for role in ("", *roles.ROLES):
        client.force_login(factories.staff(role))
        seen[role] = client.get(ADDRESS).status_code

    assert anonymous == 401
    assert [role for role, status in seen.items() if status == 200] == ["coordinator", "researcher"]
    assert set(seen.values()) == {200, 403}


def test_the_api_refuses_every_method_but_reading(staff: Client, study: Study) -> None:
    assert [getattr(staff, method)(ADDRESS).status_code for method in ("post", "put", "patch", "delete")] == [405] * 4


def test_every_response_comes_with_the_listed_fields_and_no_others(staff: Client, study: Study) -> None:
    page = staff.get(ADDRESS).json()

    assert (page["next"], len(page["results"])) == (None, 8)
    assert {tuple(row) for row in page["results"]} == {rows.FIELDS}
    first = page["results"][0]
    assert (first["rater"], first["story"], first["item"], first["value"]) == ("E01", "p1s1", "item-1", "yes")


def test_it_is_blind_even_when_the_study_is_closed(staff: Client, study: Study) -> None:
    with triggers.lifted():
        Source.objects.update(kind="other")
        Provenance.objects.update(title="Canary", url="https://example.org/canary", factors={"tier": "canary"})

    with CaptureQueriesContext(connection) as queries:
        answers = [staff.get(address).content.decode().casefold() for address in (ADDRESS, ADDRESSES[5])]

    assert Provenance.objects.filter(title="Canary").exists()
    assert not [text for text in answers if "canary" in text or "source" in text]
    assert not [query for query in queries if "provenance" in query["sql"]]


@pytest.mark.parametrize("limit", [1, 3, 8, 1000])
def test_pages_follow_each_other_without_gap_or_repeat(staff: Client, study: Study, limit: int) -> None:
    given.verdicts(study, {"E03": "y-yy", "E04": "-n--"})
    seen, address = [], f"{ADDRESS}?limit={limit}"
    while address:
        page = staff.get(address).json()
        assert len(page["results"]) <= limit
        seen += [(row["rater"], row["story"]) for row in page["results"]]
        address = page["next"]

    assert len(seen) == len(set(seen)) == 12


def test_an_answer_that_comes_between_two_pages_moves_none_of_the_others(staff: Client, study: Study) -> None:
    first = staff.get(f"{ADDRESS}?limit=5").json()
    given.verdicts(study, {"A00": "yyyy"})

    second = staff.get(first["next"]).json()

    seen = [(row["rater"], row["story"]) for page in (first, second) for row in page["results"]]
    assert len(seen) == len(set(seen)) == 10  # the second page has five again, with some of those that came


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        ("source=GPT4", {"source": "There is no such parameter; there are limit and cursor."}),
        ("ordering=value", {"ordering": "There is no such parameter; there are limit and cursor."}),
        ("offset=3", {"offset": "There is no such parameter; there are limit and cursor."}),
        ("limit=0", {"limit": "This must be a whole number from 1 to 1000."}),
        ("limit=1001", {"limit": "This must be a whole number from 1 to 1000."}),
        ("limit=ten", {"limit": "This must be a whole number from 1 to 1000."}),
        ("limit=٣", {"limit": "This must be a whole number from 1 to 1000."}),
        ("cursor=", {"cursor": "This is no cursor that a page gave as its next."}),
        ("cursor=zzz", {"cursor": "This is no cursor that a page gave as its next."}),
        ("cursor=%F0%9F%98%80", {"cursor": "This is no cursor that a page gave as its next."}),
    ],
)
def test_what_it_does_not_know_it_refuses(staff: Client, study: Study, query: str, complaint: dict[str, str]) -> None:
    answer = staff.get(f"{ADDRESS}?{query}")

    assert (answer.status_code, answer.json()) == (400, complaint)


def test_no_address_takes_a_parameter_that_it_does_not_name(study: Study) -> None:
    client, _row = with_token()

    statuses = {address: client.get(f"{address}?source=GPT4").status_code for address in ADDRESSES[1:]}

    assert set(statuses.values()) == {400}


def test_an_unknown_study_is_not_found(staff: Client) -> None:
    assert staff.get("/api/studies/pears/responses/").status_code == 404


def test_a_page_costs_the_same_for_eight_as_for_sixteen(staff: Client, study: Study) -> None:
    counts = []
    for raters in ({}, {"E03": "ynyn", "E04": "yyyy"}):
        given.verdicts(study, raters)
        with CaptureQueriesContext(connection) as queries:
            staff.get(f"{ADDRESS}?limit=5")
        counts.append(len(queries))

    assert counts == [18, 18]


@pytest.mark.embedded  # the queries that are logged are asked again, which cursors of PostgreSQL cannot be
def test_a_page_reads_as_many_rows_of_a_large_study_as_of_a_small_one(staff: Client, study: Study) -> None:
    """However many others there are, and however much else its own raters answered."""
    given.verdicts(study, {f"E{n}": "yyyy" for n in range(10, 35)})
    larger = given.closed_study("pears", n_groups=9)
    given.verdicts(larger, {f"E{n:02}": "y" * 18 for n in range(1, 35)})

    assert [read_rows(staff, f"/api/studies/{slug}/responses/?limit=5") for slug in ("plums", "pears")] == [100, 100]


def read_rows(client: Client, address: str) -> int:
    """How many rows the queries of a page gave, those of its session and account as well."""
    with CaptureQueriesContext(connection) as queries:
        assert len(client.get(address).json()["results"]) == 5
    with connection.cursor() as cursor:
        return sum(len(cursor.execute(query["sql"]).fetchall()) for query in queries.captured_queries)


# ── what there is ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_studies_and_how_far_they_are(staff: Client, study: Study) -> None:
    (row,) = staff.get("/api/studies/").json()

    assert (row["slug"], row["state"], row["is_sealed"]) == ("plums", "closed", False)
    assert staff.get(row["url"]).json() == row
    progress = staff.get("/api/studies/plums/progress/").json()
    assert (progress["n_raters"], progress["n_withdrawn"]) == (2, 0)
    assert progress["groups"] == [{"group": f"plot{n}", "n_seats": 2, "n_submitted": 2, "n_open": 0} for n in (1, 2)]


def test_reasons_come_with_what_they_are_about(staff: Client, study: Study) -> None:
    Study.objects.update()
    page = staff.get("/api/studies/plums/rationales/").json()

    assert len(page["results"]) == 8
    assert {tuple(row) for row in page["results"]} == {rows.RATIONALE_FIELDS}
    assert page["results"][0]["rationale"] == "It is so."


def test_the_report_is_that_of_the_page_by_source_for_whoever_may(study: Study) -> None:
    researcher, coordinator = with_token("researcher")[0], with_token("coordinator")[0]

    by_source = researcher.get("/api/studies/plums/report/").json()["result"]
    blind = coordinator.get("/api/studies/plums/report/").json()["result"]
    Study.objects.update(state="live", closed_at=None)
    sealed = researcher.get("/api/studies/plums/report/").json()["result"]

    assert [row["source"] for row in by_source["sources"]] == ["Source 1", "Source 2"]
    assert (blind["is_sealed"], blind["sources"], sealed["is_sealed"], sealed["sources"]) == (True, [], True, [])


def test_packages_can_be_fetched_by_whoever_may_see_what_is_in_them(study: Study) -> None:
    opened, blind = (
        issues.ask(study, by="somebody", with_sources=bool(reason), reason=reason) for reason in ("To compare.", "")
    )
    for package in (opened, blind):
        issues.make_and_keep(package)
    researcher, coordinator = with_token("researcher")[0], with_token("coordinator")[0]

    for_both = {row["sha256"]: row["url"] for row in researcher.get("/api/studies/plums/exports/").json()}
    for_blind = [row["sha256"] for row in coordinator.get("/api/studies/plums/exports/").json()]

    assert (set(for_both), for_blind) == ({opened.sha256, blind.sha256}, [blind.sha256])
    assert len(b"".join(researcher.get(for_both[opened.sha256]).streaming_content)) == opened.n_bytes
    assert coordinator.get(for_both[opened.sha256]).status_code == 404
    assert PackageDownload.objects.get().by == "researcher"


# ── tokens ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_token_reads_what_its_account_may_read_and_changes_nothing(study: Study) -> None:
    client, row = with_token()

    assert {address: client.get(address).status_code for address in ADDRESSES} == dict.fromkeys(ADDRESSES, 200)
    assert [client.post(address).status_code for address in ADDRESSES] == [405] * len(ADDRESSES)
    assert client.get("/reports/plums/figures/all/").status_code == 302  # pages want a session
    row.refresh_from_db()
    assert row.last_used_on is not None


def test_a_token_is_stored_as_its_hash() -> None:
    row, secret = tokens.issue_token(factories.staff("researcher"), name="notebook", at=NOON)

    assert secret.startswith("quire_")
    assert len(secret) >= 48
    assert secret not in json.dumps(list(ApiToken.objects.values()), default=str)
    assert len(row.token_sha256) == 64


@pytest.mark.parametrize(
    ("change", "status"),
    [
        *((change, 401) for change in ("revoked", "inactive", "another word", "no word", "two words")),
        *((change, 403) for change in ("no staff", "no role")),
    ],
)
def test_a_token_ends_with_what_it_rests_on(study: Study, change: str, status: int) -> None:
    client, row = with_token()
    headers = {"another word": "Bearer quire_zzz", "no word": "Bearer", "two words": "Bearer a b"}
    if change == "revoked":
        tokens.revoke_token(row, at=NOON)
    elif change == "no role":
        row.user.groups.clear()
    elif change in headers:
        client = Client(headers={"Authorization": headers[change]})
    else:
        type(row.user).objects.update(**{"is_active" if change == "inactive" else "is_staff": False})

    answer = client.get(ADDRESS)

    assert (answer.status_code, answer.headers.get("WWW-Authenticate")) == (status, "Bearer" if status == 401 else None)


def test_a_token_sees_the_studies_of_its_account_alone(study: Study) -> None:
    client, row = with_token("")
    Membership.objects.create(study=study, user=row.user, role="researcher")
    given.closed_study("pears")

    assert [of["slug"] for of in client.get("/api/studies/").json()] == ["plums"]
    assert client.get("/api/studies/pears/responses/").status_code == 403


def test_who_asks_too_often_is_told_to_wait(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(UserRateThrottle, "THROTTLE_RATES", {"user": "3/min"})
    client, _row = with_token()

    assert [client.get(ADDRESS).status_code for _ in range(4)] == [200, 200, 200, 429]


def test_the_page_shows_a_token_once_and_revokes_it(client: Client, study: Study) -> None:
    client.force_login(factories.staff("researcher"))

    page = client.post("/api/tokens/", {"name": "notebook"}).content.decode()
    secret = page.split('class="secret">')[1].split("<")[0]
    programme = Client(headers={"Authorization": f"Bearer {secret}"})

    assert programme.get(ADDRESS).status_code == 200
    again = client.get("/api/tokens/")
    assert (secret in again.content.decode(), "notebook" in again.content.decode()) == (False, True)
    assert "no-store" in again.headers["Cache-Control"]
    assert client.post("/api/tokens/", {"revoke": ApiToken.objects.get().pk}).status_code == 302
    assert programme.get(ADDRESS).status_code == 401


def test_nobody_revokes_a_token_of_somebody_else(client: Client) -> None:
    row, _secret = tokens.issue_token(factories.staff("researcher"), name="notebook", at=NOON)
    client.force_login(factories.staff("coordinator"))

    assert client.post("/api/tokens/", {"revoke": row.pk}).status_code == 404
    assert client.post("/api/tokens/", {"revoke": "1e3"}).status_code == 404
    row.refresh_from_db()
    assert row.revoked_at is None


# ── the description ────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_description_is_openapi_and_names_every_address(staff: Client) -> None:
    document = staff.get("/api/").json()

    validate_schema(document)
    assert set(document["paths"]) == {
        "/api/studies/",
        *(f"/api/studies/{{slug}}/{name}" for name in ("", "progress/", "responses/", "rationales/", "report/")),
        "/api/studies/{slug}/amendments/",
        *("/api/studies/{slug}/exports/", "/api/studies/{slug}/exports/{sha256}.zip"),
    }


def test_answers_are_as_the_description_says(study: Study) -> None:
    client, _row = with_token()
    document = client.get("/api/").json()

    for path, address in {
        "/api/studies/": "/api/studies/",
        **{
            f"/api/studies/{{slug}}/{name}": f"/api/studies/plums/{name}"
            for name in ("", "progress/", "responses/", "rationales/", "report/", "exports/")
        },
    }.items():
        schema = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        whole = {"components": document["components"], **schema}
        jsonschema.Draft202012Validator(whole).validate(client.get(address).json())


def test_no_answer_is_an_error_of_the_server(study: Study) -> None:
    client, _row = with_token()
    Assignment.objects.update(started_at=datetime(2020, 1, 1, tzinfo=UTC))
    words = ["", "0", "-1", "9" * 30, "null", "%00", "é", "a" * 3000, "[]", "MTIzLTQ1Ng", "LQ", "1-1"]

    statuses = {
        client.get(f"/api/studies/{slug}/responses/?{name}={word}").status_code
        for slug in ("plums", "pears", "a" * 300)
        for name in ("limit", "cursor", "zzz")
        for word in words
    }

    assert statuses == {200, 400, 404}
