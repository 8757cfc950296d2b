"""Withdrawing: the words go, from every table; the counts and the chain stay."""

import json
from typing import Any

import pytest
from django.apps import apps
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.urls import reverse

from annotation.design import deletion
from annotation.models import Assignment, Fill, Identity, Rater, Response, ResponseEvent, Seat, Withdrawal
from annotation.participation import claims, invitations, withdrawal
from annotation.responses import derivation, history, submission, verification
from reports import results
from studies import formatting, rehearsals, story_edits
from studies.models import Story, Study
from studies.strata import SubsetRule
from tests import factories
from tests.annotation import clozes, walk
from tests.factories import NOON
from tests.studies.subsets import create_subset

pytestmark = pytest.mark.django_db


def cells() -> list[str]:
    """Everything that stands in any table of the database, as text; JSON and sessions as they are stored."""
    found = []
    for model in apps.get_models():
        names = [field.column for field in model._meta.concrete_fields]
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT {', '.join(connection.ops.quote_name(n) for n in names)} FROM {model._meta.db_table}"
            )
            found += [str(cell) for row in cursor.fetchall() for cell in row if cell is not None]
    return found + [json.dumps(session.get_decoded()) for session in Session.objects.all()]


def n_with(word: str) -> int:
    return sum(word in cell for cell in cells())


def speak(assignment: Assignment, mark: str) -> None:
    """Answers with that word in values, rationales and quotes, changed once so that there is a history."""
    factories.answer(assignment, why=f"First {mark}.")
    response = factories.answer(assignment, why=f"Then {mark} again.")
    Response.objects.filter(pk=response.pk).update(quotes=[{"paragraph": 1, "text": f"{mark} quoted"}])


def identified(study: Any, mark: str) -> Rater:
    identity = Identity.objects.create(name=f"Name {mark}", email=f"{mark}@example.org", payment=f"Account {mark}")
    return factories.rater(study, identity=identity)


def test_of_fifty_who_withdraw_no_word_is_left_in_any_table() -> None:
    study = factories.study(k=51, n_groups=1)
    stays = factories.assignment(study, identified(study, "stays-here"))
    speak(stays, "stays-here")
    leaving = [identified(study, f"canary{n:02}leaves") for n in range(50)]
    for n, rater in enumerate(leaving):
        speak(factories.assignment(study, rater), f"canary{n:02}leaves")
    results.ensure_report(study, at=NOON, by="tests")
    assert n_with("leaves") > 300, "there is something to leave"

    for rater in leaving:
        withdrawal.withdraw(rater, at=NOON)

    assert n_with("leaves") == 0
    assert n_with("stays-here") > 0
    assert Withdrawal.objects.count() == 50
    assert Response.objects.count() == 51


def test_the_chain_still_verifies_after_a_withdrawal_and_so_does_a_receipt() -> None:
    study = factories.study(n_stories=2)
    mine = factories.assignment(study)
    factories.answer_all(mine)
    submission.submit(mine, at=NOON)
    before = verification.verify()

    withdrawal.withdraw(mine.rater, at=NOON)

    after = verification.verify()
    assert after.faults == []
    assert (after.n_events, after.n_receipts) == (before.n_events, before.n_receipts)
    assert after.n_erased == after.n_events > 0


def test_words_put_back_into_an_erased_answer_are_found() -> None:
    mine = factories.assignment(factories.study())
    factories.answer(mine)
    withdrawal.withdraw(mine.rater, at=NOON)

    Response.objects.update(rationale="Something else.")

    response = Response.objects.get()
    assert history.faults(response, response.events.all()) == [
        "the response says something, though its latest event was erased"
    ]


def test_words_erased_without_a_withdrawal_are_found() -> None:
    mine = factories.assignment(factories.study())
    factories.answer(mine)
    withdrawal.erase(mine.rater)

    assert verification.verify().faults == [
        f"assignment {mine.code}: the words of 1 event are erased, though its rater has not withdrawn"
    ]


@pytest.mark.parametrize("submits", [True, False])
def test_the_seat_is_free_for_somebody_else(submits: bool) -> None:
    study = factories.study(k=1, n_stories=2)
    mine = factories.assignment(study)
    factories.answer_all(mine)
    if submits:
        submission.submit(mine, at=NOON)
    assert not Seat.objects.filter(is_taken=False).exists()

    withdrawal.withdraw(mine.rater, at=NOON)

    other = factories.assignment(study)
    assert (other.seat, other.rater == mine.rater) == (mine.seat, False)
    mine.refresh_from_db()
    assert mine.status == "withdrawn"


