"""What is read and taken from a report, in a browser and by keyboard: reasons, themes, methods, the schedule."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from annotation.models import Response
from reports.models import ReportSchedule
from studies.models import Source, Study
from tests import triggers
from tests.browser.conftest import enter_as_staff
from tests.reports.test_pages import full_study

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]
QUOTED = {"paragraph": 2, "start": 0, "end": 11, "text": "It went on."}


@pytest.fixture
def study(committed: None) -> Study:
    """A closed study of four stories with reasons of people and a judge, of which one quotes a passage of p1s1."""
    study = full_study()
    rows = Response.objects.filter(assignment__rater__code="plumsE01", story__code="p1s1", item__key="item-1")
    rows.filter(step__key="tests").update(rationale="The turn comes too soon.", quotes=[QUOTED])
    return study


def choose(page: Page, label: str, option: str) -> None:
    page.get_by_label(label, exact=True).select_option(label=option)


# ── the three depths ───────────────────────────────────────────────────────────────────────────────────────────────


def test_the_summary_fits_one_screen_and_leads_to_a_section_and_a_figure_by_keyboard(
    page: Page, live_server: Any, study: Study
) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    enter_as_staff(page, live_server.url, "/reports/plums/")

    contents = page.locator("#contents-h").bounding_box()
    assert contents is not None
    assert contents["y"] <= 900, "who leads, agreement and key figures stand above the contents"
    page.get_by_role("navigation", name="Pages of the report").get_by_role("link", name="Sources").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sources")
    page.get_by_role("link", name="All of “Pass rates”").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Pass rates")


def test_an_address_of_the_report_as_one_page_opens_the_figure(page: Page, live_server: Any, study: Study) -> None:
    enter_as_staff(page, live_server.url, "/reports/plums/#pass_rates")

    page.wait_for_url("**/reports/plums/figures/pass-rates/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Pass rates")


@pytest.mark.parametrize("section", ["sources", "agreement", "judges"])
def test_a_section_names_what_follows_after_about_three_screens(
    page: Page, live_server: Any, study: Study, section: str
) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    enter_as_staff(page, live_server.url, f"/reports/plums/{section}/")

    more = page.locator("#more-h").bounding_box() if page.locator("#more-h").count() else None
    height = page.evaluate("document.querySelector('main').scrollHeight")

    assert (more["y"] if more else height) <= 3 * 900 + 300


# ── reasons ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_reason_is_found_by_its_words_and_leads_to_its_passage_and_back(
    page: Page, live_server: Any, study: Study
) -> None:
    enter_as_staff(page, live_server.url, "/reports/plums/rationales/")
    page.get_by_label("Words in the reason").focus()
    page.keyboard.type("turn comes")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("1 reason fits: 1 of people, 0 of judges.")

    page.get_by_role("link", name="p1s1", exact=True).press("Enter")
    page.locator("mark a", has_text="It went on.").press("Enter")
    expect(page.locator(".reason:target")).to_contain_text("The turn comes too soon.")
    page.locator(".reason:target .passage").press("Enter")

    expect(page.locator("mark:target")).to_contain_text("It went on.")


def test_reasons_are_filtered_by_who_gave_them_and_what_was_answered(
    page: Page, live_server: Any, study: Study
) -> None:
    enter_as_staff(page, live_server.url, "/reports/plums/rationales/")
    choose(page, "Given by", "Judges")
    choose(page, "Answer", "No")
    choose(page, "Story written by", "Source 2")

    page.get_by_role("button", name="Show").press("Enter")
    expect(page.get_by_role("status")).to_contain_text("2 reasons fit: 0 of people, 2 of judges.")
    page.get_by_role("link", name="Clear").press("Enter")

    expect(page.get_by_role("status")).not_to_contain_text("0 of people")


def test_while_a_study_is_live_its_reasons_are_read_without_a_source(
    page: Page, live_server: Any, study: Study
) -> None:
    with triggers.lifted():
        Source.objects.filter(name="Source 1").update(name="Canary")
    story = study.stories.get(code="p1s1")
    enter_as_staff(page, live_server.url, f"/reports/plums/rationales/story/{story.pk}/")
    expect(page.get_by_text("Written by Canary.")).to_be_visible()
    expect(page.get_by_label("Story written by")).to_be_visible()

    Study.objects.filter(pk=study.pk).update(state="live", closed_at=None)
    page.reload()

    expect(page.get_by_text("The turn comes too soon.")).to_be_visible()
    expect(page.get_by_text("sources are sealed until the study is closed")).to_be_visible()
    expect(page.get_by_label("Story written by")).to_have_count(0)
    assert "Canary" not in page.content()


# ── themes ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def code_two(page: Page, ticked: set[int]) -> None:
    """Code both reasons of the sample by keyboard, with the theme on those of these numbers."""
    page.get_by_role("link", name="Code them").press("Enter")
    for number in (1, 2):
        expect(page.get_by_role("heading", level=1)).to_have_text(f"Reason {number}")
        expect(page.locator("main")).not_to_contain_text("plumsE0")
        if number in ticked:
            page.get_by_role("checkbox").press("Space")
        page.get_by_role("button", name="Save and next").press("Enter")
    expect(page.get_by_role("heading", level=1)).not_to_have_text("Reason 2")


def test_two_people_code_blind_and_then_see_where_they_agree(page: Page, live_server: Any, study: Study) -> None:
    enter_as_staff(page, live_server.url, "/reports/plums/themes/", User.objects.create_superuser("ann"))
    page.get_by_label("Theme", exact=True).fill("Ending")
    page.get_by_label("Definition").fill("About how it ends.")
    page.get_by_role("button", name="Add").press("Enter")
    expect(page.get_by_role("term")).to_have_text("Ending")
    page.get_by_label("How many, drawn by chance").fill("2")
    page.get_by_role("button", name="Draw").press("Enter")
    page.get_by_role("link", name="All questions").press("Enter")
    sample = page.url.removeprefix(live_server.url)
    code_two(page, {1, 2})
    page.goto(f"{live_server.url}{sample}")
    expect(page.get_by_text("Until then neither sees the other’s work.")).to_be_visible()
    expect(page.get_by_role("heading", name="Where the two agree")).to_have_count(0)

    enter_as_staff(page, live_server.url, sample, User.objects.create_superuser("bea"))
    code_two(page, {1})
    page.goto(f"{live_server.url}{sample}")

    cells = page.get_by_role("row", name="Ending").get_by_role("cell")
    expect(cells).to_have_text(["1", "1", "0", "0", "50"])
    expect(page.get_by_role("listitem").filter(has_text="First: Ending")).to_contain_text("Second: none of these")


# ── methods and the schedule ───────────────────────────────────────────────────────────────────────────────────────


def test_a_paper_takes_its_paragraph_a_table_and_the_citation_which_keeps_the_report(
    page: Page, live_server: Any, study: Study
) -> None:
    enter_as_staff(page, live_server.url, "/reports/plums/methods/")
    expect(page.locator(".manuscript")).to_contain_text("4 stories")

    page.locator("#latex summary").first.press("Enter")
    expect(page.locator("#latex pre").first).to_contain_text("\\begin{tab")
    expect(page.locator("#cite pre")).to_contain_text("@misc{quire-")
    page.get_by_role("button", name="Keep this report").press("Enter")

    expect(page.get_by_role("button", name="Keep this report")).to_have_count(0)
    assert set(study.reports.values_list("is_kept", flat=True)) == {True}


def test_a_schedule_says_which_address_is_none_and_then_in_words_when_it_comes(
    page: Page, live_server: Any, study: Study
) -> None:
    ReportSchedule.objects.all().delete()
    enter_as_staff(page, live_server.url, "/reports/-schedule/")
    choose(page, "Every day at", "06:00")
    page.get_by_label("Who is written to").fill("ann@example.org, nobody")
    page.get_by_role("button", name="Save").press("Enter")
    expect(page.get_by_text("nobody is no e-mail address.").first).to_be_visible()
    expect(page.get_by_label("Every day at")).to_have_value("6")

    page.get_by_label("Who is written to").fill("ann@example.org")
    page.get_by_label("It is on").check()
    page.get_by_role("button", name="Save").press("Enter")

    expect(page.get_by_text("The schedule is saved.")).to_be_visible()
    expect(page.get_by_role("heading", level=2).first).to_have_text("Every day at 6:00, UTC")
    expect(page.get_by_text("Next on")).to_be_visible()
    assert ReportSchedule.objects.get().recipients == "ann@example.org"
