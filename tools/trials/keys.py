"""Keys pressed faster than the network answers, in a real browser: is an answer changed, or a move lost?"""

import os
from itertools import product
from typing import Any

import numpy as np
from playwright.sync_api import Browser, BrowserContext, Page, Route

from annotation.models import Response
from studies.models import Study
from tests import factories
from tests.browser.arriving import begin
from tools.measurement import progress
from tools.trials.server import Server

GAPS = (60, 90, 130, 200, 280, 400)  # milliseconds from key to key
LATENCIES = (0, 60, 150, 250, 400)  # milliseconds more for every request
KEYS, N_KEYS = ("y", "j", "n"), 24
N_ALIKE = 50  # looks, a tenth of a second apart, at which nothing has moved: nothing is on its way any more
HOLD = "    queue.moves.add(saver);\n    saver.inert = true;\n"
# What a person sees when a key goes down, noted by the page itself.
NOTE_KEYS = """() => {
  window.pressed = [];
  addEventListener("keydown", ({ key }) => {
    window.pressed.push([document.querySelector(".reading form[data-saves]").id, key]);
  }, true);
}"""


def run(browser: Browser, n: int = 30, *, seed: int = 1, holds: bool = True) -> dict[str, Any]:
    """n raters press keys by chance, one for each gap and latency, drawn anew where there are more.

    holds : False to show what happens if the question that is being left still takes keys
    """
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # Playwright's event loop runs in this thread
    study = factories.study(f"keys{Study.objects.count()}", n_stories=1, k=n, n_items=N_KEYS + 2, comparative=False)
    rng = np.random.default_rng(seed)
    cells = list(product(GAPS, LATENCIES))
    counts = {"runs": n, "keys": 0, "answers": 0, "moves": 0, "answers other than the key": 0, "moves lost": 0}
    with Server() as server:
        for number in range(n):
            gap, latency = cells[number % len(cells)]
            keys = [str(key) for key in rng.choice(KEYS, N_KEYS)]
            context = browser.new_context(locale="en-GB", reduced_motion="reduce")
            if not holds:
                context.route("**/autosave/index*.js", _serve_without_hold)
            for name, value in _press(context, server, study, keys, gap=gap, latency=latency).items():
                counts[name] += value
            context.close()
            progress(f"run {number + 1} of {n}: {gap} ms between keys, {latency} ms latency")
    return counts


def _serve_without_hold(route: Route) -> None:
    script = route.fetch()
    if HOLD not in script.text():
        raise LookupError("the line that holds a question which is being left is not where it was")
    route.fulfill(response=script, body=script.text().replace(HOLD, ""))


def _press(
    context: BrowserContext, server: Server, study: Study, keys: list[str], *, gap: int, latency: int
) -> dict[str, int]:
    page = context.new_page()
    begin(page, server, study)
    slow_down(page, latency)
    page.evaluate(NOTE_KEYS)
    for key in keys:
        page.keyboard.press(key)
        page.wait_for_timeout(gap)
    pressed = page.evaluate("window.pressed")
    code = page.url.split("/a/")[1].split("/")[0]
    counts: dict[str, int] = {}
    form, stored, n_alike = "", answers_of(code), 0
    while n_alike < N_ALIKE:
        before = form, stored
        form = str(page.evaluate("document.querySelector('.reading form[data-saves]')?.id ?? ''"))
        stored = answers_of(code)
        counts = compare(pressed, form, stored)
        if not counts["answers other than the key"] and not counts["moves lost"]:
            return counts
        n_alike = n_alike + 1 if (form, stored) == before else 0
        page.wait_for_timeout(100)  # what is on its way arrives
    progress(f"{gap} ms, {latency} ms: {pressed} led to {form} and {stored}")
    return counts


def slow_down(page: Page, latency: int) -> None:
    """Milliseconds more for every request. Chromium only."""
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    conditions = {"offline": False, "latency": latency, "downloadThroughput": -1, "uploadThroughput": -1}
    network.send("Network.emulateNetworkConditions", conditions)


def answers_of(code: str) -> dict[int, str]:
    """What the server has of an assignment, by the number of the question."""
    stored = Response.objects.filter(assignment__code=code).exclude(value=None)
    return {number: str(value) for number, value in stored.values_list("item__position", "value")}


def compare(pressed: list[tuple[str, str]], form: str, stored: dict[int, str]) -> dict[str, int]:
    """What the keys ask for, beside what came of them.

    Keys count in their order, however slow the network is: each is about the question to which those before it led.

    pressed : the form that was shown when a key went down, and the key, in order
    form : the form that is shown in the end
    """
    answers: dict[int, str] = {}
    current, n_moves, n_lost = 1, 0, 0
    for _form, key in pressed:
        if key in "yn":
            answers[current] = {"y": "yes", "n": "no"}[key]
        elif key == "j" or current > 1:
            n_moves += 1
            current += 1 if key == "j" else -1
    n_lost += not form or _number_of(form) != current
    n_wrong = sum(answers.get(number) != stored.get(number) for number in answers | stored)
    return {
        "keys": len(pressed),
        "answers": len(answers),
        "moves": n_moves,
        "answers other than the key": n_wrong,
        "moves lost": n_lost,
    }


def _number_of(form: str) -> int:
    return int(form.rsplit("-", 1)[1])
