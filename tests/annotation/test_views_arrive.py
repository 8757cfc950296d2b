"""Arriving: links, sessions, consent, what comes before a group."""

import hashlib
import json

import pytest
from django.contrib.sessions.models import Session
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.html import escape

from annotation import claims, invitations
from annotation.models import Assignment, Consent, Rater, Response, ResponseEvent
from studies import protocol
from studies.models import Item, ProtocolVersion, Step, Study
from tests import factories
from tests.annotation import walk

pytestmark = pytest.mark.django_db
CONSENT = "/consent/"
RECORDED_TIME = (
    "Your active time with each story and part: only while the page is visible and you did something within the last "
    "minute."
)
RECORDED_PASTES = "Large pastes into your reasons: that there was one, and how long it was."


def link(study: Study) -> str:
    return reverse("annotation:invitation", args=[invitations.issue(study)[1]])


def steps_around(study: Study) -> None:
    """Before the story step a text and a question asked once, and a question and a text at the end."""
    version = study.versions.get()
    for step in version.steps.order_by("-position"):
        if step.kind == Step.Kind.RATING:
            Step.objects.filter(pk=step.pk).update(position=step.position + 2)
    about = factories.instrument(f"{study.slug}-about", n_items=1, rationale="none", rationale_least=0)
    leave = factories.instrument(f"{study.slug}-leave", n_items=1, rationale="none", rationale_least=0)
    for position, key, instrument in (
        (2, "welcome", None),
        (3, "about", about),
        (10, "leave", leave),
        (11, "debrief", None),
    ):
        rating = {"kind": "rating", "instrument": instrument, "scope": "once"}
        said = rating if instrument else {"kind": "briefing", "text": f"Words of *{key}*."}
        Step.objects.create(version=version, position=position, key=key, title=key.title(), **said)


def test_looking_at_a_link_starts_nothing(client):
    address = link(factories.study())

    pages = [client.get(address) for _ in range(50)]

    assert {page.status_code for page in pages} == {200}
    assert "Continue" in pages[0].text
    assert (Session.objects.count(), Rater.objects.count()) == (0, 0)


def test_a_link_says_who_runs_the_study_how_long_it_takes_and_until_when(client):
    study = factories.study()
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
    assert "This link opens nothing" in response.text
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


def test_consent_is_a_box_that_nobody_has_ticked_and_without_it_nothing_begins(client):
    rater = walk.come_in(client, factories.study())

    page = client.get(CONSENT)
    refused = client.post(CONSENT, {})
    begun = client.post(reverse("annotation:begin"))

    assert "You can stop at any time." in page.text
    assert "checked" not in page.text.split("agrees")[1].split(">")[0]
    assert refused.status_code == 400
    assert refused.text.count("Please tick the box if you agree.") == 2, "in the summary and at the box"
    assert begun.url == CONSENT
    assert (Consent.objects.count(), rater.assignments.count()) == (0, 0)


def test_consent_is_kept_with_the_version_of_its_text_and_a_copy_can_be_kept(client):
    rater = walk.come_in(client, factories.study())

    client.post(CONSENT, {"agrees": "yes"})

    sha256 = hashlib.sha256(b"You can stop at any time.").hexdigest()
    assert rater.consents.get().text_sha256 == sha256
    copy = client.get(reverse("annotation:consent_copy")).text
    assert "You can stop at any time." in copy
    assert sha256[:16] in copy
    assert "not yet" not in copy


@pytest.mark.parametrize("language", ["en", "pt-br"])
def test_consent_and_its_copy_name_what_is_recorded_whatever_the_study_says(client, language):
    study = factories.study()
    Study.objects.update(language=language)
    walk.come_in(client, study)

    pages = [client.get(CONSENT).text, client.get("/consent/copy/").text]

    with translation.override(language):
        said = [translation.gettext(each) for each in ("What is recorded", RECORDED_TIME, RECORDED_PASTES)]
    assert language == "en" or RECORDED_TIME not in said
    assert all(escape(each) in page for each in said for page in pages)


