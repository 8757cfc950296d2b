"""Sessions that end in mid-sentence, in a real browser: is every text kept?"""

import os
import re
from typing import Any

import numpy as np
from django.contrib.sessions.models import Session
from playwright.sync_api import Browser, BrowserContext, Page, expect

from annotation.models import Response
from annotation.participation import invitations
from studies.models import Study
from tests import factories
from tools.measurement import progress
from tools.trials.server import Server

HEAD, TAIL = "It turns on ", "a pane of glass, and number {n} says so."
# What somebody does whose session has ended: how they come back to their words.
RETURNS = ("stays", "closes the window", "reloads", "goes elsewhere")


def run(browser: Browser, n: int = 50, *, seed: int = 1, keeps_drafts: bool = True) -> dict[str, Any]:
    """n raters write half a sentence, lose their session on the server, write on, and come in again by their link.

    keeps_drafts : False to show what would be lost if the browser kept nothing
    """
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # Playwright's event loop runs in this thread
    study = factories.study(f"sessions{Study.objects.count()}", n_stories=1, k=n, n_items=2, comparative=False)
    rng = np.random.default_rng(seed)
    counts: dict[str, Any] = {"sessions": n, "kept": 0, "lost": [], "ways back": dict.fromkeys(RETURNS, 0)}
    with Server() as server:
        for number in range(n):
            way = str(rng.choice(RETURNS)) if n >= len(RETURNS) * 2 else RETURNS[number % len(RETURNS)]
            counts["ways back"][way] += 1
            link = f"{server.address}/r/{invitations.issue(study)[1]}/"
            context = browser.new_context(locale="en-GB")
            context.set_default_timeout(15_000)
            if not keeps_drafts:
                context.add_init_script("Storage.prototype.setItem = () => { throw new Error('off') }")
                context.add_init_script("navigator.sendBeacon = () => false")
                # Then leaving asks, and whoever leaves says yes.
                context.on("dialog", lambda dialog: dialog.accept())
            words = HEAD + TAIL.format(n=number)
            if _is_kept(context, link, way, words):
                counts["kept"] += 1
            else:
                counts["lost"].append(f"{number}, who {way}")
            context.close()
            progress(f"session {number + 1} of {n}: {way}")
    return counts


def _is_kept(context: BrowserContext, link: str, way: str, words: str) -> bool:
    page = context.new_page()
    _come_in(page, link)
    code = page.url.split("/a/")[1].split("/")[0]
    reasons = page.get_by_label("Your reasons")
    reasons.press_sequentially(HEAD)
    expect(page.locator("#status")).to_have_text(re.compile("^Saved"))
    Session.objects.all().delete()
    reasons.press_sequentially(words.removeprefix(HEAD))
    if way in ("stays", "goes elsewhere"):
        expect(page.locator("#trouble")).to_contain_text("Your session has ended")
    if way == "closes the window":
        page.close(run_before_unload=False)
        page = context.new_page()
    elif way == "reloads":
        page.reload()
    elif way == "goes elsewhere":
        page.goto(link)
    _return(context, page, link, stays=way == "stays")
    for _ in range(100):
        if Response.objects.filter(assignment__code=code, rationale=words).exists():
            # The page has followed: closing a window that is about to reload can hang.
            expect(page.get_by_label("Your reasons")).to_have_value(words)
            page.wait_for_load_state("networkidle")
            return True
        page.wait_for_timeout(50)
    return False


def _come_in(page: Page, link: str) -> None:
    page.goto(link)
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("I have read this and I agree to take part.").check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Begin with a group").click()
    expect(page.get_by_role("heading", name="Item 1")).to_be_visible()


def _return(context: BrowserContext, page: Page, link: str, *, stays: bool) -> None:
    """By the link again: in a second window beside the one that was left open, or in the only one."""
    window = context.new_page() if stays else page
    window.goto(link)
    window.get_by_role("button", name="Continue").click()
    window.wait_for_url(re.compile("/a/"))
    if stays:
        # Unless the page has tried again by itself already.
        page.evaluate("document.querySelector('[data-retries]')?.click()")
