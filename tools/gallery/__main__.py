"""Pictures of the pages in their states: `make gallery`, or `python -m tools.gallery`.

A demo of its own is seeded in a folder that is thrown away, served, and walked through in a real Chromium. Writes
docs/gallery/*.png with docs/gallery.md around them, and the two pictures of README.md in docs/pictures.
"""

import re
import sys
from typing import Any

from playwright.sync_api import Page, expect, sync_playwright

from tools.demo_site import SITE, demo  # isort: skip  (it prepares Django)

from django.conf import settings
from django.contrib.sessions.models import Session

from annotation.models import Assignment, Timing
from reports.management.commands import demo as seeding
from studies.models import Cloze, Item, Step
from tests import factories
from tests.chromium import CHROMIUM, PICTURE_ARGS
from tests.studies.cloze import fills
from tools.gallery.album import HEIGHTS, PICTURES, Album, save

FIRST: Any = {"width": 1440, "height": 900}
ALL = (1440, 1024, 768, 320)
KEY = Item.objects.filter(instrument__slug="litbench-comprehension")
DESIGNERS = (
    (
        "designer-overview",
        "/studies/orchard/",
        "A study at a glance: what is next, its size, a rater’s way.",
    ),
    ("designer-steps", "/studies/orchard/steps/", "What is asked: the path, and beside it a page as raters meet it."),
    ("designer-instruments", "/instruments/", "The shelf of instruments."),
    ("designer-stories", "/studies/orchard/stories/", "The stories by group, and one as raters read it."),
    ("designer-reading-plan", "/studies/orchard/reading-plan/", "Who reads what."),
    ("designer-launch", "/studies/orchard/launch/", "What is final, in prose."),
    ("designer-people", "/studies/orchard/people/", "The people of a study, by label and code."),
    ("designer-monitor", "/studies/orchard/monitor/", "How a live study is going."),
)
WHY = (
    "It stays in one scene, at the fence, and tells the years behind it in a few sentences: the posts, the quarrel, "
    "the apples in October. I never wished for more of either."
)


def press(page: Page, button: str) -> None:
    page.get_by_role("button", name=button).click()


def come_in(page: Page, link: str, album: Album | None = None) -> None:
    """By link, consent, background, checks, briefing and practice to where the first group begins."""
    page.goto(link)
    with page.expect_navigation():
        press(page, "Continue")
    page.get_by_label("I have read this and I agree to take part.").check()
    begin = page.get_by_role("button", name=re.compile(r"^Begin\b"))
    right = [["yes", "no"].index(item.settings["correct"]) for item in KEY.order_by("position")]
    for _ in range(8):
        if begin.count():
            break
        for n, question in enumerate(page.locator("main fieldset:has([type=radio])").all()):
            question.get_by_role("radio").nth(right[n] if "/once/comprehension/" in page.url else 0).check()
            page.wait_for_timeout(200)
        compare = page.get_by_role("button", name="Compare with sample answers")
        if compare.count():
            with page.expect_navigation():
                compare.click()
            if album:
                album.take(page, "practice", "A story to practise on: sample answers below one's own.")
        with page.expect_navigation():
            press(page, "Continue")
    with page.expect_navigation():
        begin.click()


def begin_to_read(page: Page) -> None:
    press(page, "No, begin to read")
    expect(page.locator("#questions h2")).to_be_visible()


def answer(page: Page, verdict: str, reasons: str) -> None:
    page.get_by_role("radio", name=verdict).check()
    page.get_by_label("Your reasons").fill(reasons)


def go_on(page: Page) -> None:
    """To the next question, by the button."""
    before = page.locator("#questions h2").inner_text()
    page.locator("button[value=next]").click()
    expect(page.locator("#questions h2")).not_to_have_text(before)


def arriving(page: Page, album: Album, link: str) -> None:
    page.goto(link)
    album.take(page, "invitation", "The link: who asks, how long it takes, until when. Looking starts nothing.")
    portuguese = {"name": settings.LANGUAGE_COOKIE_NAME, "value": "pt-br", "url": SITE}
    page.context.add_cookies([portuguese])
    page.goto(link)
    album.take(page, "portuguese", "The same in Portuguese, for whoever chooses it; the study's words stay its own.")
    page.context.clear_cookies(name=settings.LANGUAGE_COOKIE_NAME)
    page.goto(link)
    press(page, "Continue")
    press(page, "Continue")
    expect(page.locator(".error-summary")).to_be_focused()
    album.take(page, "consent", "Consent that is still missing: said on top, with a link, and at the box.")
    come_in(page, link)
    album.take(page, "recognition", "Before a group: who knows its stories is offered another one.", widths=ALL)
    begin_to_read(page)


