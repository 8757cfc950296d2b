"""A reload after a newer answer was saved elsewhere: what the browser remembers of the page never overwrites it."""

import time
from dataclasses import dataclass

from tools.browsers.walk import Walk
from tools.browsers.windows import until

MEMORY = "browser-remembers=1"  # the cookie that tools/browsers/wsgi.py knows
LONGER_THAN_AUTOSAVE = 3  # seconds after which a page has saved what it takes for an answer
OLDER, NEWER, NEWEST = (f"It stays in one scene, at the fence, {words}." for words in ("at dusk", "by day", "at night"))


@dataclass(frozen=True)
class Answer:
    """What is chosen and written at one time, by selector; of a radio button the words are empty."""

    words_by_selector: dict[str, str]

    def give(self, walk: Walk) -> None:
        """In the page, and wait until it is saved. Raises Missing."""
        for selector, words in self.words_by_selector.items():
            if words:
                walk.window.write(selector, words)
                walk.window.press("Tab")
            else:
                walk.window.click(selector)
            walk.await_saved()
        self.await_stored(walk)

    def post(self, walk: Walk) -> None:
        """Past the page and what it keeps on the device, as another device does. Raises Missing."""
        status = walk.window.evaluate(POST, self.words_by_selector)
        walk.check(status == 200, f"another device's answer meets {status}")
        self.await_stored(walk)

    def await_stored(self, walk: Walk) -> None:
        until(lambda: self.is_stored(walk), f"{self.words_by_selector} is not stored")

    def is_stored(self, walk: Walk) -> bool:
        """Whether the page, asked for anew, has this answer."""
        return bool(walk.window.evaluate(IS_STORED, self.words_by_selector))

    def is_shown(self, walk: Walk) -> bool:
        return bool(walk.window.evaluate(IS_SHOWN, self.words_by_selector))


def reload_page(walk: Walk, place: str, versions: str) -> None:
    """Plainly, and with a browser that remembers though it is asked not to.

    place : the question
    versions : where both versions of an answer are shown, with a button for the saved one
    """
    with walk.step("reload"):
        meet_newer(walk, place, versions, remembers=False)
    with walk.step("reload with a memory"):
        try:
            walk.window.evaluate(f"document.cookie = '{MEMORY}; path=/'")
            # Firefox never remembers a page of its history that was once `no-store`, however often it is reloaded.
            url = walk.url()
            walk.window.open(f"{walk.site.address}/a/")
            walk.window.open(url)
            meet_newer(walk, place, versions, remembers=True)
        finally:
            forget(walk)


def forget(walk: Walk) -> None:
    walk.window.evaluate(f"document.cookie = '{MEMORY}; path=/; max-age=0'")


def meet_newer(walk: Walk, place: str, versions: str, *, remembers: bool) -> None:
    """An answer is improved in the page, then from another device, with a reload after each. Raises Missing."""
    window = walk.window
    older, newer, newest = (
        Answer(window.evaluate(FIND_ANSWER, [place, n, words])) for n, words in enumerate((OLDER, NEWER, NEWEST))
    )
    older.give(walk)
    newer.give(walk)
    window.reload()
    until(lambda: newer.is_shown(walk), "a reload does not show the answer as it was improved")
    time.sleep(LONGER_THAN_AUTOSAVE)
    walk.check(newer.is_stored(walk), "a reload takes back what was improved")
    newest.post(walk)
    window.reload()
    time.sleep(LONGER_THAN_AUTOSAVE)
    walk.check(newest.is_stored(walk), "a reload overwrites another device's newer answer")

    def shows_both() -> bool:
        text = walk.text(versions)
        written = walk.value(place) if place in newest.words_by_selector else text
        words = [words for words in newest.words_by_selector.values() if words]
        return bool(text) and all(each in text for each in words) and (not words or NEWER in written)

    # Firefox puts its fields back before any script is run, if it may: then both versions must be in view.
    must_conflict = remembers and window.browser.startswith("Firefox")
    until(
        lambda: shows_both() or (not must_conflict and newest.is_shown(walk)),
        f"a reload shows neither another device's answer nor both: “{walk.text(versions)}”",
    )
    if shows_both():
        walk.look("reload-both")
        forget(walk)
        window.click(f"{versions} :is([data-forgets] button, [data-keeps=theirs])")
        until(lambda: newest.is_shown(walk), "the saved version is not shown after it was chosen")
    walk.await_saved()
    walk.check(newest.is_stored(walk), "the newer answer is not stored in the end")


# The answer of that turn: of the first radio buttons another one each time, and these words in the last field.
FIND_ANSWER = """
  const [place, n, words] = argument;
  const root = document.querySelector(place);
  const answer = {};
  const radios = [...root.querySelectorAll("input[type=radio]")].filter(({ name }, _, all) => name === all[0].name);
  const nameOf = ({ name }) => `[name="${CSS.escape(name)}"]`;
  if (radios.length) {
    const first = radios.findIndex(({ checked }) => checked) + 1;
    const { name, value } = radios[(first + n) % radios.length];
    answer[`input${nameOf({ name })}[value="${CSS.escape(value)}"]`] = "";
  }
  const text = root.matches("textarea") ? root : [...root.querySelectorAll("textarea")].at(-1);
  if (text) answer[text === root ? place : `textarea${nameOf(text)}`] = words;
  return answer;
"""
POST = """
  const fields = Object.entries(argument).map(([selector, words]) => [document.querySelector(selector), words]);
  const saver = fields[0][0].closest("[data-saves]");
  const base = saver.dataset.of && document.getElementById(`base-${saver.dataset.of}`);
  const names = new Set([...saver.querySelectorAll("input, select, textarea")].map(({ name }) => name));
  const body = new FormData();
  for (const [name, value] of new FormData(fields[0][0].form)) {
    if (names.has(name) || name === "csrfmiddlewaretoken") body.set(name, value);
  }
  if (base) body.set("base", base.value);
  for (const [field, words] of fields) body.set(field.name, words || field.value);
  body.set("key", `${crypto.randomUUID()}-1`);
  const request = { method: "POST", body, headers: { "HX-Request": "true" } };
  return fetch(saver.getAttribute("hx-post"), request).then(({ status }) => status);
"""
HOLDS = """
  const holds = (root, isDefault) => Object.entries(argument).every(([selector, words]) => {
    const field = root.querySelector(selector);
    if (!field) return false;
    if (!words) return isDefault ? field.defaultChecked : field.checked;
    return (isDefault ? field.defaultValue : field.value) === words;
  });
"""
IS_SHOWN = f"{HOLDS} return holds(document, false);"
IS_STORED = f"""
  {HOLDS}
  const read = (html) => holds(new DOMParser().parseFromString(html, "text/html"), true);
  return fetch(location.href, {{ cache: "no-store" }}).then((answer) => answer.text()).then(read);
"""