def test_a_changed_consent_text_asks_again(client):
    study = factories.study()
    walk.come_in(client, study)
    client.post(CONSENT, {"agrees": "yes"})
    assert client.get("/", follow=True).redirect_chain[-1][0] == "/group/"

    second = ProtocolVersion.objects.create(study=study, number=2)
    for step in study.versions.get(number=1).steps.all():
        changed = "You can stop, and you are paid." if step.kind == "consent" else step.text
        step.pk, step.version, step.text = None, second, changed
        step.save(force_insert=True)
    protocol.freeze(second, reason="pay", by="tests", at=timezone.now())

    assert client.get("/", follow=True).redirect_chain[-1][0] == CONSENT


def test_an_answer_before_consent_is_refused(client):
    study = factories.study()
    assignment = claims.claim(walk.come_in(client, study))

    response = walk.give(client, assignment)

    assert response.status_code == 409
    assert "Please give your consent first" in response.text
    assert Response.objects.count() == 0
    assert client.get(walk.address(assignment), follow=True).redirect_chain[-1][0] == CONSENT


def test_texts_and_questions_before_the_first_group_come_in_order(client):
    study = factories.study(planned=False)
    steps_around(study)
    factories.design.plan(study, by="tests", at=factories.NOON)
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
    assert open_still.text.count("This has not been answered yet.") == 2, "in the summary and at the item"
    assert walk.said(visit) == [("no", "")]
    assert client.get("/", follow=True).redirect_chain[-1][0] == "/group/"


def test_the_last_questions_and_the_debriefing_come_after_the_groups(client):
    study = factories.study(planned=False, n_groups=2)
    steps_around(study)
    factories.design.plan(study, by="tests", at=factories.NOON)
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
    factories.design.plan(study, by="tests", at=factories.NOON)
    rater = walk.come_in(client, study)
    visit = claims.visit(rater)
    client.post(CONSENT, {"agrees": "yes"})

    before = walk.give(client, visit, step="about", letter="", why="")
    after = walk.give(client, visit, "no", step="leave", letter="", why="")

    assert (before.status_code, after.status_code) == (302, 302)
    assert walk.said(visit) == [("yes", ""), ("no", "")]


def test_what_was_read_and_answered_first_is_not_asked_again_in_a_new_session(client):
    study = factories.study(planned=False)
    steps_around(study)
    factories.design.plan(study, by="tests", at=factories.NOON)
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


def check(client: Client, *, right: str = "no") -> Assignment:
    """Come to a text and two questions about it, of which each has that right answer; the visit."""
    study = factories.study(planned=False)
    steps_around(study)
    asked = factories.instrument("check", n_items=2, rationale="none", rationale_least=0)
    Item._base_manager.filter(instrument=asked).update(settings={"correct": right}, title="")
    Step.objects.filter(key="about").update(instrument=asked)
    factories.design.plan(study, by="tests", at=factories.NOON)
    walk.come_in(client, study)
    client.post(CONSENT, {"agrees": "yes"})
    client.post("/briefing/welcome/")
    client.get("/once/about/")
    return Assignment.objects.get()


def say(client: Client, visit: Assignment, *values: str, base: int = 0) -> None:
    for item, value in enumerate(values, start=1):
        walk.give(client, visit, value, "", step="about", item=item, letter="", base=base)


def test_a_check_says_what_was_not_right_and_can_be_tried_once_more(client):
    visit = check(client)
    say(client, visit, "no", "yes")

    first = client.post("/once/about/", {"attempt": "1"}, follow=True)
    briefing = client.get("/briefing/welcome/")
    say(client, visit, "no", "no", base=1)
    second = client.post("/once/about/", {"attempt": "2"}, follow=True)

    assert first.redirect_chain[-1][0] == "/once/about/"
    assert "1 answer is not right" in first.text
    summary = first.text.split('id="not-right"')[1].split("</section>")[0]
    assert ("Is it good in way 1?" in summary, "Is it good in way 2?" in summary) == (False, True)
    assert "Words of <i>welcome</i>." in briefing.text
    assert second.redirect_chain[-1][0] == "/group/"
    assert list(visit.rater.steps_taken.filter(step__key="about").values_list("attempt", "wrong")) == [
        (1, ["item-2"]),
        (2, []),
    ]
    changed = ResponseEvent.objects.filter(response__item__key="item-2").order_by("revision")
    assert [json.loads(event.words)["value"] for event in changed] == ["yes", "no"], "both answers are in the history"


