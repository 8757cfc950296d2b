"""Knowing a story, in a real browser: the page before a group, and the flag under a story."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from annotation.models import Assignment, Recognition
from annotation.participation import invitations
from tests import factories
from tests.browser.arriving import until

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]


@pytest.fixture
def before(page, live_server):
    """At the question whether one of the stories is known."""
    study = factories.study(n_groups=2, n_stories=2, recognition=True)
    _, token = invitations.issue(study)
    page.goto(f"{live_server.url}/r/{token}/")
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("I have read this and I agree to take part.").check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Begin with a group").click()
    expect(page.get_by_role("heading", name="Do you know any of these?")).to_be_visible()
    return page


def test_a_yes_leads_to_another_group_and_a_no_to_its_first_story(before):
    before.get_by_role("button", name="Yes, I know one of them").click()
    before.get_by_role("button", name="Begin with a group").click()
    before.get_by_role("button", name="No, begin to read").click()

    expect(before.locator("#story")).to_be_visible()
    assert list(Assignment.objects.order_by("pk").values_list("status", "read_before")) == [
        ("given_up", True),
        ("open", False),
    ]


def test_a_story_is_flagged_without_losing_the_place(before):
    before.get_by_role("button", name="No, begin to read").click()
    before.get_by_role("radio", name="Yes").check()
    flag = before.get_by_role("button", name="I recognise this story")

    flag.click()

    expect(flag).to_have_attribute("aria-pressed", "true")
    expect(before.get_by_text("Your answers are kept")).to_be_visible()
    expect(before.get_by_role("radio", name="Yes")).to_be_checked()
    until(before, Recognition.objects.count, 1)
    flag.click()
    expect(flag).to_have_attribute("aria-pressed", "false")
    until(before, Recognition.objects.count, 0)


def test_neither_answer_stands_out_as_the_one_to_press(before):
    looks = (
        "(button) => { const { backgroundColor, color } = getComputedStyle(button); return [backgroundColor, color]; }"
    )

    yes, no = (before.locator(f"button[name=knows][value={value}]").evaluate(looks) for value in ("yes", "no"))

    assert yes == no


@pytest.mark.parametrize("width", [320, 1440])
def test_both_fit_the_window_and_axe_finds_nothing(before, width):
    before.set_viewport_size({"width": width, "height": 800})
    found = []
    for arrive in (
        lambda: None,
        lambda: before.get_by_role("button", name="No, begin to read").click(),
        lambda: before.get_by_role("button", name="I recognise this story").click(),
    ):
        arrive()
        before.wait_for_load_state()
        found += [
            (v["id"], v["nodes"][0]["html"])
            for v in Axe().run(before, options={"preload": False}).response["violations"]
        ]
        if (wide := before.evaluate("document.documentElement.scrollWidth")) > width:
            found.append(("wide", wide))
    assert found == []
