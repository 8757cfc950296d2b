"""Answers from elsewhere on screen: a file, its columns, what would come in; then all of it, or nothing."""

import re

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.models import AnswerImport, BroughtFile, Response
from studies import protocol
from studies.models import Membership, Study
from tests import factories

pytestmark = pytest.mark.django_db

HOME = "/studies/plums/answers/"
CONTENT = "participant,story_id,mark,time\nAnn,p1s1,1,2026-01-31\nAnn,p1s2,0,\nBob,p1s1,1,\n"
MAPPING = """
[rater]
column = "participant"
[story]
column = "story_id"
[[answers]]
value = "mark"
item = "item-1"
means = { 1 = "yes", 0 = "no" }
"""


@pytest.fixture
def study() -> Study:
    return factories.study(n_stories=2, comparative=False, state="closed")


@pytest.fixture
def page(client: Client) -> Client:
    client.force_login(factories.staff("researcher"))
    return client


def upload(page: Client, content: str = CONTENT, mapping: str = "") -> str:
    """The address to which the upload leads."""
    fields = {"file": SimpleUploadedFile("a.csv", content.encode())}
    if mapping:
        fields["mapping"] = SimpleUploadedFile("map.toml", mapping.encode())
    response = page.post(HOME, fields)
    assert response.status_code == 302, response.content.decode()
    return str(response["Location"])


def fields_of(page: Client, address: str) -> dict[str, str]:
    """What the form of that page would send if nothing is changed."""
    form = page.get(address).context["form"]
    values = {field.html_name: field.value() for field in form}
    return {name: "" if value is None else value for name, value in values.items() if value is not False}


def test_columns_are_mapped_step_by_step_and_nothing_is_written_before_the_end(study: Study, page: Client) -> None:
    address = upload(page)
    first = page.get(address).content.decode()

    posted = fields_of(page, address) | {"role-2": "answer:tests/item-1"}
    page.post(address, posted)
    second = page.get(address).content.decode()
    page.post(address, fields_of(page, address) | {"means-0": "no", "means-1": "yes"})
    third = page.get(address).content.decode()

    assert "say which column holds answers" in first
    assert "Nothing yet." in first
    assert "1 problem" in second
    assert "row 2 and 2 more rows" in second
    assert "0 answers," in second
    assert "What could be read" in second
    assert "Nothing is imported while there are problems." in second
    principal = re.compile(r'<button type="submit" class="principal"\s*name="(\w+)"')
    assert (principal.findall(second), principal.findall(third)) == (["save"], ["bring_in"])
    assert "is no answer to item-1" in second
    assert "No problem" in third
    assert "3. What will be imported" in third
    assert "Nothing is imported while there are problems." not in third
    assert "3 answers," in third
    assert "item = &quot;item-1&quot;" in third
    assert not Response.objects.exists()


def test_the_kept_mapping_brings_the_file_in_and_can_be_taken_along(study: Study, page: Client) -> None:
    address = upload(page, mapping=MAPPING)
    fields = fields_of(page, address) | {"bring_in": "yes"}

    response = page.post(address, fields, follow=True)

    assert "3 answers by 2 raters are in." in response.content.decode()
    assert sorted(Response.objects.values_list("assignment__rater__code", "story__code", "value")) == [
        ("Ann", "p1s1", "yes"),
        ("Ann", "p1s2", "no"),
        ("Bob", "p1s1", "yes"),
    ]
    record = AnswerImport.objects.get()
    kept = page.get(f"{HOME}mappings/{record.pk}/")
    assert kept.content.decode() == record.mapping
    assert (record.by, record.file_name, BroughtFile.objects.count()) == ("researcher", "a.csv", 0)
    assert page.post(address, fields).status_code == 404
    assert Response.objects.count() == 3
    # The next file of these columns is read alike, and refused since its answers are there.
    again = page.get(upload(page)).content.decode()
    assert "Ann has had group plot1 in this study already" in again


def test_refused_answers_stay_on_the_page_with_what_is_wrong(study: Study, page: Client) -> None:
    address = upload(page, CONTENT + "Eve,p7,1,\n", MAPPING)

    response = page.post(address, fields_of(page, address) | {"bring_in": "yes"})

    assert response.status_code == 400
    assert "“p7” is no story of the study" in response.content.decode()
    assert "3. What could be read" in response.content.decode()
    assert "Nothing is imported while there are problems." in response.content.decode()
    assert "will be imported" not in response.content.decode()
    assert not Response.objects.exists()
    page.post(address, {"put_aside": "yes"})
    assert not BroughtFile.objects.exists()


