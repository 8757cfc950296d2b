"""Rehearse: raters' own pages for one designer, marked, with a way to any step and back; for nobody else."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.design import deletion, launches
from annotation.models import Assignment, Rater, Response
from studies.models import Membership, Step, Study
from tests import factories
from tests.factories import NOON

pytestmark = pytest.mark.django_db
ADDRESS = "/studies/plums/rehearsal/"
BAR = 'class="rehearsal-bar"'


@pytest.fixture
def study() -> Study:
    return factories.study(planned=False, state=Study.State.DRAFT)


@pytest.fixture
def designer(client: Client, study: Study) -> Client:
    client.force_login(factories.staff("designer"))
    return client


def act(client: Client, action: str, step: str = "", **more: Any) -> Any:
    return client.post(ADDRESS, {"action": action, "step": step}, **more)


def test_a_designer_agrees_reads_and_answers_as_a_rater_does(designer: Client, study: Study) -> None:
    page = act(designer, "begin", follow=True)
    assert (page.redirect_chain[-1][0], page.templates[0].name) == ("/consent/", "annotation/consent.html")
    designer.post("/consent/", {"agrees": "yes"})
    designer.post("/group/")

    desk = designer.get("/", follow=True)
    answer = designer.post(desk.request["PATH_INFO"], {"answer": "yes", "rationale": "It does.", "base": "0"})

    assert "annotation/desk.html" in [template.name for template in desk.templates]
    assert BAR in desk.content.decode()
    assert answer["Quire-Saved"] == "yes"
    assert Response.objects.get().assignment.study.rehearsal_of == study
    assert "You have submitted no group yet." in designer.get(ADDRESS).content.decode()


def test_pages_of_a_study_have_no_such_bar(client: Client) -> None:
    live = factories.study("pears")
    rater = factories.rater(live, "E01")
    session = client.session
    session["rater"] = rater.pk
    session.save()

    page = client.get("/consent/", follow=True).content.decode()

    assert "You can stop at any time." in page
    assert BAR not in page


@pytest.mark.parametrize(
    ("step", "ends"),
    [("consent", "/consent/"), ("tests", "/s/tests/A/item-1/"), ("guess", "/s/ranking/"), ("", "/done/")],
)
def test_any_step_can_be_gone_to(designer: Client, step: str, ends: str) -> None:
    page = act(designer, "go", step, follow=True)

    assert page.status_code == 200
    assert page.request["PATH_INFO"].endswith(ends)


def test_a_step_that_is_not_in_the_copy_is_said(designer: Client, study: Study) -> None:
    page = act(designer, "go", "new", follow=True).content.decode()

    assert "This rehearsal has no such step." in page


def test_starting_again_makes_the_copy_anew_and_ends_what_another_window_had(designer: Client, study: Study) -> None:
    act(designer, "go", "tests")
    other_window = Assignment.objects.exclude(seat=None).get().code
    before = Study.every.get(rehearsal_of=study)

    page = act(designer, "renew", follow=True)
    late = designer.get(reverse("annotation:assignment", args=[other_window]))

    assert page.redirect_chain[-1][0] == "/consent/"
    assert not Study.every.filter(pk=before.pk).exists()
    assert late.status_code == 404


def test_an_answer_that_comes_after_the_reset_is_given_back(designer: Client, study: Study) -> None:
    desk = act(designer, "go", "tests", follow=True).request["PATH_INFO"]
    deletion.delete_rehearsals(study)

    late = designer.post(desk, {"answer": "yes", "rationale": "What I wrote.", "base": "0"})
    looked = designer.get(desk, follow=True)

    assert (late.status_code, "What I wrote." in late.content.decode()) == (401, True)
    assert looked.redirect_chain[-1][0] == ADDRESS
    assert "That rehearsal has ended" in looked.content.decode()


def test_the_launch_ends_it_and_the_page_says_so(designer: Client, study: Study) -> None:
    act(designer, "begin")
    launches.launch(study, by="somebody", at=NOON)

    page = designer.get("/consent/", follow=True).content.decode()
    again = act(designer, "begin")

    assert "The study is launched, and its rehearsals are deleted." in page
    assert again.status_code == 409
    assert Study.every.count() == 1


def test_what_is_missing_is_said_with_where_it_is_mended(designer: Client, study: Study) -> None:
    Step.objects.filter(key="consent").delete()
    page = designer.get(ADDRESS).content.decode()
    assert "It can be rehearsed, but not launched yet" in page
    assert "It does not ask for consent" in page

    study.groups.all().delete()
    page, refused = designer.get(ADDRESS).content.decode(), act(designer, "begin")

    assert "There is nothing to walk through yet" in page
    assert 'href="/studies/plums/stories/"' in page
    assert 'value="begin"' not in page
    assert (refused.status_code, Study.every.count()) == (409, 1)


def test_a_change_of_the_study_is_said_and_one_button_renews(designer: Client, study: Study) -> None:
    act(designer, "begin")
    Step.objects.filter(version__study=study, key="consent").update(text="Quite another text.")

    page = designer.get(ADDRESS).content.decode()
    renewed = act(designer, "renew", follow=True).content.decode()

    assert "The study was changed after this rehearsal was made." in page
    assert "Quite another text." in renewed
    assert "was changed after" not in designer.get(ADDRESS).content.decode()


def test_an_unknown_button_does_nothing(designer: Client) -> None:
    assert act(designer, "delete").status_code == 302
    assert Study.every.count() == 1


def test_a_member_rehearses_and_whoever_only_runs_the_study_does_not(client: Client, study: Study) -> None:
    for role, status in [(Membership.Role.LEAD, 302), (Membership.Role.COORDINATOR, 403)]:
        account = User.objects.create_user(str(role), is_staff=True)
        Membership.objects.create(study=study, user=account, role=role)
        client.force_login(account)

        assert act(client, "begin").status_code == status


def test_two_designers_do_not_meet(designer: Client, study: Study) -> None:
    colleague = Client()
    colleague.force_login(User.objects.create_superuser("colleague"))
    act(designer, "go", "tests")
    act(colleague, "go", "tests")
    mine, theirs = Assignment.objects.exclude(seat=None).order_by("pk")

    assert designer.get(f"/a/{theirs.code}/").status_code == 404
    assert colleague.get(f"/a/{mine.code}/").status_code == 404
    assert designer.get(f"/a/{mine.code}/").status_code == 302


@pytest.mark.parametrize("how", ["signed out", "no longer active", "another account"])
def test_the_session_of_a_rehearsal_is_nobody_elses(designer: Client, study: Study, how: str) -> None:
    desk = act(designer, "go", "tests", follow=True).request["PATH_INFO"]
    rehearsal = Study.every.get(rehearsal_of=study)
    session = designer.session
    if how == "signed out":
        rater, links = session["rater"], session["link"]
        designer.logout()
        session = designer.session
        session.update({"rater": rater, "link": links})
        session.save()
    elif how == "no longer active":
        assert rehearsal.rehearsed_by is not None
        type(rehearsal.rehearsed_by).objects.update(is_active=False)
    else:
        Study.every.filter(pk=rehearsal.pk).update(rehearsed_by=User.objects.create_superuser("colleague"))

    for address in ("/consent/", desk):
        page = designer.get(address, follow=True)
        assert BAR not in page.content.decode()
        assert "It began" not in page.content.decode()
    assert Rater.objects.count() == 1


def test_the_pages_cost_the_same_however_far_one_has_come(
    designer: Client, study: Study, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(20):
        designer.get(ADDRESS)
    act(designer, "begin")
    for step in ("tests", ""):
        act(designer, "go", step)
        with django_assert_num_queries(29):
            designer.get(ADDRESS)