def reading(page: Page, album: Album) -> None:
    """At the first story: two questions answered, a third with reasons; then in other papers and colours."""
    for n in range(2):
        answer(page, "Yes" if n else "No", "Because of the second paragraph.")
        go_on(page)
    answer(page, "Yes", WHY)
    page.locator("#questions h2").click()
    expect(page.locator("#status")).to_have_text(re.compile(r"^Saved"))
    save(page, PICTURES / "desk-1440.png")
    album.take(page, "desk", "The reading desk, an answer with its reasons just saved.", widths=ALL)
    questions_on_small_screens(page)
    album.take(page, "desk-questions", "On a small screen story and questions stand behind tabs.", widths=(768, 320))
    for theme in ("sepia", "dark"):
        page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
        album.take(page, f"desk-{theme}", f"The same, {theme}.", widths=(1440,))
    page.evaluate("document.documentElement.dataset.theme = 'light'")
    page.emulate_media(forced_colors="active")
    album.take(page, "desk-forced-colours", "The same in colours that the system forces.", widths=(1440,))
    page.emulate_media(forced_colors="none")


def questions_on_small_screens(page: Page) -> None:
    """Leave the tab of the questions open, as whoever answers on a telephone would have it."""
    page.set_viewport_size({"width": 320, "height": HEIGHTS[320]})
    page.get_by_role("tab", name="Questions").click()
    page.set_viewport_size({"width": 1440, "height": HEIGHTS[1440]})


def in_two_windows(page: Page, album: Album) -> None:
    other = page.context.new_page()
    other.set_viewport_size({"width": 1440, "height": HEIGHTS[1440]})
    other.goto(page.url)
    expect(other.locator("#questions h2")).to_be_attached()
    questions_on_small_screens(other)
    page.get_by_label("Your reasons").fill("A second thought.")
    page.locator("#questions h2").click()
    expect(page.locator("#status")).to_have_text(re.compile(r"^Saved"))
    page.wait_for_timeout(1000)
    other.get_by_role("radio", name="No").check()
    expect(other.get_by_role("heading", name="Two versions of one answer")).to_be_visible()
    album.take(other, "conflict", "An answer that was changed in two windows: both versions, nothing overwritten.")
    other.get_by_role("button", name="Keep mine").click()
    expect(other.get_by_role("radio", name="No")).to_be_checked()
    other.wait_for_timeout(1500)  # what was kept on the device is given up once the server has it
    other.close()


def in_trouble(page: Page, album: Album, link: str) -> None:
    """The sheet of keys; a lost connection; and a session that ended in mid-sentence, until the link is used again."""
    page.reload()
    page.locator("#questions h2").click()
    page.keyboard.press("?")
    album.take(page, "keys", "All keys, on a sheet that ? opens.")
    page.keyboard.press("Escape")
    page.context.set_offline(True)
    page.get_by_label("Your reasons").fill("Written in a tunnel.")
    expect(page.locator("#status")).to_have_text("Offline, kept on this device")
    questions_on_small_screens(page)
    album.take(page, "offline", "Without a connection: what is written stays on the device until there is one.")
    page.context.set_offline(False)
    expect(page.locator("#status")).to_have_text(re.compile(r"^Saved"))
    Session.objects.all().delete()
    page.get_by_label("Your reasons").fill("Written after a long lunch.")
    expect(page.locator("#trouble")).to_contain_text("Your session has ended")
    album.take(page, "ended", "A session that has ended: nothing is lost, and how to come in again.")
    other = page.context.new_page()
    other.goto(link)
    press(other, "Continue")
    other.close()
    # By and by the page tries again of itself.
    expect(page.locator("#status")).to_have_text(re.compile(r"^Saved"), timeout=30_000)


def finishing(page: Page, album: Album) -> None:
    """From the overview to the receipt. Most answers are given by the program, since a picture needs no patience."""
    mine = Assignment.objects.get(status="open", rater__is_simulated=False, seat__isnull=False)
    home = f"{SITE}/a/{mine.code}"
    factories.answer_all(mine)
    step = Step.objects.get(version=mine.version, key="tests")
    Timing.objects.filter(assignment=mine).update(active_seconds=0)
    Timing.objects.update_or_create(assignment=mine, step=step, story=None, defaults={"active_seconds": 5120})
    lacking = (("C", 4), ("D", 11), ("D", 12))
    for letter, item in lacking:
        factories.answer(mine, letter=letter, item=item, value=None, why="")
    page.goto(f"{home}/overview/")
    album.take(page, "overview", "What there is to do, how far it is, and how long it may take at one's own pace.")
    page.goto(f"{home}/s/ranking/")
    album.take(page, "together", "The stories beside each other: an order, by drag, by buttons or by position.")
    page.goto(f"{home}/s/authorship/")
    album.take(page, "lock", "Before a part that locks what came before: all answers once more, and what is open.")
    page.locator("form.form-end button").click()
    page.locator(".error-summary a").first.click()
    expect(page.locator(".item .problem:not(:empty)")).to_be_visible()
    album.take(page, "desk-lacking", "What is lacking is said in the same words at the question.")
    for letter, item in lacking:
        factories.answer(mine, letter=letter, item=item)
    factories.answer(mine, step="authorship", letter="B", value=None, why="")
    page.goto(f"{home}/s/authorship/")
    press(page, "Lock these answers and go on")
    album.take(page, "guesses", "Who wrote them?")
    page.goto(f"{home}/check/")
    press(page, "Submit the group")
    expect(page.locator(".error-summary")).to_be_focused()
    album.take(page, "check", "Check your answers: what is open stands on top, with links.")
    factories.answer(mine, step="authorship", letter="B", value="ai", why="")
    page.goto(f"{home}/check/")
    press(page, "Submit the group")
    expect(page.get_by_role("heading", name="Submitted. Thank you")).to_be_visible()
    album.take(page, "receipt", "The receipt.")
    page.get_by_role("link", name="Withdraw from the study").click()
    album.take(page, "withdraw", "Withdrawing, before anything happens.")
    press(page, "Withdraw and erase my answers")
    album.take(page, "withdrawn", "The receipt of a withdrawal.")


