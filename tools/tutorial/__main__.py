"""The tutorial: `make tutorial`, or `python -m tools.tutorial`.

A designer walks from an idea to an invited expert in a demo of its own, in a real Chromium. Writes docs/tutorial.md of
what they do, and docs/tutorial/*.png of what they see. The same walk is a test (tests/browser/test_designing.py).
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect, sync_playwright

from tools.demo_site import ROOT, SITE, demo  # isort: skip  (it prepares Django)

from tests.browser.designing import Designer, Part, arrive, walk
from tests.chromium import CHROMIUM, PICTURE_ARGS
from tools.gallery.album import save

PICTURES = ROOT / "docs" / "tutorial"
WINDOW: Any = {"width": 1280, "height": 900}
N_SOURCES = 3
HEAD = """# From an idea to an invited expert

Written by `make tutorial`, which does what it says in a real browser; do not edit. Start with `make demo`, sign in with
the name and the password that it prints, and open *Studies*. You need no shell after that.
"""


class Author(Designer):
    """A designer who writes down what they do. lines : of the page"""

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.lines = [HEAD]
        self.n_parts = self.n_acts = 0
        self.part: Part | None = None

    def begin(self, part: Part) -> None:
        self.part, self.n_parts, self.n_acts = part, self.n_parts + 1, 0
        self.lines += [f"\n## {self.n_parts}. {part.title}\n", part.text, ""]

    def tell(self, sentence: str) -> None:
        self.n_acts += 1
        self.lines.append(f"{self.n_acts}. {sentence}")

    def look(self, page: Page) -> None:
        assert self.part
        page.mouse.move(0, 0)
        page.evaluate("scrollTo(0, 0)")
        page.wait_for_timeout(400)  # fonts, and the page in the frame
        save(page, PICTURES / f"{self.part.name}.png")
        self.lines += ["", f'<img src="tutorial/{self.part.name}.png" alt="{self.part.title}" width="640">', ""]


def sign_in(page: Page, password: str) -> None:
    page.goto(f"{SITE}/admin/login/?next=/studies/")
    page.get_by_label("Username").fill("admin")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()
    expect(page.locator("h1")).to_have_text("Studies")


def main() -> None:
    if CHROMIUM is None:
        sys.exit("The tutorial needs a Chromium, and there is none on this machine.")
    with demo() as site, sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=PICTURE_ARGS)
        page, expert = (browser.new_context(viewport=WINDOW, locale="en-GB").new_page() for _ in range(2))
        sign_in(page, site["password"][0])
        author = Author(page)
        file = Path(folder) / "stories.csv"
        link = walk(author, begin="New study", template="ttcw", n_sources=N_SOURCES, file=file, plan="12 places")
        arrive(author, expert, link)
        browser.close()
    text = "\n".join(author.lines).replace("\n\n\n", "\n\n")
    (ROOT / "docs" / "tutorial.md").write_text(f"{text.rstrip()}\n")


if __name__ == "__main__":
    main()
