"""Pages of several questions where scripts are off, are blocked, or come late: no answer is lost."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from annotation.models import Response
from annotation.participation import invitations
from tests import factories

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]


def comparisons(page: Page, live_server: Any) -> None:
    study = factories.study(n_stories=2, n_groups=1)
    page.goto(f"{live_server.url}/r/{invitations.issue(study)[1]}/")
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("I have read this and I agree to take part.").check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Begin with a group").click()
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
