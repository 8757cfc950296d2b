"""What a rater's page says of saving, and what the server has been told."""

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page

from annotation.models import Response

WORDS = "It turns on a pane of glass."


def reasons(page: Page) -> Any:
    return page.get_by_label("Your reasons")


def status(page: Page) -> Any:
    return page.locator("#status")


def press_retry(page: Page) -> None:
    """At once, or not at all: the page tries again by itself too, and then its button goes."""
    page.evaluate("document.querySelector('#status [data-retries]')?.click()")


def said() -> list[tuple[Any, str]]:
    return list(Response.objects.order_by("pk").values_list("value", "rationale"))


def n_drafts(page: Page) -> int:
    return int(page.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('quire-draft')).length"))


def until(page: Page, is_so: Callable[[], bool], what: str) -> None:
    for _ in range(160):
        if is_so():
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"{what}; said: {said()}")