def test_reports_leave_out_who_withdrew_and_count_their_answers() -> None:
    study = factories.study(n_stories=2, comparative=False)
    left, stayed = factories.assignment(study), factories.assignment(study)
    for each in (left, stayed):
        factories.answer_all(each)
        submission.submit(each, at=NOON)

    withdrawal.withdraw(left.rater, at=NOON)

    progress = results.compute(study)["progress"]
    assert progress["left_out"]["withdrawn"] == 4
    assert (progress["n_raters"], progress["n_answers"]) == (1, 4)
    assert progress["groups"][0]["n_submitted"] == 1


def test_consent_and_times_are_kept(client: Client) -> None:
    mine = walk.begin(client, factories.study())
    walk.give(client, mine)
    given = Response.objects.values_list("first_answered_at", "last_edited_at", "revision").get()

    withdrawal.withdraw(mine.rater, at=NOON)

    assert mine.rater.consents.count() == 1
    assert Response.objects.values_list("first_answered_at", "last_edited_at", "revision").get() == given
    assert withdrawal.count_answers(mine.rater) == 1


def test_a_person_who_takes_part_elsewhere_stays_known_there() -> None:
    here, there = factories.study("here"), factories.study("there")
    identity = Identity.objects.create(name="Somebody")
    leaving, staying = factories.rater(here, identity=identity), factories.rater(there, identity=identity)

    withdrawal.withdraw(leaving, at=NOON)

    leaving.refresh_from_db()
    staying.refresh_from_db()
    assert (leaving.identity, staying.identity) == (None, identity)


def test_a_filled_cloze_goes_with_what_became_of_it() -> None:
    mine = clozes.assignment(clozes.study())
    clozes.fill(mine)
    submission.submit(mine, at=NOON)
    derived = factories.study("derived", planned=False)
    became = factories.story(derived, "fill", text="A word that canaries sing.")
    factories.plan(derived)
    Fill.objects.update(
        state="shortlisted", shortlisted_by="editor", reason="It sings.", edited_text="Canaries.", story=became
    )

    withdrawal.withdraw(mine.rater, at=NOON)

    fill = Fill.objects.get()
    assert (fill.state, fill.reason, fill.edited_text) == ("submitted", "", "")
    assert Story.objects.values_list("text", "is_withheld").get(pk=became.pk) == ("", True)
    assert verification.verify().faults == []


def test_a_filled_cloze_goes_as_it_came_and_from_rehearsals_and_subsets_too() -> None:
    mine = clozes.assignment(clozes.study())
    clozes.fill(mine)
    submission.submit(mine, at=NOON)
    derived = factories.study("derived", planned=False, state=Study.State.DRAFT, n_stories=0)
    became = factories.story(derived, "fill", text="“Canaries,” she sang.")
    group = derived.groups.get()
    group.stories.set([became, factories.story(derived, "other", text="“Sparrows,” he said.")])
    Fill.objects.update(story=became)
    formatting.normalise(derived, ["quotes"])
    rehearsals.copy_study(derived, by=factories.staff("designer"), sees_sources=True, at=NOON)
    subset = create_subset(derived, SubsetRule(n=2, seed=1), "Both", by=None)
    create_subset(subset, SubsetRule(n=2, seed=1), "Both again", by=None)
    # Neither its code nor its text says any more what it is a copy of.
    story_edits.give_neutral_codes(subset)
    story_edits.correct_text(subset.stories.get(text__contains="anaries"), "Two canaries, she sang.")
    factories.plan(derived)
    factories.plan(subset)
    assert n_with("anaries") >= 8, (
        "as it came and as it is read, in the study, its rehearsal, its subset and one of that"
    )

    withdrawal.withdraw(mine.rater, at=NOON)

    assert n_with("anaries") == 0
    assert n_with("parrows") >= 4
    assert verification.verify().faults == []


@pytest.mark.parametrize("is_middle", [True, False], ids=["of a copy", "of the study of fills itself"])
def test_a_filled_cloze_goes_from_copies_of_what_was_deleted_too(is_middle: bool) -> None:
    study = clozes.study()
    mine = clozes.assignment(study)
    clozes.fill(mine)
    submission.submit(mine, at=NOON)
    derived = derivation.derive(study, "derived", list(Fill.objects.all()))
    subset = create_subset(derived, SubsetRule(n=1, seed=1), "Once", by=None)
    last = create_subset(subset, SubsetRule(n=1, seed=1), "Twice", by=None)
    deletion.delete_draft(subset if is_middle else derived)
    texts = Story.objects.filter(study=last).exclude(text="")
    assert texts.count() == 1

    withdrawal.withdraw(mine.rater, at=NOON)

    assert not texts.exists()
    assert verification.verify().faults == []


