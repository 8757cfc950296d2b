"""A cloze: its 44 blanks filled, long ones among them, and what it says of changes and of two windows."""

import tomllib

from tools.browsers import reloading
from tools.browsers.site import DEMO
from tools.browsers.walk import Walk, button
from tools.browsers.windows import until

LONG, WORD = 25, 2  # a blank that takes a paragraph, and one that takes a word
DRAFT = "a door, two windows and a stove"


def field_of(blank: int) -> str:
    return f"#answer-fill-blank-{blank:02}"


def fill(walk: Walk) -> None:
    """All of it, and on to the check. Raises Missing."""
    walk.note("cloze-open")
    fills = tomllib.loads((DEMO / "mystery" / "solution.toml").read_text())["fills"]
    with walk.step("drafts"):
        write_without_server(walk)
    with walk.step("conflict"):
        meet_conflict(walk)
    reloading.reload_page(walk, field_of(WORD), "#problem-fill-blank-02")
    for blank, words in fills.items():
        walk.window.write(field_of(int(blank)), words)
    walk.window.press("Tab")
    walk.await_saved()
    with walk.step("long blanks"):
        look_at_long_blanks(walk)
    with walk.step("marks"):
        change_upstream(walk)
    walk.leave_by("#cloze .principal")


def write_without_server(walk: Walk) -> None:
    """What is written while the server is away is there after a reload. Raises Missing."""
    walk.site.stop()
    try:
        walk.window.write(field_of(WORD), DRAFT)
        walk.window.press("Tab")
        walk.see("#status", "Offline, kept on this device")
        walk.look("cloze-offline")
    finally:
        walk.site.start()
    walk.window.reload()
    until(lambda: walk.value(field_of(WORD)) == DRAFT, f"the blank says “{walk.value(field_of(WORD))}”, not the draft")


def meet_conflict(walk: Walk) -> None:
    """Two windows write into one blank: both versions are shown, and the chosen one is saved. Raises Missing."""
    walk.await_saved()
    other = walk.window.open_another()
    try:
        other.open(walk.url())
        other.write(field_of(WORD), "a tuba")
        other.press("Tab")
        until(lambda: other.evaluate("return document.querySelector('#status').dataset.state") == "saved", "not saved")
    finally:
        other.close()
    walk.window.write(field_of(WORD), "a lamp")
    walk.window.press("Tab")
    walk.see("#problem-fill-blank-02", "it now says “a tuba”. Nothing has been overwritten.")
    walk.look("cloze-conflict")
    walk.window.click(button("Keep what is written here"))
    until(lambda: not walk.text("#problem-fill-blank-02"), "the panel stays after “Keep what is written here”")
    walk.window.reload()
    until(lambda: walk.value(field_of(WORD)) == "a lamp", "“Keep what is written here” is not kept")


def look_at_long_blanks(walk: Walk) -> None:
    """All words of all blanks are in view: as written, and as the page comes back. Raises Missing."""
    walk.window.evaluate("document.querySelector(argument).scrollIntoView({ block: 'center' })", field_of(LONG))
    walk.look("cloze-filled")
    walk.window.reload()
    until(lambda: walk.value(field_of(LONG)), "a long blank is not kept")
    walk.window.evaluate("document.querySelector(argument).scrollIntoView({ block: 'center' })", field_of(LONG))
    walk.look("cloze-come-back-to")


def change_upstream(walk: Walk) -> None:
    """A change of the first blank marks those that hang on it; a look at them takes the mark away. Raises Missing."""
    walk.window.write(field_of(1), "counted everything")
    walk.window.press("Tab")
    walk.see("#mark-fill-blank-12", "please check")
    walk.window.click("#mark-fill-blank-12 a")
    walk.look("cloze-marked")
    walk.window.click("#check-fill-blank-12 button[name=confirm]")
    until(lambda: not walk.text("#mark-fill-blank-12"), "“It still fits” leaves the mark")
    walk.await_saved()
