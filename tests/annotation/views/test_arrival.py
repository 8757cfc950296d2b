"""Arriving: links, sessions, consent, what comes before a group."""

import pytest
from django.contrib.sessions.models import Session
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation import responses
from annotation.models import Assignment, Rater
from annotation.participation import claims, invitations, visits
from studies import lifecycle
from studies.models import Step, Study
from tests import factories, triggers
from tests.annotation import walk
from tests.annotation.arriving import CONSENT, check, steps_around

pytestmark = pytest.mark.django_db


def link(study: Study) -> str:
    return reverse("annotation:invitation", args=[invitations.issue(study)[1]])


def test_looking_at_a_link_starts_nothing(client):
    address = link(factories.study())

    pages = [client.get(address) for _ in range(50)]

    assert {page.status_code for page in pages} == {200}
    assert "Continue" in pages[0].text
    assert (Session.objects.count(), Rater.objects.count()) == (0, 0)


def test_a_link_says_who_runs_the_study_how_long_it_takes_and_until_when(client):
    study = factories.study()
    with triggers.lifted():
        Study.objects.filter(pk=study.pk).update(minutes=50, closes_at=timezone.now() + timezone.timedelta(days=3))

    page = client.get(link(study)).text

    for said in ("Us", "us@example.org", "about 50 minutes", "Open until", "stop at any time and come back"):
        assert said in page


def test_continue_begins_a_session_under_a_new_key_and_the_same_link_finds_the_same_rater(client):
    address = link(factories.study())
    client.session.save()
    planted = client.session.session_key

    client.post(address)
    other = Client()
    other.post(address)

    assert client.session.session_key != planted
    assert [r.code for r in Rater.objects.all()] == ["E01"]
    assert client.session["rater"] == other.session["rater"]


@pytest.mark.parametrize("method", ["get", "post"])
def test_an_unknown_link_is_a_plain_page_and_starts_nothing(client, method):
    response = getattr(client, method)(reverse("annotation:invitation", args=["x" * 43]))

    assert response.status_code == 404
    assert "This link does not work" in response.text
    assert Session.objects.count() == 0


def test_a_revoked_link_ends_the_session_that_it_began(client):
    assignment = walk.begin(client, factories.study())
    assert client.get(walk.address(assignment)).status_code == 200

    invitations.revoke(assignment.rater.invitation, at=timezone.now())

    assert client.get(walk.address(assignment)).url == "/again/"
    assert walk.give(client, assignment, htmx=True).status_code == 401
    assert walk.said(assignment) == []


@pytest.mark.parametrize("name", ["home", "again", "consent", "consent_copy", "begin", "closed", "done"])
def test_pages_of_raters_take_no_query_parameters_and_are_never_cached(client, name):
    walk.come_in(client, factories.study())
    address = reverse(f"annotation:{name}")

    assert client.get(address, {"source": "ai"}).status_code == 400
    assert client.get(address).headers["Cache-Control"] == "no-store"


def test_texts_and_questions_before_the_first_group_come_in_order(client):
    study = factories.study(planned=False)
    steps_around(study)
    factories.plan(study)
    walk.come_in(client, study)

    client.post(CONSENT, {"agrees": "yes"})
    text = client.get("/", follow=True)
    ahead = client.post("/group/")
    client.post("/briefing/welcome/")
    asked = client.get("/", follow=True)
    open_still = client.post("/once/about/")
    visit = Assignment.objects.get(seat=None)
    walk.give(client, visit, "no", "", step="about", letter="")
    client.post("/once/about/")

    assert "Words of <i>welcome</i>." in text.text
    assert ahead.url == "/briefing/welcome/"
    assert asked.redirect_chain[-1][0] == "/once/about/"
    assert open_still.status_code == 400
    assert open_still.text.count(responses.UNANSWERED) == 2, "in the summary and at the item"
    assert walk.said(visit) == [("no", "")]
    assert client.get("/", follow=True).redirect_chain[-1][0] == "/group/"


