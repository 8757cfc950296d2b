"""From an idea to an invited expert on Quire's pages alone: the way of a designer, which counts and tells what it does.

The tests walk it, and `make tutorial` writes docs/tutorial.md of it.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Locator, Page, expect

PREMISES = {
    "A letter comes to a lighthouse": "The letter came with the boat that brought oil. Ruth lit the lamp first.",
    "Two brothers sell a house": "Paul counted the spoons while Ned stood in the hall with his coat on.",
    "A train stops in a field": "A woman opened her window, and a smell of cut hay came in.",
    "A child finds a coin": "It lay under the radiator at school, green on one side, and Tom kept it in his shoe.",
}
# What each source goes on with, before the premise's last sentence: texts that end alike by source would tell it.
MIDDLES = (
    ("Harbour writers", "Nobody spoke of it again that evening, nor the next one."),
    ("model-1", "Everything felt heavy with meaning, like a breath held before a fall."),
    ("model-2", "It was, they would say much later, the day on which all had begun to change."),
)


LAST_SENTENCES = (
    "Out on the water the boat had turned.",
    "The spoons came to eleven.",
    "Then the brakes sighed, and the field slid away.",
    "By Friday the leather had a green ring.",
)


@dataclass(frozen=True)
class Part:
    """A part of the way. name : of its picture; text : what a newcomer has to know of it"""

    name: str
    title: str
    text: str


TEMPLATE = Part(
    "template",
    "Choose a template",
    "A template holds the steps, the questions and the sample wording of a published study. Everything in it can be "
    "changed afterwards. Who runs the study and where raters can write stands on the pages that they see.",
)
FILE = Part(
    "file",
    "Import the stories",
    "One table with a story in each row is enough: CSV, TSV, Excel or JSON lines, or a ZIP of text files. Quire "
    "guesses what each column is; whatever it cannot know, it asks. The column of the source is never shown to raters.",
)
COLUMNS = Part(
    "columns",
    "Say who wrote them",
    "Before anything is stored, the page shows how the columns are read, which groups the stories make, and what is "
    "amiss, row by row. Say of each source whether it is a writer or a language model.",
)
TOLD = Part(
    "told",
    "Say what raters are told",
    "Pay and deadline stand on the first page that a rater opens. It is shown beside the form as it will be.",
)
READING = Part(
    "reading",
    "See who reads what",
    "How many people read each group, how long that takes, and how sure the results can be with so many.",
)
LAUNCH = Part(
    "launch",
    "Launch",
    "The whole protocol in prose, with what is still missing. Launching freezes it: from then on nothing that raters "
    "see changes without a reason and a record.",
)
PEOPLE = Part(
    "people",
    "Invite people",
    "A label is enough; names and addresses are kept apart from answers. Each person gets a link of their own, by mail "
    "or to pass on yourself.",
)
ARRIVAL = Part(
    "arrival",
    "What the expert sees",
    "The link opens on who asks, what it takes and what it pays. Looking starts nothing.",
)
QUESTION = Part(
    "question", "The first question", "After consent the first question waits; every answer is saved as it is given."
)
PARTS = (TEMPLATE, FILE, COLUMNS, TOLD, READING, LAUNCH, PEOPLE, ARRIVAL, QUESTION)


class Designer:
    """Somebody who counts what they do. n_loads : also of one page twice; pages : different addresses"""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.n_fields = self.n_clicks = self.n_loads = 0
        self.pages: set[str] = set()
        page.on("framenavigated", lambda frame: self._count_page(frame.url) if frame == page.main_frame else None)

    def _count_page(self, url: str) -> None:
        self.n_loads += 1
        self.pages.add(urlsplit(url).path)

    def begin(self, part: Part) -> None:
        """A new part of the way begins; whoever tells it writes its heading."""

    def look(self, page: Page) -> None:
        """The part stands as its picture shows it."""

    def tell(self, sentence: str) -> None:
        """What is done next, as one reads it."""

    def fill(self, label: str, value: str) -> None:
        self.n_fields += 1
        self.tell(f"Fill in **{label}**: {value}.")
        field = self.page.get_by_label(label, exact=True)
        self.reach(field)
        field.fill(value)

    def choose(self, label: str, value: str) -> None:
        self.n_fields += 1
        self.tell(f"At **{label}** choose *{value}*.")
        field = self.page.get_by_label(label, exact=True)
        self.reach(field)
        field.select_option(value)

    def check(self, label: str, field: Locator | None = None) -> None:
        """Tick what has that label, or the field that is meant by it."""
        self.n_fields += 1
        self.tell(f"Tick **{label}**.")
        self.tick(field or self.page.get_by_label(label))

    def give_file(self, file: Path) -> None:
        self.n_fields += 1
        self.tell(f"Choose the file, here `{file.name}`.")
        field = self.page.locator("[type=file]")
        self.reach(field)
        field.set_input_files(file)

    def press(self, button: str) -> None:
        self.n_clicks += 1
        self.tell(f"Press **{button}**.")
        self.activate(self.page.get_by_role("button", name=button).first)

    def follow(self, link: str) -> None:
        self.n_clicks += 1
        self.tell(f"Follow **{link}**.")
        self.activate(self.page.get_by_role("link", name=link).first)

    def await_end(self, problem: Locator) -> None:
        """Wait until a script has taken the problem off the page."""
        expect(problem).to_have_count(0)

    def reach(self, field: Locator) -> None:
        """What comes before something is put into a field."""

    def tick(self, field: Locator) -> None:
        field.check()

    def activate(self, element: Locator) -> None:
        element.click()
        self.page.wait_for_load_state()


class WithoutScripts(Designer):
    """Somebody for whom a page changes only when they press something."""

    def await_end(self, problem: Locator) -> None:
        """The problem stands until the form is sent."""


class ByKeyboard(Designer):
    """Somebody who goes to each field, button and link by the Tab key. Only what is put into a field is not typed."""

    MOST_STOPS = 200

    def reach(self, field: Locator) -> None:
        for _ in range(self.MOST_STOPS):
            if field.evaluate("element => element === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"no key leads to {field}")

    def tick(self, field: Locator) -> None:
        if field.get_attribute("type") != "radio":
            self.reach(field)
            self.page.keyboard.press("Space")
            return
        # Of radios one can be reached; arrows lead to the others.
        name = field.get_attribute("name")
        for _ in range(self.MOST_STOPS):
            if self.page.evaluate("name => document.activeElement.name === name", name):
                break
            self.page.keyboard.press("Tab")
        for _ in range(self.MOST_STOPS):
            if field.is_checked():
                return
            self.page.keyboard.press("ArrowDown")
        raise AssertionError(f"no key leads to {field}")

    def activate(self, element: Locator) -> None:
        self.reach(element)
        # A link or a button that lies under something else, or shows no ring, could not be found by its user.
        assert element.evaluate("element => element.matches(':focus-visible')")
        with self.page.expect_event("framenavigated", lambda frame: frame == self.page.main_frame):
            self.page.keyboard.press("Enter")
        self.page.wait_for_load_state()


def write_stories(file: Path, n_sources: int) -> Path:
    """A table of four premises, each with a story of every source."""
    with file.open("w", encoding="utf-8", newline="") as table:
        rows = csv.writer(table)
        rows.writerow(["text", "premise", "source"])
        for (premise, beginning), end in zip(PREMISES.items(), LAST_SENTENCES, strict=True):
            rows.writerows([f"{beginning} {middle} {end}", premise, source] for source, middle in MIDDLES[:n_sources])
    return file


def walk(designer: Designer, *, begin: str, template: str, n_sources: int, file: Path, plan: str) -> str:
    """Make a study of a template and a file, launch it, and invite one person: the link for them.

    begin : the link on the list of studies that begins a new one; plan : words about its places that Launch must say
    """
    page = designer.page
    designer.begin(TEMPLATE)
    designer.follow(begin)
    choice = page.locator("label", has=page.locator(f"input[name=template][value={template}]"))
    designer.check(choice.locator(".name").inner_text().strip(), choice.locator("input"))
    designer.fill("Title", "Nights and letters")
    designer.fill("Who runs it", "Ann Lee, Library of Plums")
    designer.fill("Who raters can write to", "ann@example.org")
    designer.look(page)
    designer.press("Make the draft")
    _bring_in(designer, write_stories(file, n_sources), n_sources)
    designer.begin(TOLD)
    designer.follow("What raters are told")
    designer.fill("Pay", "20 euro a group")
    designer.fill("Open until", "2031-05-01T18:00")
    designer.press("Save")
    expect(page.frame_locator("iframe").get_by_text("20 euro a group")).to_be_visible()
    designer.look(page)
    designer.begin(READING)
    designer.follow("Who reads what")
    designer.look(page)
    designer.begin(LAUNCH)
    designer.follow("Launch")
    expect(page.locator("main")).to_contain_text(plan)
    designer.look(page)
    designer.check("I have read this page")
    designer.press("Launch Nights and letters")
    expect(page.locator(".messages")).to_contain_text("The study is live.")
    return _invite(designer)


def _bring_in(designer: Designer, file: Path, n_sources: int) -> None:
    page = designer.page
    designer.begin(FILE)
    designer.follow("Stories")
    designer.look(page)
    designer.give_file(file)
    designer.press("Go on")
    designer.begin(COLUMNS)
    for source, _middle in MIDDLES[:n_sources]:
        designer.choose(source, "expert writer" if source == "Harbour writers" else "language model")
        designer.await_end(page.locator(".problems", has_text=source))
    designer.look(page)
    designer.press(f"Import {4 * n_sources} stories")
    expect(page.locator(".messages")).to_contain_text(f"{4 * n_sources} stories are in, in 4 groups.")


def _invite(designer: Designer) -> str:
    designer.begin(PEOPLE)
    designer.follow("Invite people")
    designer.fill("People, one a line", "Novelist")
    designer.press("Note them")
    designer.press("Show 1 link to pass on myself")
    link = designer.page.locator("td code").inner_text()
    designer.look(designer.page)
    return link


def arrive(designer: Designer, expert: Page, link: str) -> None:
    """The expert opens the link, agrees, and stands before the first question."""
    designer.begin(ARRIVAL)
    expert.goto(link)
    expect(expert.get_by_text("20 euro a group")).to_be_visible()
    designer.look(expert)
    designer.begin(QUESTION)
    _go_on(expert)
    expert.get_by_label("I have read this and I agree to take part.").check()
    _go_on(expert)
    if "briefing" in expert.url:
        _go_on(expert)
    expect(expert.locator("main").locator("input:not([type=hidden]), textarea").first).to_be_attached()
    designer.look(expert)


def _go_on(expert: Page) -> None:
    expert.get_by_role("button", name="Continue").first.click()
    expert.wait_for_load_state()
