"""A rater in one study and one browser: what stands on the page, what was done, and what was found wrong with it."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tools.browsers.layout import find_faults
from tools.browsers.site import Site
from tools.browsers.windows import SIZE, Missing, Window, until

SIZES = ((1440, 900), (1024, 768), (390, 844))
WHY = "It stays in one scene, at the fence, and tells the years behind it in a few sentences."


def button(words: str) -> str:
    """The selector of the button, or the link, that begins with these words and can be seen."""
    return f"//*[self::button or self::a][starts-with(normalize-space(), '{words}')]"


@dataclass
class Walk:
    """One study in one browser: what was done, what was found wrong, and the pictures that were taken."""

    study: str
    window: Window
    site: Site
    pictures: Path
    steps: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    scenes: set[str] = field(default_factory=set)
    n_pages: int = 0
    n_receipts: int = 0

    def check(self, is_so: bool, claim: str) -> None:
        if not is_so:
            self.findings.append(claim)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """A part of the way, which is listed. What is missing on it is a finding, and the walk goes on."""
        self.steps.append(name)
        try:
            yield
        except Missing as error:
            self.fail(f"{name}: {error}")

    def fail(self, words: str) -> None:
        """Something that a rater would need is missing: a finding, with a picture of the page."""
        self.findings.append(words)
        self.window.save_picture(self.pictures / f"{self.study}-failed-{len(self.findings)}.png")

    def note(self, scene: str) -> None:
        """A page on the way: listed, and looked at."""
        self.steps.append(scene)
        self.look(scene)

    def look(self, scene: str) -> None:
        """At a page: what is wrong with it at every width, the first time also pictures."""
        window, is_new = self.window, scene not in self.scenes
        self.scenes.add(scene)
        for width, height in SIZES if is_new else SIZES[:1]:
            if is_new:
                window.resize(width, height)
                time.sleep(0.2)  # fonts and fields settle
                window.save_picture(self.pictures / f"{self.study}-{scene}-{width}.png")
                if window.evaluate(TURN_TO_QUESTIONS):
                    window.save_picture(self.pictures / f"{self.study}-{scene}-questions-{width}.png")
            self.findings += [f"{scene} at {width}: {fault}" for fault in find_faults(window)]
        if is_new:
            window.resize(*SIZE)

    # ── What stands on the page ──

    def has(self, selector: str) -> bool:
        return bool(self.window.evaluate("return document.querySelector(argument) !== null", selector))

    def text(self, selector: str) -> str:
        """What an element says; nothing, where it is not there."""
        words = self.window.evaluate("return document.querySelector(argument)?.textContent ?? ''", selector)
        return re.sub(r"\s+", " ", words).strip()

    def value(self, selector: str, window: Window | None = None) -> str:
        return str((window or self.window).evaluate("return document.querySelector(argument)?.value ?? ''", selector))

    def see(self, selector: str, words: str) -> None:
        """Wait until an element says these words. Raises Missing."""
        until(lambda: words in self.text(selector), f"{selector} does not say “{words}”, but “{self.text(selector)}”")

    def address(self) -> str:
        return str(self.window.evaluate("return location.pathname"))

    def url(self) -> str:
        return f"{self.site.address}{self.address()}"

    def page(self) -> str:
        """Which page this is, of which question: another one is there when this is another."""
        script = """
          if (document.readyState !== "complete") return "";
          const heading = document.querySelector("#questions h2, main h1, h1")?.textContent ?? "";
          return `${performance.timeOrigin} ${location.pathname} ${heading.trim()}`;
        """
        return str(self.window.evaluate(script))

    def leave_by(self, selector: str) -> None:
        """Click, and wait until another page, or another question, is there. Raises Missing."""
        before = self.page()
        self.window.click(selector)
        until(lambda: self.page() not in ("", before), f"{selector} leads nowhere from {self.address()}")

    # ── Answering whatever a page asks ──

    def answer_all(self, place: str) -> None:
        """One answer to every question of a place that has none: a radio button, a word in every field."""
        for selector in self.window.evaluate(OPEN_CONTROLS, place):
            if selector.startswith("!"):
                is_number = self.window.evaluate("return document.querySelector(argument).inputMode", selector[1:])
                self.window.write(selector[1:], "12" if is_number else WHY)
            else:
                self.window.click(selector)
        self.await_saved()

    def await_saved(self) -> None:
        """Until nothing is on its way. Raises Missing."""
        if self.has("#status"):
            states = ("saved", "idle")
            state = "return document.querySelector('#status').dataset.state"
            until(lambda: self.window.evaluate(state) in states, f"not saved: “{self.text('#status')}”")


# Where only one pane of the desk is shown: whether it is so.
TURN_TO_QUESTIONS = """
  const tab = document.querySelector("#tab-questions");
  if (!tab?.offsetParent) return false;
  tab.click();
  return true;
"""
OPEN_CONTROLS = """
  const place = document.querySelector(argument);
  const selectors = [];
  const escape = CSS.escape;
  const names = new Set();
  for (const radio of place.querySelectorAll("input[type=radio]:enabled")) {
    if (names.has(radio.name)) continue;
    names.add(radio.name);
    const all = [...place.querySelectorAll(`input[name="${escape(radio.name)}"]`)];
    if (all.some(({ checked }) => checked)) continue;
    selectors.push(`input[name="${escape(radio.name)}"][value="${escape(all[0].value)}"]`);
  }
  for (const box of place.querySelectorAll("input[type=checkbox]:enabled")) {
    if (names.has(box.name) || box.closest(".quote")) continue;
    names.add(box.name);
    const all = `input[name="${escape(box.name)}"]`;
    if (!place.querySelector(`${all}:checked`)) selectors.push(`${all}[value="${escape(box.value)}"]`);
  }
  for (const text of place.querySelectorAll("textarea:enabled, input[type=text]:enabled")) {
    if (!text.value && text.getClientRects().length) selectors.push(`![name="${escape(text.name)}"]`);
  }
  return selectors;
"""
