"""The reading desk: every question answered, and at the first one of each study what a desk must stand."""

from tools.browsers import reloading
from tools.browsers.walk import Walk, button
from tools.browsers.windows import Window, until

REASONS = "#questions textarea[name^='rationale-']"
DRAFT = "Written while nothing could be reached."


def answer_question(walk: Walk) -> None:
    """The question of the desk, and on to the next one. Raises Missing."""
    if "desk" not in walk.scenes:
        visit_first(walk)
    walk.answer_all("#questions form[data-saves]")
    walk.look("desk")
    walk.leave_by("#questions [name=go][value=next]")


def visit_first(walk: Walk) -> None:
    """The first question: keys, quoting, a server that is away, two windows, a reload."""
    has_reasons = walk.has(REASONS)
    with walk.step("keys"):
        use_keys(walk)
    if has_reasons and walk.has("[data-quotes-from]"):
        with walk.step("quoting"):
            quote(walk)
    if has_reasons:
        with walk.step("drafts"):
            write_without_server(walk)
    with walk.step("conflict"):
        meet_conflict(walk)
    reloading.reload_page(walk, "#questions form[data-saves]", ".conflict")


def use_keys(walk: Walk) -> None:
    """Answer, go on and come back, and the sheet of all keys. Raises Missing."""
    window = walk.window
    window.click("#questions h2")
    first = walk.page()
    window.press("j")
    until(lambda: walk.page() not in ("", first), "J does not lead to the next question")
    window.press("k")
    until(lambda: walk.page().split(" ")[1:] == first.split(" ")[1:], "K does not lead back")
    window.press("?")
    until(lambda: walk.has("dialog#keys[open]"), "? does not open the sheet of keys")
    walk.look("keys")
    window.press("Escape")
    until(lambda: not walk.has("dialog#keys[open]"), "Escape does not close the sheet of keys")


def quote(walk: Walk) -> None:
    """By the mouse, by the keys, to the paragraph and back, and one given up. Raises Missing."""
    window = walk.window
    quotes = "return [...document.querySelectorAll('#questions .quote blockquote')].map((words) => words.textContent)"
    start, end, words = window.evaluate(FIRST_LINE)
    window.sweep(start, end)
    until(lambda: not walk.window.evaluate("return document.querySelector('#quoting').hidden"), "no bar for quoting")
    walk.look("quoting")
    window.click("#quoting [data-does=quote]")
    until(lambda: len(window.evaluate(quotes)) == 1, "a passage that was selected is not quoted")
    walk.check(window.evaluate(quotes)[0] in words, f"quoted “{window.evaluate(quotes)[0]}” of “{words}”")
    window.click("#questions h2")
    window.press("q")
    until(lambda: window.evaluate("return document.activeElement.matches('.story p')"), "Q chooses no paragraph")
    for key in ("ArrowDown", "ArrowRight", "ArrowRight"):  # another paragraph where there is one, its second sentence
        window.press(key)
    window.press("Enter")
    until(lambda: len(window.evaluate(quotes)) == 2, "a sentence that was chosen by keys is not quoted")
    walk.await_saved()
    walk.look("quoted")
    for number in (1, 2):
        window.click(f"(//figure[contains(@class, 'quote')])[{number}]//figcaption/a")
        until(
            lambda: window.evaluate("return document.activeElement.matches('.story p')"),
            "¶ leads to no paragraph",
        )
        walk.look("led-to-paragraph")
        window.click(f"(//article[contains(@class, 'story')]//mark/a)[{number}]")
        until(lambda: window.evaluate("return document.activeElement.matches('.quote')"), "a mark does not lead back")
        walk.look("led-back")
    window.click("(//figure[contains(@class, 'quote')])[1]//button[@data-unquotes]")
    until(lambda: len(window.evaluate(quotes)) == 1, "a quote cannot be given up")
    walk.await_saved()
    window.reload()
    until(lambda: len(window.evaluate(quotes)) == 1, "a quote is not kept")
    walk.check(window.evaluate("return document.querySelectorAll('.story mark').length") >= 1, "no mark after a reload")


FIRST_LINE = """
  const paragraph = document.querySelector("#p2") ?? document.querySelector("#p1");
  const text = document.createTreeWalker(paragraph, NodeFilter.SHOW_TEXT).nextNode();
  const range = document.createRange();
  range.setStart(text, 3);
  range.setEnd(text, 20);
  const line = range.getClientRects()[0];
  const y = line.top + line.height / 2;
  return [[line.left + 1, y], [line.right, y], text.data];
"""


def write_without_server(walk: Walk) -> None:
    """What is written while the server is away is said to be kept, and is there after a reload. Raises Missing."""
    walk.site.stop()
    try:
        walk.window.write(REASONS, DRAFT)
        walk.see("#status", "Offline, kept on this device")
        walk.look("offline")
    finally:
        walk.site.start()
    walk.window.reload()
    until(lambda: walk.value(REASONS) == DRAFT, f"after a reload stands there “{walk.value(REASONS)}”, not the draft")
    other = walk.window.open_another()
    try:
        other.open(walk.url())
        until(lambda: walk.value(REASONS, other) == DRAFT, "another window does not have what the draft said")
    finally:
        other.close()


def meet_conflict(walk: Walk) -> None:
    """Two windows change one answer: both versions are shown, and the one that is chosen is saved. Raises Missing."""
    window = walk.window
    theirs, mine = until(lambda: window.evaluate(TWO_ANSWERS), "there is no question to answer in two windows")
    other = window.open_another()
    try:
        other.open(walk.url())
        answer(other, theirs, "Theirs.")
        until(lambda: other.evaluate(STATE) == "saved", "the other window does not save")
    finally:
        other.close()
    answer(window, mine, "Mine.")
    until(lambda: walk.has(".conflict"), "another window's answer is overwritten without a word")
    walk.look("conflict")
    window.click(button("Keep mine"))
    until(lambda: not walk.has(".conflict") and holds(window, mine), "“Keep mine” does not lead back to that answer")
    window.reload()
    until(lambda: holds(window, mine), "“Keep mine” is not kept")


def answer(window: Window, selector: str, words: str) -> None:
    """Choose a radio button, or write words into a field and leave it. Raises Missing."""
    if "value=" in selector:
        window.click(selector)
        return
    window.write(selector, words)
    window.press("Tab")


def holds(window: Window, selector: str) -> bool:
    script = "const field = document.querySelector(argument); return field?.checked || field?.value === 'Mine.'"
    return bool(window.evaluate(script, selector))


STATE = "return document.querySelector('#status').dataset.state"
TWO_ANSWERS = """
  const text = document.querySelector("#questions form[data-saves] textarea");
  const radios = [...document.querySelectorAll("#questions form[data-saves] input[type=radio]")];
  if (!radios.length) return text && Array(2).fill(`[name="${CSS.escape(text.name)}"]`);
  const open = radios.filter(({ checked, name }) => !checked && name === radios[0].name);
  return [open[0], open.at(-1)].map(({ name, value }) => `input[name="${CSS.escape(name)}"][value="${value}"]`);
"""
