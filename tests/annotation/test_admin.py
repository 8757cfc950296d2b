"""The admin: links shown once, deeds with their reasons, nothing of a story's source outside its own page."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.db.models import Model
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation import design, invitations
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
from studies.models import Instrument, Provenance, Source, Study
from tests import factories

pytestmark = pytest.mark.django_db
LINK = re.compile(r"http://testserver/r/([\w-]{43})/")
CANARY = "Canary Q7"


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("admin"))
    return client


def url(model: str, page: str = "changelist", *args: object) -> str:
    return reverse(f"admin:{model}_{page}", args=args)


def with_answers(slug: str) -> Study:
    """A study in which one rater has answered everything in one group, and one link has been issued."""
    study = factories.study(slug)
    invitations.issue(study, label=f"link of {slug}", groups=study.groups.all())
    factories.answer_all(factories.assignment(study))
    return study


# ── links ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_links_are_shown_once_and_stored_nowhere(staff: Client) -> None:
    study = factories.study()

    page = staff.post(url("annotation_invitation", "issue"), {"study": study.pk, "n": 3, "label": "London"})

    tokens = LINK.findall(page.content.decode())
    assert len(set(tokens)) == 3
    assert page.headers["Cache-Control"] == "max-age=0, no-cache, no-store, must-revalidate, private"
    issued = Invitation.objects.order_by("pk")
    assert [i.label for i in issued] == ["London 1", "London 2", "London 3"]
    assert [i.token_sha256 for i in issued] == [invitations.fingerprint(token) for token in tokens]
    pages = [url("annotation_invitation"), url("annotation_invitation", "change", issued[0].pk), reverse("admin:index")]
    for each in pages:
        assert not [token for token in tokens if token in staff.get(each).content.decode()]
    assert not LogEntry.objects.filter(change_message__contains=tokens[0]).exists()


def test_a_link_that_was_issued_lets_somebody_in(staff: Client) -> None:
    study = factories.study()

    page = staff.post(url("annotation_invitation", "issue"), {"study": study.pk, "n": 1})

    (token,) = LINK.findall(page.content.decode())
    opened = invitations.opened(token, at=timezone.now())
    assert opened == Invitation.objects.get()


def test_a_link_can_be_for_some_groups_and_for_a_time(staff: Client) -> None:
    study = factories.study(n_groups=3)
    until = (timezone.now() + timedelta(days=2)).replace(second=0, microsecond=0)

    staff.post(
        url("annotation_invitation", "issue"),
        {"study": study.pk, "n": 1, "groups": "plot1, plot3", "expires_at": until.strftime("%Y-%m-%dT%H:%M")},
    )

    invitation = Invitation.objects.get()
    assert [g.code for g in invitation.groups.all()] == ["plot1", "plot3"]
    assert invitation.expires_at == until


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"groups": "plot9"}, "plums has no group plot9; it has plot1."),
        ({"n": "0"}, "Ensure this value is greater than or equal to 1."),
        ({"n": "201"}, "Ensure this value is less than or equal to 200."),
        ({"expires_at": "2020-01-01T12:00"}, "This has passed; give a later time, or none."),
        ({"study": "0"}, "That choice is not one of the available choices."),
    ],
)
def test_links_that_make_no_sense_are_not_issued(staff: Client, given: dict[str, str], said: str) -> None:
    study = factories.study()

    page = staff.post(url("annotation_invitation", "issue"), {"study": study.pk, "n": "1"} | given)

    assert said in page.content.decode()
    assert Invitation.objects.count() == 0


def test_looking_at_the_form_issues_nothing(staff: Client) -> None:
    study = factories.study()

    page = staff.get(url("annotation_invitation", "issue"), {"study": study.pk})

    assert f'<option value="{study.pk}" selected>' in page.content.decode()
    assert Invitation.objects.count() == 0


def test_a_revoked_link_opens_nothing(staff: Client) -> None:
    invitation, token = invitations.issue(factories.study())
    assert invitations.opened(token, at=timezone.now()) == invitation

    staff.post(url("annotation_invitation"), {"action": "revoke", "_selected_action": [invitation.pk]})

    assert invitations.opened(token, at=timezone.now()) is None
    assert "revoked" in staff.get(url("annotation_invitation")).content.decode()


# ── a study's course ───────────────────────────────────────────────────────────────────────────────────────────────


def test_a_study_is_planned_launched_and_closed_by_its_buttons(staff: Client) -> None:
    study = factories.study(state=Study.State.DRAFT, planned=False)
    change = url("studies_study", "change", study.pk)

    for deed, state in (("plan", "draft"), ("launch", "live"), ("close", "closed")):
        do = url("studies_study", "do", study.pk, deed)
        assert f'href="{do}"' in staff.get(change).content.decode()
        staff.get(do)
        before = Study.objects.get().state, Seat.objects.count()
        assert before == ({"plan": "draft", "launch": "draft", "close": "live"}[deed], 0 if deed == "plan" else 3)

        answer = staff.post(do)

        assert (answer.status_code, answer.headers["Location"]) == (302, change)
        assert (Study.objects.get().state, Seat.objects.count()) == (state, 3)
    assert "/do/" not in staff.get(change).content.decode()


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("plan", "plums is planned: 3 seats, and protocol version 1 is frozen."),
        ("launch", "plums cannot be launched: it is not planned; run `plan plums`, or the action “Plan”"),
        ("close", "plums cannot be closed: it is not live"),
    ],
)
def test_the_actions_say_what_was_done_or_why_not(staff: Client, action: str, said: str) -> None:
    study = factories.study(state=Study.State.DRAFT, planned=False)

    page = staff.post(
        url("studies_study"), {"action": action, "_selected_action": [study.pk], "confirmed": "yes"}, follow=True
    )

    assert [str(message) for message in page.context["messages"]] == [said]


def test_an_unknown_deed_is_not_found(staff: Client) -> None:
    assert staff.post(url("studies_study", "do", factories.study().pk, "delete")).status_code == 404


def test_a_studys_page_shows_its_balance_and_what_stands_in_the_way(staff: Client) -> None:
    draft = factories.study("draft", state=Study.State.DRAFT, planned=False)
    planned = factories.study("planned", state=Study.State.DRAFT)

    before = staff.get(url("studies_study", "change", draft.pk)).content.decode()
    after = staff.get(url("studies_study", "change", planned.pk)).content.decode()

    assert "Not planned yet: there are no seats." in before
    assert "it is not planned; run `plan draft`" in before
    assert "plot1: 0 of 3 seats taken." in after
    assert "Nothing stands in the way of launching." in after


def test_what_was_frozen_cannot_be_edited(staff: Client) -> None:
    study = factories.study()
    given = {"title": "New title", "slug": "other", "seats_per_group": 9, "language": "de", "seed": 1}

    staff.post(url("studies_study", "change", study.pk), given | {"order_policy": "fixed"})

    study.refresh_from_db()
    assert (study.title, study.slug, study.seats_per_group, study.seed) == ("New title", "plums", 3, 7)


@pytest.mark.parametrize("planned", [True, False])
def test_texts_and_groups_can_be_edited_until_the_study_is_planned(staff: Client, planned: bool) -> None:
    study = factories.study(state=Study.State.DRAFT, planned=planned)
    story, group = study.stories.earliest("pk"), study.groups.get()
    draft = study.versions.get()

    answers = [
        staff.post(
            url("studies_story", "change", story.pk),
            {"study": study.pk, "code": story.code, "language": "en", "text": "Other words."},
        ),
        staff.post(
            url("studies_storygroup", "change", group.pk),
            {"study": study.pk, "code": "other", "stories": [s.pk for s in study.stories.all()]},
        ),
    ]

    story.refresh_from_db()
    group.refresh_from_db()
    assert [a.status_code for a in answers] == ([403, 403] if planned else [302, 302])
    assert (story.text == "Other words.", group.code == "other") == (not planned, not planned)
    steps = staff.get(url("studies_protocolversion", "change", draft.pk)).content.decode()
    assert ('name="steps-0-text"' in steps) == (not planned)


def test_a_group_takes_no_story_of_another_study(staff: Client) -> None:
    study = factories.study(state=Study.State.DRAFT, planned=False)
    stranger = factories.study("pears").stories.earliest("pk")
    group = study.groups.get()

    page = staff.post(
        url("studies_storygroup", "change", group.pk),
        {"study": study.pk, "code": "plot1", "stories": [stranger.pk]},
    )

    assert f"Of another study: {stranger.code}. Choose stories of plums." in page.content.decode()
    assert stranger not in group.stories.all()


def test_a_new_study_begins_with_a_draft_protocol(staff: Client) -> None:
    given = {"slug": "new", "title": "New", "language": "en", "seats_per_group": 3, "groups_per_sitting": 1}

    staff.post(url("studies_study", "add"), given | {"order_policy": "balanced", "seed": 0})

    (version,) = Study.objects.get(slug="new").versions.all()
    assert (version.number, version.frozen_at) == (1, None)


def test_a_planned_study_is_not_deleted(staff: Client) -> None:
    study = factories.study()

    assert staff.post(url("studies_study", "delete", study.pk), {"post": "yes"}).status_code == 403
    staff.post(url("studies_study"), {"action": "delete_selected", "_selected_action": [study.pk], "post": "yes"})

    assert Study.objects.filter(pk=study.pk).exists()


# ── instruments ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_published_instrument_is_shown_without_fields_to_edit(staff: Client) -> None:
    made = factories.instrument()

    page = staff.get(url("studies_instrument", "change", made.pk)).content.decode()

    assert "Is it good in way 1?" in page
    assert 'name="items-0-question"' not in page
    assert 'name="title"' not in page


def test_a_published_instrument_is_not_changed_by_a_forged_form(staff: Client) -> None:
    made = factories.instrument(n_items=1)
    item = made.items.get()
    form = {"items-TOTAL_FORMS": 1, "items-INITIAL_FORMS": 1, "items-0-id": item.pk, "items-0-instrument": made.pk}

    staff.post(
        url("studies_instrument", "change", made.pk),
        {**form, "title": "Forged", "note": "Spelt right.", "items-0-question": "Forged?", "items-0-DELETE": "on"},
    )

    item.refresh_from_db()
    made.refresh_from_db()
    assert (made.title, made.note, item.question) == ("Tests", "Spelt right.", "Is it good in way 1?")


def test_a_draft_instrument_is_published_by_an_action(staff: Client) -> None:
    made = factories.instrument()
    Instrument.objects.update(status="draft", fingerprint="")

    staff.post(url("studies_instrument"), {"action": "publish", "_selected_action": [made.pk]})

    made.refresh_from_db()
    assert (made.status, len(made.fingerprint)) == ("published", 64)


def test_a_draft_that_cannot_be_asked_is_not_published(staff: Client) -> None:
    made = factories.instrument(type="choice")
    Instrument.objects.update(status="draft", fingerprint="")

    page = staff.post(url("studies_instrument"), {"action": "publish", "_selected_action": [made.pk]}, follow=True)

    (message,) = page.context["messages"]
    assert str(message).startswith("Not published. ")
    assert Instrument.objects.get().status == "draft"


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


def test_a_place_can_be_given_back(staff: Client) -> None:
    study = factories.study()
    assignment = factories.assignment(study)

    staff.post(url("annotation_assignment"), {"action": "reopen", "_selected_action": [assignment.pk]})

    assignment.refresh_from_db()
    assert assignment.status == Assignment.Status.GIVEN_UP
    assert not Seat.objects.filter(is_taken=True).exists()


def test_a_judges_place_is_not_given_back(staff: Client) -> None:
    study = factories.study()
    judge = Rater.objects.create(study=study, code="gpt", kind=Rater.Kind.MODEL)
    seat = design.judge_seat(study, study.groups.get(), [s.code for s in study.stories.all()])
    version = study.versions.get()
    assignment = Assignment.objects.create(
        study=study, rater=judge, rater_kind=judge.kind, seat=seat, group=seat.group, version=version
    )

    page = staff.post(
        url("annotation_assignment"), {"action": "reopen", "_selected_action": [assignment.pk]}, follow=True
    )

    assignment.refresh_from_db()
    assert "0 given back" in page.content.decode()
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
    Source.objects.filter(pk=Source.objects.earliest("pk").pk).update(name=f"{CANARY} name")
    Provenance.objects.update(
        title=f"{CANARY} title", url="https://example.org/canary-q7", licence=f"{CANARY} licence", factors={"f": CANARY}
    )
    assert CANARY in staff.get(url("studies_provenance")).content.decode()  # it is there to leak

    pages = [url(model) for model in LISTS]
    for model, row in (("studies_study", study), ("studies_story", study.stories.earliest("pk"))):
        pages += [url(model, page, row.pk) for page in ("change", "history", "delete")]
    pages += [url("studies_storygroup", "change", study.groups.get().pk), reverse("admin:index")]
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
    assert client.post(url("studies_study", "do", study.pk, "plan")).status_code == 403
    assert (Invitation.objects.count(), Seat.objects.count()) == (0, 0)


def test_strangers_are_sent_to_the_login(client: Client) -> None:
    study = factories.study()

    for page in (url("annotation_invitation", "issue"), url("studies_study", "do", study.pk, "close")):
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
