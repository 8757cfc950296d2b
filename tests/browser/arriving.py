"""A rater's way to the first question, in a real browser."""

from typing import Any
from urllib.parse import urljoin, urlsplit

from django.conf import settings
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotation.participation import invitations
from studies.models import Study


def begin(page: Page, site: Any, study: Study) -> None:
    """The first page of a group, for somebody who has come in by a new link, agreed and begun."""
    begin_by(page, f"{site.url}/r/{invitations.issue(study)[1]}/")


def begin_by(page: Page, link: str) -> None:
    """The same by that link. The way is gone without a browser; tests/browser/test_annotator.py goes it in one."""
    client, site = Client(), urljoin(link, "/")
    client.post(urlsplit(link).path)
    client.post(reverse("annotation:consent"), {"agrees": "yes"})
    first_page = client.post(reverse("annotation:begin")).headers["Location"]
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": site}])
    page.goto(urljoin(site, first_page))
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