def test_the_last_questions_and_the_debriefing_come_after_the_groups(client):
    study = factories.study(planned=False, n_groups=2)
    steps_around(study)
    factories.plan(study)
    rater = walk.come_in(client, study)
    client.post(CONSENT, {"agrees": "yes"})
    client.post("/briefing/welcome/")
    client.get("/once/about/")
    visit = rater.assignments.get(seat=None)
    walk.give(client, visit, step="about", letter="", why="")
    client.post("/once/about/")
    client.post("/group/")
    group = rater.assignments.exclude(seat=None).get()
    early = client.get("/done/")
    walk.answer_all(client, group)
    client.post(reverse("annotation:check", args=[group.code]))

    offered = client.get("/", follow=True)
    finishing = client.post("/done/")
    walk.give(client, visit, step="leave", letter="", why="")
    client.post("/once/leave/")
    end = client.get("/", follow=True)

    assert early.status_code == 302, "nobody is debriefed within a group"
    assert "Begin another group" in offered.text
    assert finishing.url == "/once/leave/"
    assert end.redirect_chain[-1][0] == "/done/"
    assert "Words of <i>debrief</i>." in end.text
    visit.refresh_from_db()
    assert visit.status == "submitted"
    assert walk.give(client, visit, "no", step="leave", letter="", base=1).status_code == 409


def test_the_last_questions_can_be_answered_where_a_step_of_the_group_locked_what_came_before(client):
    study = factories.study(planned=False)
    steps_around(study)
    Step.objects.filter(key="ranking").update(locks=True)
    factories.plan(study)
    rater = walk.come_in(client, study)
    visit = visits.ensure_visit(rater)
    client.post(CONSENT, {"agrees": "yes"})

    before = walk.give(client, visit, step="about", letter="", why="")
    after = walk.give(client, visit, "no", step="leave", letter="", why="")

    assert (before.status_code, after.status_code) == (302, 302)
    assert walk.said(visit) == [("yes", ""), ("no", "")]


def test_the_receipt_of_the_last_group_says_that_questions_remain_as_long_as_they_do(client):
    study = factories.study(planned=False)
    steps_around(study)
    factories.plan(study)
    rater = walk.come_in(client, study)
    visit = visits.ensure_visit(rater)
    client.post(CONSENT, {"agrees": "yes"})
    client.post("/briefing/welcome/")
    walk.give(client, visit, step="about", letter="", why="")
    client.post("/once/about/")
    client.post("/group/")
    group = rater.assignments.exclude(seat=None).get()
    walk.answer_all(client, group)

    before = client.post(reverse("annotation:check", args=[group.code]), follow=True)
    walk.give(client, visit, step="leave", letter="", why="")
    client.post("/once/leave/")
    after = client.get(reverse("annotation:receipt", args=[group.code]))

    assert "There are no more groups for you." in before.text
    assert "A few questions about the whole remain" in before.text
    assert "questions about the whole remain" not in after.text


def test_what_was_read_and_answered_first_is_not_asked_again_in_a_new_session(client):
    study = factories.study(planned=False)
    steps_around(study)
    factories.plan(study)
    address = link(study)
    client.post(address)
    client.post(CONSENT, {"agrees": "yes"})
    client.post("/briefing/welcome/")
    client.get("/once/about/")
    walk.give(client, Assignment.objects.get(), step="about", letter="", why="")
    client.post("/once/about/")

    elsewhere = Client()
    elsewhere.post(address)

    assert elsewhere.get("/", follow=True).redirect_chain[-1][0] == "/group/"


def test_asking_for_a_group_twice_gives_one(client):
    study = factories.study(n_groups=3)
    assignment = walk.begin(client, study)

    again = client.post("/group/")

    assert again.url == reverse("annotation:assignment", args=[assignment.code])
    assert Assignment.objects.count() == 1


def test_looking_at_the_offer_claims_nothing(client):
    study = factories.study()
    walk.come_in(client, study)
    client.post(CONSENT, {"agrees": "yes"})

    page = client.get("/group/")

    assert "Begin with a group" in page.text
    assert Assignment.objects.count() == 0


def test_who_knows_a_story_of_a_group_is_told_that_it_is_given_back(client):
    study = factories.study(n_groups=3, recognition=True)
    walk.come_in(client, study)
    client.post(CONSENT, {"agrees": "yes"})
    before = client.get("/group/")
    client.post("/group/")

    page = client.post(f"/a/{Assignment.objects.get().code}/recognition/", {"knows": "yes"}, follow=True)

    assert "given back" not in before.text
    assert page.redirect_chain[-1][0] == "/group/"
    assert "You knew a story of the last group, so it is given back." in page.text


def test_nobody_else_gets_the_place_of_somebody_who_has_agreed(client):
    study = factories.study(k=1)
    walk.come_in(client, study)
    client.post(CONSENT, {"agrees": "yes"})

    with pytest.raises(claims.NoSeat):
        factories.assignment(study)

    assert client.get("/", follow=True).redirect_chain[-1][0] == "/group/"


