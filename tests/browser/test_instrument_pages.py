"""Writing an instrument in a browser: the fields follow the kind of answer, the preview follows what is typed."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page, expect

from studies import instrument_drafts, loader
from studies.documents.instrument import discover, read_instrument
from tests.browser.conftest import press
from tests.browser.test_accessibility import in_all_looks

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]


def test_a_question_is_written_beside_its_preview_and_axe_finds_nothing(page: Page, live_server: Any) -> None:
    User.objects.create_superuser("admin", password="a long enough word")
    published = loader.load_instrument(read_instrument(discover()["pds"]))
    draft = instrument_drafts.copy_draft(published, title="Our scales")
    looks = {}
    page.goto(f"{live_server.url}/admin/login/?next=/instruments/")
    page.get_by_label("Username").fill("admin")
    page.get_by_label("Password").fill("a long enough word")
    press(page, "Log in")
    looks["shelf"] = in_all_looks(page)

    page.goto(f"{live_server.url}/instruments/{draft.pk}/?new=yes")
    page.get_by_label("Question", exact=True).fill("How tiring was it?")
    page.get_by_role("radio", name="Scale").check()
    expect(page.get_by_label("Words at the points: 5")).to_be_visible()
    expect(page.get_by_label("Question", exact=True)).to_have_value("How tiring was it?")
    page.get_by_label("Words at the points: 1").fill("Not at all")
    page.get_by_label("Words at the points: 5").fill("Very")
    expect(page.locator("#preview legend")).to_have_text("How tiring was it?")
    expect(page.locator("#preview .high")).to_have_text("Very")
    looks["writing"] = in_all_looks(page)
    page.get_by_label("Words at the points: 5").fill("")
    press(page, "Save the question")
    expect(page.locator(".error-summary")).to_be_focused()
    looks["refused"] = in_all_looks(page)
    page.get_by_label("Words at the points: 5").fill("Very")
    press(page, "Save the question")
    expect(page.get_by_text("The question is saved.")).to_be_visible()

    assert draft.items.get(key="how-tiring-was-it").settings["anchors"] == {"1": "Not at all", "5": "Very"}
    assert {state: found for state, found in looks.items() if found} == {}


@pytest.mark.parametrize("with_scripts", [True, False])
def test_a_scale_from_0_to_10_is_saved_at_the_first_time_with_all_its_words(
    page: Page, chromium: Browser, live_server: Any, with_scripts: bool
) -> None:
    User.objects.create_superuser("admin", password="a long enough word")
    draft = instrument_drafts.begin_draft("Our scales")
    page = page if with_scripts else chromium.new_context(java_script_enabled=False).new_page()
    page.goto(f"{live_server.url}/admin/login/?next=/instruments/{draft.pk}/?new=yes")
    page.get_by_label("Username").fill("admin")
    page.get_by_label("Password").fill("a long enough word")
    press(page, "Log in")
    page.get_by_label("Question", exact=True).fill("How tiring was it?")
    page.get_by_role("radio", name="Scale").check()
    if not with_scripts:
        press(page, "Show the fields of this kind")
    page.get_by_label("Words at the points: 1", exact=True).fill("Not at all")
    page.get_by_label("Words at the points: 5", exact=True).fill("Very")

    page.get_by_label("From", exact=True).fill("0")
    page.get_by_label("To", exact=True).fill("10")
    if not with_scripts:
        press(page, "Show the fields of this kind")
    page.get_by_label("Words at the points: 5", exact=True).fill("Somewhat")
    expect(page.get_by_label("Words at the points: 10", exact=True)).to_have_value("Very")
    if with_scripts:
        expect(page.locator("#preview .high")).to_have_text("Very")
    press(page, "Save the question")
    expect(page.get_by_text("The question is saved.")).to_be_visible()

    item = draft.items.get()
    assert (item.settings["low"], item.settings["high"]) == (0, 10)
    assert item.settings["anchors"] == {"0": "Not at all", "5": "Somewhat", "10": "Very"}


def test_whoever_leaves_what_is_not_saved_is_asked_first(page: Page, live_server: Any) -> None:
    User.objects.create_superuser("admin", password="a long enough word")
    published = loader.load_instrument(read_instrument(discover()["pds"]))
    draft = instrument_drafts.copy_draft(published, title="Our scales")
    page.goto(f"{live_server.url}/admin/login/?next=/instruments/")
    page.get_by_label("Username").fill("admin")
    page.get_by_label("Password").fill("a long enough word")
    press(page, "Log in")
    asked = []
    page.on("dialog", lambda dialog: asked.append(dialog.type) or dialog.dismiss())
    question = page.get_by_label("Question", exact=True)

    page.goto(f"{live_server.url}/instruments/{draft.pk}/?new=yes")
    page.get_by_role("link", name="Add a question").click()
    assert asked == [], "nothing was typed"
    question.fill("How tiring was it?")
    page.get_by_role("link", name="Add a question").click(no_wait_after=True)
    expect(question).to_have_value("How tiring was it?")
    assert asked == ["beforeunload"]

    page.get_by_role("radio", name="Scale").check()
    page.get_by_label("Words at the points: 1").fill("Not at all")
    press(page, "Save the question")
    expect(page.locator(".error-summary")).to_be_visible()
    page.get_by_role("link", name="Add a question").click(no_wait_after=True)
    expect(page.locator(".error-summary")).to_be_visible()
    assert asked == ["beforeunload"] * 2, "what was refused is not saved"

    page.get_by_label("Words at the points: 5").fill("Very")
    press(page, "Save the question")
    expect(page.get_by_text("The question is saved.")).to_be_visible()
    page.get_by_role("link", name="Add a question").click()
    expect(question).to_have_value("")
    assert asked == ["beforeunload"] * 2