def test_withdrawing_twice_changes_nothing() -> None:
    mine = factories.assignment(factories.study())
    factories.answer(mine)

    first = withdrawal.withdraw(mine.rater, at=NOON)
    second = withdrawal.withdraw(mine.rater, at=NOON.replace(hour=18))

    assert (second.pk, second.at) == (first.pk, NOON)


@pytest.mark.parametrize("submits", [True, False])
def test_withdrawing_twice_at_once_leaves_the_seat_to_whoever_took_it_in_between(submits: bool) -> None:
    study = factories.study(n_groups=1, k=1)
    first, second = factories.rater(study), factories.rater(study)
    mine = claims.claim(first)
    if submits:
        Assignment.objects.filter(pk=mine.pk).update(status="submitted")
    as_both_found_it = Assignment.objects.get(pk=mine.pk)

    withdrawal.withdraw(first, at=NOON)
    theirs = claims.claim(second)
    withdrawal.end(as_both_found_it, at=NOON)

    assert Seat.objects.get(pk=theirs.seat_id).is_taken
    assert set(Assignment.objects.values_list("rater", "status")) == {(first.pk, "withdrawn"), (second.pk, "open")}


def test_the_page_says_what_it_does_and_looking_changes_nothing(client: Client) -> None:
    mine = walk.begin(client, factories.study())
    walk.give(client, mine)

    page = client.get(reverse("annotation:withdraw")).text

    assert "Your 1 answer and everything you wrote are erased" in page
    assert "Back to where I was" in page
    assert not Withdrawal.objects.exists()
    assert ResponseEvent.objects.exclude(words=None).count() == 1


def test_withdrawing_ends_the_session_and_gives_a_receipt(client: Client) -> None:
    mine = walk.begin(client, factories.study())
    walk.give(client, mine)

    page = client.post(reverse("annotation:withdraw"), follow=True)

    assert "You have withdrawn" in page.text
    assert f"<code>{mine.rater.code}</code>" in page.text
    assert "Withdraw from the study" not in page.text
    after = client.get(walk.address(mine))
    assert (after.status_code, Withdrawal.objects.count()) == (302, 1)


@pytest.mark.parametrize("method", ["get", "post"])
def test_the_link_of_whoever_withdrew_says_so_and_begins_nothing(client: Client, method: str) -> None:
    _, token = invitations.issue(factories.study())
    address = reverse("annotation:invitation", args=[token])
    client.post(address)
    client.post(reverse("annotation:withdraw"))
    newcomer = Client()

    page = getattr(newcomer, method)(address)

    assert page.status_code == 410
    assert "You have withdrawn" in page.text
    assert "rater" not in newcomer.session


def test_an_answer_after_a_withdrawal_in_another_window_is_refused(client: Client) -> None:
    mine = walk.begin(client, factories.study())
    withdrawal.withdraw(mine.rater, at=NOON)

    late = walk.give(client, mine, why="Too late.", htmx=True)

    assert late.status_code == 401
    assert n_with("Too late.") == 0


def test_one_can_withdraw_after_the_study_has_closed(client: Client) -> None:
    study = factories.study()
    mine = walk.begin(client, study)
    type(study).objects.update(state="closed")

    client.post(reverse("annotation:withdraw"))

    assert Withdrawal.objects.get().rater == mine.rater


@pytest.mark.parametrize(("state", "is_running"), [("live", True), ("paused", True), ("closed", False)])
def test_only_before_a_study_closes_is_a_place_made_free_or_a_break_taken(
    client: Client, state: str, is_running: bool
) -> None:
    study = factories.study()
    walk.begin(client, study)
    type(study).objects.update(state=state)

    page = client.get(reverse("annotation:withdraw")).content.decode()

    assert "our link no longer opens the study." in page
    assert ("Your place is free for somebody else" in page) is is_running
    assert ("To take a break" in page) is is_running


PAGES = ["consent", "consent_copy", "begin", "desk", "overview", "check", "closed"]


@pytest.mark.parametrize("name", PAGES)
def test_withdraw_is_on_every_page_of_a_rater(client: Client, name: str) -> None:
    study = factories.study()
    if name in ("consent", "consent_copy"):
        walk.come_in(client, study)
        page = client.get(reverse(f"annotation:{name}"))
    elif name == "begin":
        walk.come_in(client, study)
        client.post(reverse("annotation:consent"), {"agrees": "yes"})
        page = client.get(reverse("annotation:begin"))
    else:
        mine = walk.begin(client, study)
        if name == "closed":
            type(study).objects.update(state="closed")
        at = {"desk": walk.address(mine), "closed": reverse("annotation:closed")}
        page = client.get(at.get(name) or reverse(f"annotation:{name}", args=[mine.code]))

    assert page.status_code == 200
    assert f'href="{reverse("annotation:withdraw")}"' in page.text