def test_in_a_closed_study_nothing_can_be_changed_and_everything_is_kept(client):
    study = factories.study()
    assignment = walk.begin(client, study)
    walk.give(client, assignment)

    Study.objects.filter(pk=study.pk).update(state="closed")

    assert client.get(walk.address(assignment), follow=True).redirect_chain[-1][0] == "/closed/"
    assert walk.give(client, assignment, "no", base=1).status_code == 409
    assert walk.said(assignment) == [("yes", "It is so.")]


def test_in_a_paused_study_raters_are_told_so_and_go_on_later(client):
    study = factories.study()
    assignment = walk.begin(client, study)
    walk.give(client, assignment)

    lifecycle.pause(study)

    page = client.get(walk.address(assignment), follow=True)
    assert "The study is paused" in page.text
    assert "Nothing is lost" in page.text
    refused = walk.give(client, assignment, "no", base=1)
    assert refused.status_code == 409
    assert "The study is paused, so answers cannot be changed just now. What you saved is kept." in refused.text
    assert walk.said(assignment) == [("yes", "It is so.")]

    lifecycle.resume(study)

    assert walk.give(client, assignment, "no", base=1).status_code < 400
    assert walk.said(assignment) == [("no", "It is so.")]


@pytest.mark.parametrize(
    ("state", "reason"),
    [("paused", "The study is paused, so answers cannot be changed"), ("closed", "The study has closed, so answers")],
)
def test_a_page_posted_to_a_study_that_is_not_open_comes_back_with_its_words_and_the_reason(client, state, reason):
    visit = check(client)
    assignment = factories.assignment(visit.study, visit.rater)
    Study.objects.update(state=state)
    posted = {"answer-about-item-1": "A hare.", "base-about-item-1": "0", "attempt": "1"}

    pages = [
        client.post("/once/about/", posted),
        client.post(
            reverse("annotation:part", args=[assignment.code, "ranking"]), {"answer-ranking-item-1": "A hare."}
        ),
        walk.give(client, assignment, "yes", "A hare."),
    ]

    for page in pages:
        assert page.status_code == 409
        assert reason in page.text
        assert '<blockquote class="given-back">A hare.</blockquote>' in page.text
    assert client.get("/once/about/").url == "/closed/"


def test_an_ended_session_gets_a_page_and_a_script_401(client):
    assignment = walk.begin(client, factories.study())

    stranger = Client()

    assert stranger.get(walk.address(assignment)).url == "/again/"
    assert walk.give(stranger, assignment).status_code == 401
    assert walk.give(stranger, assignment, htmx=True).status_code == 401
    assert "Please open your link again" in stranger.get("/again/").text
    assert walk.said(assignment) == []


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("name", ["assignment", "check", "receipt", "part", "story", "item", "story_item"])
def test_another_persons_assignment_is_not_there(client, name, method):
    study = factories.study(n_groups=2)
    theirs = walk.begin(Client(), study)
    walk.begin(client, study)
    more = {"part": ["ranking"], "story": ["A"], "item": ["ranking", "item-1"], "story_item": ["tests", "A", "item-1"]}

    response = getattr(client, method)(reverse(f"annotation:{name}", args=[theirs.code, *more.get(name, [])]))

    assert response.status_code == 404
    assert walk.said(theirs) == []


def test_reading_settings_are_set_by_the_server_from_a_cookie(client):
    client.post(reverse("annotation:reading"), {"theme": "dark", "size": "3", "numbers": "on", "back": "/again/"})

    page = client.get("/again/").text

    assert '<html lang="en" data-theme="dark" data-size="3" data-numbers="on" data-keys="on">' in " ".join(page.split())


@pytest.mark.parametrize(
    ("cookie", "found"),
    [
        ("", 'data-theme="system" data-size="2" data-numbers="off" data-keys="on"'),
        ("pink.9.maybe", 'data-theme="system" data-size="2" data-numbers="off" data-keys="on"'),
        ("dark", 'data-theme="dark" data-size="2" data-numbers="off" data-keys="on"'),
        ('"><script>.4.on', 'data-theme="system" data-size="4" data-numbers="on" data-keys="on"'),
    ],
)
def test_a_cookie_of_nonsense_sets_what_is_usual(rf, cookie, found):
    request = rf.get("/")
    request.COOKIES["reading"] = cookie

    page = render_to_string("base.html", request=request)

    assert f'<html lang="en" {found}>' in " ".join(page.split())


def test_after_reading_settings_one_goes_back_to_this_site_only(client):
    response = client.post(reverse("annotation:reading"), {"back": "https://example.org/"})

    assert response.url == "/"
