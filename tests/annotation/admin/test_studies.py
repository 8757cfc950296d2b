"""A study's course in the admin, by its buttons, and what can still be edited of it and of its instruments."""

import pytest
from django.test import Client

from annotation.models import (
    Seat,
)
from studies.models import Instrument, Step, Study
from tests import factories, triggers
from tests.annotation.conftest import url

pytestmark = pytest.mark.django_db


# ── a study's course ───────────────────────────────────────────────────────────────────────────────────────────────
def test_a_study_is_planned_launched_and_closed_by_its_buttons(staff: Client) -> None:
    study = factories.study(state=Study.State.DRAFT, planned=False)
    change = url("studies_study", "change", study.pk)

    course = (("plan", "draft"), ("launch", "live"), ("pause", "paused"), ("resume", "live"), ("close", "closed"))
    for name, state in course:
        do = url("studies_study", "action", study.pk, name)
        assert f'href="{do}"' in staff.get(change).content.decode()
        staff.get(do)
        before = Study.objects.get().state, Seat.objects.count()
        states = {"plan": "draft", "launch": "draft", "pause": "live", "resume": "paused", "close": "live"}
        assert before == (states[name], 0 if name == "plan" else 3)

        answer = staff.post(do)

        assert (answer.status_code, answer.headers["Location"]) == (302, change)
        assert (Study.objects.get().state, Seat.objects.count()) == (state, 3)
    assert "/action/" not in staff.get(change).content.decode()


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("plan", "plums is planned: 3 places."),
        ("launch", "plums cannot be launched: it does not ask for consent; add a consent step as the first step"),
        ("close", "plums cannot be closed: it is not live"),
    ],
)
def test_the_actions_say_what_was_done_or_why_not(staff: Client, action: str, said: str) -> None:
    study = factories.study(state=Study.State.DRAFT, planned=False)
    Step.objects.filter(key="consent").delete()

    page = staff.post(
        url("studies_study"), {"action": action, "_selected_action": [study.pk], "confirmed": "yes"}, follow=True
    )

    assert [str(message) for message in page.context["messages"]] == [said]


def test_an_unknown_deed_is_not_found(staff: Client) -> None:
    assert staff.post(url("studies_study", "action", factories.study().pk, "delete")).status_code == 404


def test_a_studys_page_shows_its_balance_and_what_stands_in_the_way(staff: Client) -> None:
    draft = factories.study("draft", state=Study.State.DRAFT, planned=False)
    Step.objects.filter(version__study=draft, key="consent").delete()
    Study.objects.update(contact="")
    planned = factories.study("planned", state=Study.State.DRAFT)

    before = staff.get(url("studies_study", "change", draft.pk)).content.decode()
    after = staff.get(url("studies_study", "change", planned.pk)).content.decode()

    assert "Not planned yet: there are no places." in before
    assert "it does not ask for consent; add a consent step as the first step" in before
    assert "To be considered:" in before
    assert "raters have no contact address for questions; say who they can write to" in before
    assert "plot1: 0 of 3 places taken." in after
    assert "Nothing blocks the launch." in after


def test_what_was_frozen_cannot_be_edited(staff: Client) -> None:
    study = factories.study()
    given = {"title": "New title", "slug": "other", "seats_per_group": 9, "language": "de", "seed": 1}

    staff.post(url("studies_study", "change", study.pk), given | {"order_policy": "fixed"})

    study.refresh_from_db()
    assert (study.title, study.slug, study.seats_per_group, study.seed) == ("Fourteen tests of a story", "plums", 3, 7)


@pytest.mark.parametrize("frozen", [True, False])
def test_texts_and_groups_can_be_edited_until_the_protocol_is_frozen(staff: Client, frozen: bool) -> None:
    study = factories.study(state=Study.State.DRAFT)
    if frozen:
        factories.freeze(study)
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
    assert [a.status_code for a in answers] == ([409, 409] if frozen else [302, 302])
    assert (story.text == "Other words.", group.code == "other") == (not frozen, not frozen)
    steps = staff.get(url("studies_protocolversion", "change", draft.pk)).content.decode()
    assert ('name="steps-0-text"' in steps) == (not frozen)


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
    given = {
        "slug": "fresh",
        "title": "Fresh",
        "language": "en",
        "seats_per_group": 3,
        "groups_per_sitting": 1,
        "n_repeats": 0,
        "text_kind": "story",
    }

    staff.post(url("studies_study", "add"), given | {"order_policy": "balanced", "seed": 0})

    (version,) = Study.objects.get(slug="fresh").versions.all()
    assert (version.number, version.frozen_at) == (1, None)


def test_a_planned_study_is_not_deleted(staff: Client) -> None:
    study = factories.study()

    assert staff.post(url("studies_study", "delete", study.pk), {"post": "yes"}).status_code == 409
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

    def posted(**fields: str) -> int:
        forged = {**form, **fields, "note": "Spelt right.", "items-0-question": "Forged?", "items-0-DELETE": "on"}
        return staff.post(url("studies_instrument", "change", made.pk), forged).status_code

    assert [posted(title="Forged"), posted()] == [409, 302]

    item.refresh_from_db()
    made.refresh_from_db()
    assert (made.title, made.note, item.question) == ("Tests", "Spelt right.", "Is it good in way 1?")


def test_a_draft_instrument_is_published_by_an_action(staff: Client) -> None:
    made = factories.instrument()
    with triggers.lifted():
        Instrument.objects.update(status="draft", fingerprint="")

    staff.post(url("studies_instrument"), {"action": "publish", "_selected_action": [made.pk]})

    made.refresh_from_db()
    assert (made.status, len(made.fingerprint)) == ("published", 64)


def test_a_draft_that_cannot_be_asked_is_not_published(staff: Client) -> None:
    made = factories.instrument(type="choice")
    with triggers.lifted():
        Instrument.objects.update(status="draft", fingerprint="")

    page = staff.post(url("studies_instrument"), {"action": "publish", "_selected_action": [made.pk]}, follow=True)

    (message,) = page.context["messages"]
    assert str(message).startswith("Not published. ")
    assert Instrument.objects.get().status == "draft"
