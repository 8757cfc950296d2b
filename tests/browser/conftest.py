"""A real browser before a real server; skipped with a message where there is no Chromium."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, expect

from annotation.participation import invitations
from studies.models import Step, Study
from tests import factories
from tests.browser.arriving import begin_by

PATIENCE = 20_000  # milliseconds; a busy machine is slow, and what is right comes late there, not never
expect.set_options(timeout=PATIENCE)


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    """A browser as a person would have it, on a desk."""
    context = chromium.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB", reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page that must not throw, nor ask for what is not there, nor break the content policy."""
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" and _is_fault(said.text) else None)
    yield page
    assert faults == []


# Answers of 4xx and lost connections are reported as errors too; tests that provoke one look at the page instead.
NO_FAULTS = ("Failed to load resource", "Response Status Error Code", "htmx:sendError", "htmx:afterRequest")


def _is_fault(text: str) -> bool:
    return not text.startswith(NO_FAULTS)


TEXT = "A man who had bought the greenhouse came on a Saturday. " * 12 + "\n\n*She* had not put her father in it."


@pytest.fixture
def study(committed: None) -> Study:
    """Two stories a group, and a comparison that locks what came before."""
    made = factories.study(n_stories=2, n_groups=2, planned=False)
    for story in made.stories.all():
        story.text = TEXT
        story.save()
    Step.objects.filter(version__study=made, key="ranking").update(locks=True)
    factories.plan(made)
    return made


@pytest.fixture
def link(study: Study, live_server: Any) -> str:
    _, token = invitations.issue(study)
    return f"{live_server.url}/r/{token}/"


def press(page: Page, button: str) -> None:
    """Press it, and wait until the page that comes has its style sheets: what is measured earlier is not the page."""
    page.get_by_role("button", name=button).first.click()
    page.wait_for_load_state()


def enter_as_staff(page: Page, site: str, address: str, user: User | None = None) -> None:
    """Open an address of the site as that account, or as one that may do everything, which has signed in before.

    A rater who came in by the same browser stays in, as when somebody signs in by the form.
    """
    client, name = Client(), settings.SESSION_COOKIE_NAME
    client.cookies.load({cookie["name"]: cookie["value"] for cookie in page.context.cookies(site)})
    client.force_login(user or User.objects.create_superuser("root"))
    page.context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": site}])
    page.goto(f"{site}{address}")


@pytest.fixture
def desk(page: Page, link: str) -> Page:
    """A page at the first question."""
    begin_by(page, link)
    expect(page.get_by_role("heading", name="Item 1")).to_be_visible()
    return page