def test_two_columns_cannot_be_one_thing_and_a_broken_mapping_is_told(study: Study, page: Client) -> None:
    address = upload(page)
    double = page.post(address, fields_of(page, address) | {"role-2": "rater"})
    broken = page.post(
        HOME, {"file": SimpleUploadedFile("a.csv", b"a,b\n1,2\n"), "mapping": SimpleUploadedFile("m.toml", b"[rater")}
    )

    assert "This is said of the column participant already." in double.content.decode()
    assert broken.status_code == 400
    assert "m.toml: file: is not TOML" in broken.content.decode()


def test_only_whoever_may_know_sources_gets_in_and_sees_their_own_file_alone(study: Study, page: Client) -> None:
    address = upload(page)
    lead, other, blind = Client(), Client(), Client()
    for client, role in ((lead, "lead"), (other, "researcher"), (blind, "coordinator")):
        account = User.objects.create_user(f"{role} of one", is_staff=True)
        Membership.objects.create(study=study, user=account, role=role)
        client.force_login(account)

    assert [client.get(HOME).status_code for client in (lead, other, blind)] == [200, 200, 403]
    assert [client.get(address).status_code for client in (lead, other, blind)] == [404, 404, 403]
    assert "Answers from elsewhere" in lead.get("/studies/plums/").content.decode()
    assert "Answers from elsewhere" not in blind.get("/studies/plums/").content.decode()


def test_the_list_takes_as_many_queries_for_three_imports_as_for_one(study: Study, page: Client) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            page.get(HOME)
        return len(queries)

    values = {"at": factories.NOON, "by": "ann", "file_name": "a.csv", "sha256": "0" * 64, "mapping": ""}
    rows = [AnswerImport(study=study, n_rows=1, n_raters=1, n_responses=1, **values) for _ in range(3)]
    rows[0].save()
    one = count()
    AnswerImport.objects.bulk_create(rows[1:])

    assert (one, count()) == (9, 9)


def test_what_stands_in_the_way_of_the_study_is_said_before_anything_is_sent(page: Client) -> None:
    study = factories.study(n_stories=2, comparative=False, state="draft", planned=False)
    study.versions.get().steps.filter(key="tests").update(revises="nothing")
    address = upload(page, mapping=MAPPING)

    first = page.get(address).content.decode()
    study.versions.get().steps.filter(key="tests").update(revises="")
    second = page.get(address).content.decode()

    assert "which is no earlier step with the same instrument and scope" in first
    assert ("No problem" in first, "No problem" in second) == (False, True)
    assert "3. What will be imported" not in first
    assert "which is no earlier step" not in second


def test_nothing_about_consent_or_pay_binds_a_study_into_which_people_are_only_brought(page: Client) -> None:
    study = factories.study(n_stories=2, comparative=False, state="draft", planned=False)
    steps = study.versions.get().steps
    steps.filter(key="consent").update(text="You are paid {pay}. Write to {contact}.", position=9)
    Study.objects.filter(pk=study.pk).update(pay="", contact="")
    address = upload(page, mapping=MAPPING)

    shown = page.get(address).content.decode()
    page.post(address, fields_of(page, address) | {"bring_in": "yes"})

    assert "No problem" in shown
    assert Response.objects.count() == 3
    launch = protocol.select_errors(
        protocol.collect_findings(study, protocol.load_protocol(study.versions.get())), protocol.Purpose.LAUNCH
    )
    assert {"tells raters" in str(error) or "consent must be" in str(error) for error in launch} == {True}


@pytest.mark.parametrize(
    ("content", "is_refused"),
    [
        (rb'{"participant": "Ann \ud83d", "story_id": "p1s1", "mark": "1"}', True),
        (rb'{"participant": "Ann", "story_id": "p1s1", "mark": "1", "why \udc00": "It ends."}', False),
        (rb'{"participant": "Ann", "story_id": "p1s1", "mark": ["1", "cut \ud83d"]}', True),
    ],
    ids=["in a value", "in a name that is not read", "in a list"],
)
def test_half_a_sign_in_a_file_of_answers_is_a_problem_of_its_row(
    study: Study, page: Client, content: bytes, is_refused: bool
) -> None:
    fields = {"file": SimpleUploadedFile("a.jsonl", content), "mapping": SimpleUploadedFile("m.toml", MAPPING.encode())}
    address = page.post(HOME, fields)["Location"]

    response = page.get(address)

    problems = [problem for _n, problem, _buttons in response.context["problems"] if problem.location.endswith("row 1")]
    assert (response.status_code, any("half a character" in problem.sentence for problem in problems)) == (
        200,
        is_refused,
    )