def cascade(page: Page, album: Album, link: str) -> None:
    """The cloze: as it comes; marked after a change upstream; in two versions; given up."""
    come_in(page, link)
    expect(page.locator("#cloze-title")).to_be_visible()
    album.take(page, "cloze", "A cloze: the whole text, its blanks in place, what each section asks.", widths=ALL)
    folder = seeding.FOLDER / "mystery"
    solution = fills.read(folder / "solution.toml", Cloze.objects.get().parsed)
    for blank, words in [*((n, solution[n]) for n in (1, 2, 3, 4, 12)), (1, "counted everything")]:
        page.locator(f"#answer-fill-blank-{blank:02}").fill(words)
        page.locator(f"#answer-fill-blank-{blank:02}").press("Tab")
        page.wait_for_timeout(400)
    mark = page.locator("#mark-fill-blank-12")
    expect(mark).to_have_text("please check")
    mark.locator("a").click()
    album.take(page, "cloze-marked", "An earlier blank has changed: what depends on it is marked, nothing is deleted.")
    page.get_by_role("link", name="I can’t go on from here").click()
    album.take(page, "cloze-stop", "The honest way out, and the section at which it was.")
    press(page, "Stop here")
    album.take(page, "cloze-stopped", "Stopped, and reported so.")


def others(page: Page, album: Album, links: dict[str, str]) -> None:
    """The first page of work in the other studies of the demo."""
    for slug in ("depth", "pairs", "ideas", "measures"):
        come_in(page, links[slug], album)
        if page.get_by_role("button", name="No, begin to read").count():
            press(page, "No, begin to read")
        page.wait_for_load_state("networkidle")
        questions = page.get_by_role("tab", name="Questions")
        page.set_viewport_size({"width": 320, "height": HEIGHTS[320]})
        if questions.is_visible():
            questions.click()
        album.take(page, slug, seeding.Study.objects.get(slug=slug).title)


def staff(page: Page, album: Album, site: dict[str, list[str]]) -> None:
    """The pages of the designer and the researcher."""
    page.goto(f"{SITE}/admin/login/")
    album.take(page, "login", "The staff's way in.", widths=(1440,))
    page.get_by_label("Username").fill("admin")
    page.get_by_label("Password").fill(site["password"][0])
    press(page, "Log in")
    page.goto(f"{SITE}/admin/studies/study/")
    page.get_by_role("link", name="orchard").click()
    album.take(page, "study", "A study, as its designer sees it.", widths=(1440, 768))
    designing(page, album)
    page.goto(f"{SITE}/reports/")
    album.take(page, "reports", "The reports of all studies.")
    page.goto(site["report"][0])
    album.take(page, "report", "A report.", widths=ALL)
    page.set_viewport_size({"width": 1440, "height": 1100})
    page.get_by_role("img").first.scroll_into_view_if_needed()
    save(page, PICTURES / "report-1440.png")


def designing(page: Page, album: Album) -> None:
    """The pages on which a study is made and run."""
    for name, address, caption in DESIGNERS:
        page.goto(f"{SITE}{address}")
        page.wait_for_load_state("networkidle")  # what a frame shows has come, too
        album.take(page, name, caption)


def main() -> None:
    if CHROMIUM is None:
        sys.exit("The gallery needs a Chromium, and there is none on this machine.")
    album = Album()
    with demo() as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=PICTURE_ARGS)
        page = browser.new_context(viewport=FIRST, locale="en-GB", timezone_id="Europe/Lisbon").new_page()
        arriving(page, album, site["links"][0])
        reading(page, album)
        in_two_windows(page, album)
        in_trouble(page, album, site["links"][0])
        finishing(page, album)
        links = dict(zip(seeding.live_slugs()[1:], site["links"][seeding.N_LINKS[seeding.FIRST] :], strict=True))
        cascade(page, album, links["mystery"])
        others(page, album, links)
        staff(page, album, site)
        browser.close()
    album.write()


if __name__ == "__main__":
    main()
