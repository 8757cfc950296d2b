"""A rater's way to the first question, in a real browser."""

from typing import Any

from playwright.sync_api import Page, expect

from annotation.participation import invitations
from studies.models import Study


def begin(page: Page, site: Any, study: Study) -> None:
    """By link, consent and group to the first page of the group."""
    _, token = invitations.issue(study)
    page.goto(f"{site.url}/r/{token}/")
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("I have read this and I agree to take part.").check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Begin with a group").click()
    expect(page.locator("h1", has_text="Story A").or_(page.locator(".sheet-head h1"))).to_be_attached()
    page.wait_for_load_state()


def until(page: Page, read: Any, wanted: Any) -> None:
    """Wait until something on the server is as wanted. (Waiting in the page would need eval; the policy forbids it.)"""
    for _ in range(100):
        if read() == wanted:
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"{read()!r}, not {wanted!r}")


def select(page: Page, start: tuple[str, str], end: tuple[str, str]) -> None:
    """Select in the story from before the first words to after the last; each: selector of the paragraph, words."""
    page.evaluate(
        """([[first, from], [last, to]]) => {
          const find = (selector, words, after) => {
            const texts = document.createTreeWalker(document.querySelector(selector), NodeFilter.SHOW_TEXT);
            for (let t = texts.nextNode(); t; t = texts.nextNode()) {
              const i = t.data.indexOf(words);
              if (i >= 0) return [t, i + (after ? words.length : 0)];
            }
            throw new Error("not in the story: " + words);
          };
          getSelection().setBaseAndExtent(...find(first, from, false), ...find(last, to, true));
        }""",
        [list(start), list(end)],
    )