def test_who_fails_a_check_twice_is_thanked_and_offered_no_group_on_any_device(client):
    visit = check(client)
    say(client, visit, "yes", "yes")
    client.post("/once/about/", {"attempt": "1"})
    say(client, visit, "no", base=1)

    failed = client.post("/once/about/", {"attempt": "2"}, follow=True)
    elsewhere = Client()
    elsewhere.post(reverse("annotation:invitation", args=[invitations.reissue(visit.rater.invitation)]))
    group = elsewhere.post("/group/")

    assert failed.redirect_chain[-1][0] == "/done/"
    assert "the study ends here for you" in failed.text
    assert "Words of <i>debrief</i>." not in failed.text
    assert group.url == "/done/"
    assert not Assignment.objects.exclude(seat=None).exists()
    visit.refresh_from_db()
    assert (visit.status, len(visit.receipt)) == ("submitted", 64)
    assert walk.give(client, visit, "no", "", step="about", letter="", base=1).status_code == 409


@pytest.mark.parametrize("attempt", ["1", "", "3", "x"])
def test_a_page_of_a_check_that_is_sent_twice_is_one_attempt(client, attempt):
    visit = check(client)
    say(client, visit, "yes", "yes")
    client.post("/once/about/", {"attempt": "1"})

    again = client.post("/once/about/", {"attempt": attempt})

    assert again.url == "/once/about/"
    assert visit.rater.steps_taken.filter(step__key="about").count() == 1


def test_going_on_without_changing_an_answer_is_no_second_attempt(client):
    visit = check(client)
    say(client, visit, "yes", "yes")
    client.post("/once/about/", {"attempt": "1"})

    again = client.post("/once/about/", {"attempt": "2"}, follow=True)

    assert again.redirect_chain[-1][0] == "/once/about/"
    assert "2 answers are not right" in again.text
    assert visit.rater.steps_taken.filter(step__key="about").count() == 1


def test_a_check_with_open_answers_is_no_attempt(client):
    visit = check(client)
    say(client, visit, "yes")

    page = client.post("/once/about/", {"attempt": "1"})

    assert page.status_code == 400
    assert "Is it good in way 2?</span></a>: This has not been answered yet." in page.text
    assert not visit.rater.steps_taken.filter(step__key="about").exists()


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


def test_when_every_place_is_taken_the_rater_is_told_so(client):
    study = factories.study(k=1)
    walk.come_in(client, study)
    client.post(CONSENT, {"agrees": "yes"})
    factories.assignment(study)

    page = client.get("/", follow=True)

    assert page.redirect_chain[-1][0] == "/done/"
    assert "no place is free" in page.text


def test_in_a_closed_study_nothing_can_be_changed_and_everything_is_kept(client):
    study = factories.study()
    assignment = walk.begin(client, study)
    walk.give(client, assignment)

    Study.objects.filter(pk=study.pk).update(state="closed")

    assert client.get(walk.address(assignment), follow=True).redirect_chain[-1][0] == "/closed/"
    assert walk.give(client, assignment, "no", base=1).status_code == 409
    assert walk.said(assignment) == [("yes", "It is so.")]


def test_an_ended_session_gets_a_page_and_a_script_401(client):
    assignment = walk.begin(client, factories.study())

    stranger = Client()

    assert stranger.get(walk.address(assignment)).url == "/again/"
    assert walk.give(stranger, assignment).status_code == 401
    assert walk.give(stranger, assignment, htmx=True).status_code == 401
    assert "Please come in again" in stranger.get("/again/").text
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
        ("", 'data-theme="light" data-size="2" data-numbers="off" data-keys="on"'),
        ("pink.9.maybe", 'data-theme="light" data-size="2" data-numbers="off" data-keys="on"'),
        ("dark", 'data-theme="dark" data-size="2" data-numbers="off" data-keys="on"'),
        ('"><script>.4.on', 'data-theme="light" data-size="4" data-numbers="on" data-keys="on"'),
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
