"""From an idea to an invited expert on Quire's pages alone, counted: at most 12 fields, 25 clicks and 8 pages."""

import csv
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from studies.models import Study
from tests import factories
from tests.browser.conftest import press

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]
WORD = "a long enough word"
ABOUT_YOU = "What is your work with creative writing?"
PREMISES = {
    "A letter comes to a lighthouse": "The letter came with the boat that brought oil. Ruth lit the lamp first.",
    "Two brothers sell a house": "Paul counted the spoons while Ned stood in the hall with his coat on.",
    "A train stops in a field": "A woman opened her window, and a smell of cut hay came in.",
    "A child finds a coin": "It lay under the radiator at school, green on one side, and Tom kept it in his shoe.",
}
ENDINGS = (
    ("Harbour writers", "Nobody spoke of it again that evening, nor the next one."),
    ("model-1", "Everything felt heavy with meaning, like a breath held before a fall."),
    ("model-2", "It was, they would say much later, the day on which all had begun to change."),
)


class Designer:
    """Somebody who counts what they do. loads : also of one page twice; pages : different addresses"""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.n_fields = self.n_clicks = self.n_loads = 0
        self.pages: set[str] = set()
        page.on("framenavigated", lambda frame: self._count_page(frame.url) if frame == page.main_frame else None)

    def _count_page(self, url: str) -> None:
        self.n_loads += 1
        self.pages.add(urlsplit(url).path)

    def fill(self, label: str, value: str) -> None:
        self.n_fields += 1
        self.page.get_by_label(label, exact=True).fill(value)

    def choose(self, label: str, value: str) -> None:
        self.n_fields += 1
        self.page.get_by_label(label, exact=True).select_option(value)

    def check(self, field: Locator) -> None:
        self.n_fields += 1
        field.check()

    def give_file(self, file: Path) -> None:
        self.n_fields += 1
        self.page.set_input_files("[type=file]", file)

    def press(self, button: str) -> None:
        self.n_clicks += 1
        press(self.page, button)

    def follow(self, link: str) -> None:
        self.n_clicks += 1
        self.page.get_by_role("link", name=link).first.click()
        self.page.wait_for_load_state()


@pytest.fixture
def designer(page: Page, live_server: Any) -> Designer:
    """Signed in, with the role and nothing else, before the list of studies."""
    user = factories.staff("designer")
    user.set_password(WORD)
    user.save()
    page.goto(f"{live_server.url}/admin/login/?next=/studies/")
    page.get_by_label("Username").fill(user.username)
    page.get_by_label("Password").fill(WORD)
    press(page, "Log in")
    expect(page.locator("h1")).to_have_text("Studies")
    return Designer(page)


def write_stories(file: Path, n_sources: int) -> Path:
    with file.open("w", encoding="utf-8", newline="") as table:
        rows = csv.writer(table)
        rows.writerow(["text", "premise", "source"])
        for premise, beginning in PREMISES.items():
            rows.writerows([f"{beginning} {ending}", premise, source] for source, ending in ENDINGS[:n_sources])
    return file


@pytest.mark.parametrize(
    ("template", "n_sources", "plan", "question"),
    [
        ("ttcw", 3, "12 places", ABOUT_YOU),
        ("pds", 3, "20 places", ABOUT_YOU),
        ("pairs", 2, "places", "I should pick the story that uses the most words."),
    ],
)
def test_a_designer_goes_from_a_template_to_an_invited_expert(
    designer: Designer, context: BrowserContext, tmp_path: Path, template: str, n_sources: int, plan: str, question: str
) -> None:
    page = designer.page
    designer.follow("Make the first study")
    designer.check(page.locator(f"input[name=template][value={template}]"))
    designer.fill("Title", "Nights and letters")
    designer.fill("Who runs it", "Ann Lee, Library of Plums")
    designer.fill("Whom raters can write to", "ann@example.org")
    designer.press("Make the draft")

    designer.follow("Stories")
    designer.give_file(write_stories(tmp_path / "stories.csv", n_sources))
    designer.press("Go on")
    for source, _ending in ENDINGS[:n_sources]:
        designer.choose(source, "expert writer" if source == "Harbour writers" else "language model")
        expect(page.locator(".problems", has_text=source)).to_have_count(0)
    designer.press(f"Bring in {4 * n_sources} stories")
    expect(page.locator(".messages")).to_contain_text(f"{4 * n_sources} stories are in, in 4 groups.")

    designer.follow("What raters are told")
    designer.fill("Pay", "20 euro a group")
    designer.fill("Open until", "2031-05-01T18:00")
    designer.press("Save")
    expect(page.frame_locator("iframe").get_by_text("20 euro a group")).to_be_visible()

    designer.follow("Who reads what")
    designer.follow("Launch")
    expect(page.locator("main")).to_contain_text(plan)
    designer.check(page.get_by_label("I have read this page"))
    designer.press("Launch Nights and letters")
    expect(page.locator(".messages")).to_contain_text("The study is live.")

    designer.follow("Invite people")
    designer.fill("People, one a line", "Novelist")
    designer.press("Note them")
    designer.press("Show 1 link to pass on myself")
    link = page.locator("td code").inner_text()

    counts = f"{designer.n_fields} fields, {designer.n_clicks} clicks, {len(designer.pages)} pages"
    print(f"\n{template}: {counts}, loaded {designer.n_loads} times")
    assert designer.n_fields <= 12
    assert designer.n_clicks <= 25
    assert len(designer.pages) <= 8, sorted(designer.pages)
    assert Study.objects.get().is_live

    assert context.browser
    expert = context.browser.new_context(locale="en-GB").new_page()
    expert.goto(link)
    expect(expert.get_by_text("20 euro a group")).to_be_visible()
    press(expert, "Continue")
    expert.get_by_label("I have read this and I agree to take part.").check()
    press(expert, "Continue")
    if "briefing" in expert.url:
        press(expert, "Continue")
    expect(expert.locator("main").get_by_text(question).first).to_be_visible()
    expect(expert.locator("main").locator("input:not([type=hidden]), textarea").first).to_be_attached()
    expert.context.close()
