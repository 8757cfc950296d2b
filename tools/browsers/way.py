"""The way of a rater through a study of the demo, the same in every browser: from the link to the receipt."""

import re
import tomllib

from tools.browsers import cloze, desk, reloading
from tools.browsers.site import ROOT
from tools.browsers.walk import Walk, button
from tools.browsers.windows import Missing, until

LONGEST_WAY = 400  # pages
CHECK = ROOT / "studies" / "instruments" / "litbench-comprehension.toml"
AGREE = "//input[@name='agrees']"
ONE_GROUP = ("orchard",)  # of four stories and 56 questions each


def walk_through(walk: Walk) -> None:
    """The whole way of a study, until nothing more is offered. What is wrong on it is among the walk's findings."""
    try:
        come_in(walk)
        for _ in range(LONGEST_WAY):
            walk.n_pages += 1
            if not go_on(walk):
                break
        else:
            raise Missing(f"no end after {LONGEST_WAY} pages")
        walk.check(walk.n_receipts > 0, "nothing was submitted")
    except Missing as error:
        walk.fail(f"{walk.address()}: {error}")
    walk.findings += [f"a script, or the content policy: {fault}" for fault in dict.fromkeys(walk.window.faults)]
    walk.window.faults.clear()


def come_in(walk: Walk) -> None:
    """By the link and consent. Raises Missing."""
    walk.window.open(walk.site.links[walk.study])
    walk.note("invitation")
    walk.leave_by(button("Continue"))
    walk.note("consent")
    walk.window.click(AGREE)
    walk.leave_by(button("Continue"))


def go_on(walk: Walk) -> bool:
    """From one page to the next, whichever page it is. Returns whether there is a next one. Raises Missing."""
    if walk.has("form[data-saves] [name=go]"):
        desk.answer_question(walk)
    elif walk.has("main.cloze"):
        cloze.fill(walk)
    elif walk.has("[data-reviews]"):
        walk.note("lock" if "Before you go on" in walk.text("h1") else "review")
        walk.leave_by("main form.form-end .principal")
    elif "/once/comprehension/" in walk.address():
        pass_check(walk)
    elif walk.has("main form[data-leaves] [data-saves]"):
        answer_page(walk)
    else:
        return turn_page(walk)
    return True


def turn_page(walk: Walk) -> bool:
    """A page that only tells or offers: on by its principal button. Returns whether it has one. Raises Missing."""
    title = walk.text("h1")
    walk.note(re.sub(r"[^a-z]+", "-", title.lower())[:32].strip("-"))
    walk.n_receipts += title.startswith("Submitted")
    if walk.has("[name=knows]"):
        walk.leave_by("[name=knows][value=no]")
    elif title.startswith("Another") and walk.study in ONE_GROUP:
        walk.leave_by(button("I am finished"))
    elif walk.has("main .principal"):
        walk.leave_by("main .principal")
    else:
        return False
    return True


def pass_check(walk: Walk) -> None:
    """The comprehension check: wrong at first, then right. Raises Missing."""
    items = tomllib.loads(CHECK.read_text())["items"]
    right = [item["settings"]["correct"] for item in items]
    names = walk.window.evaluate(
        "return [...new Set([...document.querySelectorAll('main [type=radio]')].map((r) => r.name))]"
    )
    if walk.has(".error-summary"):
        walk.note("check-again")
    else:
        walk.note("check")
        right[0] = "yes" if right[0] == "no" else "no"
    for name, answer in zip(names, right, strict=True):
        walk.window.click(f"[name='{name}'][value='{answer}']")
        walk.await_saved()
    walk.leave_by("main .principal")


def answer_page(walk: Walk) -> None:
    """A page of several questions: surveys, practice, ranking, guesses, comparison. Raises Missing."""
    scene = walk.address().strip("/").split("/")[-1]
    is_compared = walk.has(".sample-answer")
    if walk.has(".ranking"):
        rank(walk)
    elif "/once/" not in walk.address() and "reload" not in walk.steps and walk.has("main .item[data-saves]"):
        reloading.reload_page(walk, "main .item[data-saves]", ".conflict")
    walk.answer_all("main")
    walk.note(f"{scene}-compared" if is_compared else scene)
    walk.leave_by("main .form-end .principal")
    if walk.has(".error-summary"):
        raise Missing(f"{scene} is refused: {walk.text('.error-summary')}")


def rank(walk: Walk) -> None:
    """A ranking by position, by button and by key, each of which moves a story. Raises Missing."""
    walk.note("ranking-open")
    order = "return [...document.querySelectorAll('.ranking li')].map((row) => row.dataset.title)"
    first = walk.window.evaluate(order)
    walk.window.click("(//ol[contains(@class, 'ranking')]/li)[1]//button[@data-moves='1']")
    second = until(lambda: (now := walk.window.evaluate(order)) != first and now, "the button ↓ moves no story")
    walk.check(second[:2] == first[1::-1], f"↓ made {first} into {second}")
    walk.window.press("ArrowUp")
    until(lambda: walk.window.evaluate(order) == first, "the key ↑ moves no story")
    walk.window.evaluate(CHOOSE_POSITION, [0, "2"])
    until(lambda: walk.window.evaluate(order) == second, "“move to position” moves no story")
    walk.await_saved()
    walk.window.reload()
    until(lambda: walk.window.evaluate(order) == second, "the ranking is not kept")


# Lists that drop down belong to the system: no driver opens them in every browser.
CHOOSE_POSITION = """
  const [row, position] = argument;
  const select = document.querySelectorAll(".ranking select")[row];
  select.value = position;
  select.dispatchEvent(new Event("change", { bubbles: true }));
"""
