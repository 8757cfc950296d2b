"""Pages where scripts are off, are blocked, or come late: no answer is lost, and everybody finds the way in."""

import re
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core import mail
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from annotation.models import Application, InvitationMail, ProlificArrival, Response
from annotation.participation import applications, invitations, mails
from tests import factories
from tests.annotation.participation.test_applications import call_for
from tests.annotation.participation.test_recruitment import recruit

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]


def come_in(page: Page, door: str) -> None:
    """From that address to the desk, by keyboard."""
    page.goto(door)
    page.get_by_role("button", name="Continue").press("Enter")
    page.get_by_label("I have read this and I agree to take part.").press("Space")
    page.get_by_role("button", name="Continue").press("Enter")
    page.get_by_role("button", name="Begin with a group").press("Enter")
    expect(page.get_by_role("heading", name="Item 1")).to_be_visible()


def comparisons(page: Page, live_server: Any) -> None:
    study = factories.study(n_stories=2, n_groups=1)
    come_in(page, f"{live_server.url}/r/{invitations.issue(study)[1]}/")
    for _ in range(4):
        page.get_by_role("radio", name="Yes").check()
        page.get_by_label("Your reasons").fill("It is so.")
        page.locator("[name=go][value=next]").click()
        page.wait_for_load_state()


@pytest.mark.parametrize("way", ["off", "blocked"])
def test_continue_stores_every_answer_and_nothing_is_promised(chromium: Browser, live_server: Any, way: str) -> None:
    context = chromium.new_context(java_script_enabled=way != "off")
    page = context.new_page()
    if way == "blocked":
        page.route("**/*.js", lambda route: route.abort())
    comparisons(page, live_server)
    expect(page.get_by_text("Every answer is kept as you give it.")).to_be_hidden()
    page.get_by_label("Position of story A").select_option("2")
    page.get_by_label("Position of story B").select_option("1")
    for radio in page.locator("input[type=radio][value=ai]").all():
        radio.check()

    page.locator("main .principal").click()

    expect(page.get_by_role("heading", name="Check your answers", level=1)).to_be_visible()
    assert Response.objects.filter(step__key__in=["ranking", "guess"], outcome="answered").count() == 3
    context.close()


def test_with_scripts_each_item_is_saved_as_one_answers(page: Page, live_server: Any) -> None:
    comparisons(page, live_server)
    expect(page.get_by_text("Every answer is kept as you give it.")).to_be_visible()

    with page.expect_response("**/s/guess/A/item-1/") as answer:
        page.locator("input[type=radio][value=ai]").first.check()

    assert answer.value.status == 200
    assert "guess-B" not in (answer.value.request.post_data or ""), "only its own fields"
    assert list(Response.objects.filter(step__key="guess").values_list("value", flat=True)) == ["ai"]


def test_somebody_from_prolific_comes_to_the_desk_and_goes_back_with_a_code(
    chromium: Browser, live_server: Any
) -> None:
    row = recruit(factories.study(n_stories=2), minutes=60)
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    door = f"{live_server.url}/p/{row.key}/?PROLIFIC_PID={'5f' * 12}&STUDY_ID={'6a' * 12}&SESSION_ID=s1"

    come_in(page, door)
    page.goto(door)
    page.get_by_role("button", name="Continue").press("Enter")
    expect(page.get_by_role("heading", name="Item 1")).to_be_visible()
    ProlificArrival.objects.update(session_began_at=timezone.now() - timedelta(minutes=61))
    page.goto(f"{live_server.url}/time/")
    page.get_by_role("button", name="Stop and get the code").press("Enter")

    expect(page.get_by_text("CFULL3")).to_be_visible()
    context.close()


def test_somebody_applies_by_keyboard_is_accepted_and_comes_to_the_desk(
    chromium: Browser, live_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mails.current_app, "send_task", lambda *args, **more: None)
    call = call_for(factories.study(n_stories=2))
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()

    page.goto(f"{live_server.url}/join/{call.key}/")
    page.get_by_role("button", name="Apply").press("Enter")
    expect(page.get_by_role("heading", name="This is not right yet")).to_be_visible()
    for yes in page.get_by_role("radio", name="Yes").all():
        yes.press("Space")
    page.get_by_label("Your e-mail address").fill("ada@example.org")
    page.get_by_label("Your e-mail address").press("Enter")
    expect(page.get_by_text("We have received your application.")).to_be_visible()
    applications.accept(Application.objects.get(), by="tests", site=live_server.url, at=timezone.now())
    mails.send(InvitationMail.objects.get().pk, at=timezone.now())
    link = re.search(r"http\S+/r/\S+", str(mail.outbox[-1].body))
    assert link is not None

    come_in(page, live_server.url + urlsplit(link[0]).path)
    context.close()
