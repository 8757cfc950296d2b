"""Reports, and the copy of the consent, on paper: what only a screen can follow is left out, and what belongs together
is on one page."""

import re
from math import ceil
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page

from annotation.participation import invitations
from annotation.responses import submission
from studies import lifecycle
from studies.models import Step
from tests import factories, triggers
from tests.browser.conftest import enter_as_staff

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]
# What is between the margins of a page of A4, in pixels of CSS.
WIDTH, HEIGHT = round(180 / 25.4 * 96), round(265 / 25.4 * 96)
PAGE = re.compile(rb"/Type\s*/Page\b(?!s)")
# How the elements of a selector that are printed may be broken: their values of a property, each once.
VALUES = """([selector, property]) => [...new Set([...document.querySelectorAll(selector)]
  .filter((element) => element.checkVisibility()).map((element) => getComputedStyle(element)[property]))]"""


@pytest.fixture
def report(page: Page, live_server: Any, committed: None) -> Page:
    """The report of a small study, as it is printed."""
    study = factories.study(n_stories=3)
    for value in ("yes", "no", "yes"):
        assignment = factories.assignment(study)
        factories.answer_all(assignment, value=value)
        submission.submit(assignment, at=timezone.now())
    lifecycle.close(study, at=timezone.now())
    enter_as_staff(page, live_server.url, f"/reports/{study.slug}/figures/all/")
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    page.emulate_media(media="print")
    return page


def values(page: Page, selector: str, name: str) -> list[str]:
    return list(page.evaluate(VALUES, [selector, name]))


def test_a_printed_report_leaves_no_heading_alone_and_splits_no_figure_and_no_short_table(report: Page) -> None:
    assert report.locator(".report h2").count() > 3

    assert values(report, ".report h2, .report h3, .report caption, .report thead", "breakAfter") == ["avoid"]
    assert values(report, ".report figure, .report tr, .report caption, .report p", "breakInside") == ["avoid"]
    short = ".report .ruled:not(:has(tbody + tbody, tr:nth-child(12)))"
    assert values(report, short, "breakInside") == ["avoid"]
    # Inside of these Chromium moves whole cells to the next page, and keeps no heading with what follows.
    assert values(report, "main, .report, .report > section, .report .body", "display") == ["block"]


def test_a_printed_report_shows_neither_the_rail_nor_links_that_only_a_screen_can_follow(report: Page) -> None:
    assert report.locator(".rail, .masthead").count() > 1

    shown = (
        ".rail, .masthead, .skip, .report .link-row a, .report .actions, .report .on-screen, .plot-narrow, #answers-h"
    )
    assert values(report, shown, "display") == []
    assert report.evaluate("document.documentElement.scrollWidth") <= WIDTH


def test_a_printed_report_takes_hardly_more_pages_than_its_text_is_high(report: Page) -> None:
    height = report.evaluate("document.documentElement.scrollHeight")

    n_pages = len(PAGE.findall(report.pdf(format="A4")))

    assert ceil(height / HEIGHT) - 1 <= n_pages <= ceil(height / HEIGHT * 1.3)


def test_the_copy_of_a_consent_fills_one_sheet_with_its_title_and_no_link(
    page: Page, live_server: Any, committed: None
) -> None:
    study = factories.study()
    with triggers.lifted():
        Step.objects.filter(kind=Step.Kind.CONSENT).update(text="\n\n".join(["You may stop at any time. " * 12] * 6))
    page.goto(f"{live_server.url}/r/{invitations.issue(study)[1]}/")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("link", name="A copy to print and keep").click()
    page.get_by_text("Version of this text").wait_for()
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    page.emulate_media(media="print")

    assert len(PAGE.findall(page.pdf(format="A4"))) == 1
    assert values(page, "a, .page-foot", "display") == []


def test_a_printed_launch_page_is_the_protocol_with_what_raters_read_and_nothing_to_press(
    page: Page, live_server: Any, committed: None
) -> None:
    enter_as_staff(page, live_server.url, f"/studies/{factories.study().slug}/launch/")
    words = page.locator(".wording", has_text="You can stop at any time.")
    assert not words.is_visible()

    page.emulate_media(media="print")

    assert words.is_visible()
    assert values(page, ".part a, .part button, .part input, footer, .course", "display") == []
