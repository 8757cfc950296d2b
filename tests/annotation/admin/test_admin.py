"""The admin: what was done is only looked at, and nothing of a story's source stands outside its own page."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from annotation.models import (
    Assignment,
    Consent,
    Identity,
    Invitation,
    Rater,
    Response,
    ResponseEvent,
    Seat,
    StepTaken,
    Withdrawal,
)
from annotation.participation import invitations
from studies.models import Provenance, Source, Study
from tests import factories, triggers
from tests.annotation.conftest import url

pytestmark = pytest.mark.django_db


CANARY = "Canary Q7"


def with_answers(slug: str) -> Study:
    """A study in which one rater has answered everything in one group, and one link has been issued."""
    study = factories.study(slug)
    invitations.issue(study, label=f"link of {slug}", groups=study.groups.all())
    factories.answer_all(factories.assignment(study))
    return study


# ── what is looked at only ─────────────────────────────────────────────────────────────────────────────────────────
READ_ONLY = [Response, ResponseEvent, Assignment, Seat, Rater, Consent, Withdrawal]


@pytest.mark.parametrize("model", READ_ONLY)
def test_what_people_and_judges_did_is_only_looked_at(staff: Client, model: type[Model]) -> None:
    study = with_answers("plums")
    rater = study.raters.get()
    Consent.objects.create(rater=rater, step=study.versions.get().steps.get(key="consent"), text_sha256="0" * 64)
    Withdrawal.objects.create(rater=rater)
    name, row = model._meta.label_lower.replace(".", "_"), model._default_manager.values().earliest("pk")
    pk = row.get("id", row.get("rater_id"))

    seen = [staff.get(url(name)).status_code, staff.get(url(name, "change", pk)).status_code]
    tried = [
        staff.get(url(name, "add")).status_code,
        staff.post(url(name, "change", pk), {"value": '"no"', "status": "open"}).status_code,
        staff.post(url(name, "delete", pk), {"post": "yes"}).status_code,
    ]

    assert (seen, tried) == ([200, 200], [403, 403, 403])
    assert model._default_manager.values().earliest("pk") == row


def test_the_list_of_raters_says_who_failed_the_check(staff: Client) -> None:
    study = factories.study()
    step = study.versions.get().steps.get(key="tests")
    for code, second in (("E01", []), ("E02", ["item-1"])):
        rater = factories.rater(study, code)
        StepTaken.objects.create(rater=rater, step=step, wrong=["item-1"])
        StepTaken.objects.create(rater=rater, step=step, attempt=2, wrong=second)

    rows = staff.get(url("annotation_rater")).context["cl"].result_list

    assert {rater.code: rater.failed for rater in rows} == {"E01": False, "E02": True}


def test_a_seat_can_be_given_back(staff: Client) -> None:
    study = factories.study(n_groups=2)
    assignment = factories.assignment(study)
    row = Rater.objects.get().row

    staff.post(url("annotation_assignment"), {"action": "reopen", "_selected_action": [assignment.pk]})

    assignment.refresh_from_db()
    assert assignment.status == Assignment.Status.GIVEN_UP
    assert not Seat.objects.filter(is_taken=True).exists()
    assert (row, Rater.objects.get().row) == (1, None), "the row is there for somebody else"


def test_a_judges_seat_is_not_given_back(staff: Client) -> None:
    study = factories.study()
    judge = Rater.objects.create(study=study, code="gpt", kind=Rater.Kind.MODEL)
    seat = factories.judge_seat(study, study.groups.get(), [s.code for s in study.stories.all()])
    version = study.versions.get()
    assignment = Assignment.objects.create(
        study=study, rater=judge, rater_kind=judge.kind, seat=seat, group=seat.group, version=version
    )

    page = staff.post(
        url("annotation_assignment"), {"action": "reopen", "_selected_action": [assignment.pk]}, follow=True
    )

    assignment.refresh_from_db()
    assert "0 released" in page.content.decode()
    assert assignment.status == Assignment.Status.OPEN


# ── blinding ───────────────────────────────────────────────────────────────────────────────────────────────────────
LISTS = [
    "studies_study",
    "studies_story",
    "studies_storygroup",
    "studies_protocolversion",
    "studies_instrument",
    "annotation_invitation",
    "annotation_rater",
    "annotation_identity",
    "annotation_seat",
    "annotation_assignment",
    "annotation_response",
    "annotation_responseevent",
    "annotation_consent",
    "annotation_withdrawal",
]


def test_nothing_of_a_storys_source_stands_outside_its_own_page(staff: Client) -> None:
    study = with_answers("plums")
    with triggers.lifted():
        Source.objects.filter(pk=Source.objects.earliest("pk").pk).update(name=f"{CANARY} name")
        Provenance.objects.update(
            title=f"{CANARY} title",
            url="https://example.org/canary-q7",
            licence=f"{CANARY} licence",
            factors={"f": CANARY},
        )
    assert CANARY in staff.get(url("studies_provenance")).content.decode()  # it is there to leak

    pages = [url(model) for model in LISTS]
    for model, row in (("studies_study", study), ("studies_story", study.stories.earliest("pk"))):
        pages += [url(model, page, row.pk) for page in ("change", "history", "delete")]
    pages += [url("studies_storygroup", "change", study.groups.get().pk), reverse("admin:records")]
    answered = study.assignments.get().responses.earliest("pk")
    pages += [url("annotation_response", "change", answered.pk)]

    for page in pages:
        said = staff.get(page).content.decode().lower()
        assert CANARY.lower() not in said, page
        assert "canary-q7" not in said, page


@pytest.mark.parametrize(
    ("model", "query"),
    [
        ("studies_story", "provenance__title__startswith=C"),
        ("studies_story", "provenance__source__kind=other"),
        ("studies_storygroup", "stories__provenance__source__name=x"),
        ("annotation_response", "story__provenance__source__kind=other"),
        ("annotation_assignment", "rater__identity__email__startswith=a"),
    ],
)
def test_a_list_cannot_be_asked_about_what_it_does_not_show(staff: Client, model: str, query: str) -> None:
    assert staff.get(f"{url(model)}?{query}").status_code == 400


def test_the_list_of_identities_shows_no_name(staff: Client) -> None:
    Identity.objects.create(name="Canary Person", email="canary@example.org", platform="prolific", platform_id="C1")

    said = staff.get(url("annotation_identity")).content.decode()

    assert "prolific" in said
    assert "anary" not in said


def test_staff_without_permissions_see_and_do_nothing(client: Client) -> None:
    client.force_login(User.objects.create_user("helper", is_staff=True))
    study = factories.study(state=Study.State.DRAFT, planned=False)

    for model in [*LISTS, "studies_provenance", "studies_source"]:
        assert client.get(url(model)).status_code == 403, model
    assert client.get(url("annotation_invitation", "issue")).status_code == 403
    assert client.post(url("annotation_invitation", "issue"), {"study": study.pk, "n": 1}).status_code == 403
    assert client.post(url("studies_study", "action", study.pk, "plan")).status_code == 403
    assert (Invitation.objects.count(), Seat.objects.count()) == (0, 0)


def test_strangers_are_sent_to_the_login(client: Client) -> None:
    study = factories.study()

    for page in (url("annotation_invitation", "issue"), url("studies_study", "action", study.pk, "close")):
        assert client.post(page).headers["Location"].startswith("/admin/login/")
    assert Study.objects.get().state == Study.State.LIVE


# ── cost ───────────────────────────────────────────────────────────────────────────────────────────────────────────
QUERIES = {
    "studies_study": 5,
    "studies_story": 6,
    "studies_storygroup": 6,
    "studies_provenance": 6,
    "studies_instrument": 6,
    "studies_protocolversion": 6,
    "annotation_invitation": 7,
    "annotation_rater": 6,
    "annotation_seat": 6,
    "annotation_assignment": 6,
    "annotation_response": 6,
    "annotation_responseevent": 5,
}


@pytest.mark.parametrize(("model", "n"), QUERIES.items())
def test_a_list_costs_the_same_for_one_study_and_for_three(
    staff: Client, django_assert_num_queries: Callable[..., object], model: str, n: int
) -> None:
    with_answers("plums")
    with django_assert_num_queries(n):  # type: ignore[attr-defined]
        staff.get(url(model))

    with_answers("pears")
    with_answers("quinces")
    with django_assert_num_queries(n):  # type: ignore[attr-defined]
        assert staff.get(url(model)).status_code == 200
