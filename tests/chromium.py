"""The one Chromium of a process: Playwright can be started once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# The shell is Chromium without its windows. The whole one, driven so, now and then never ends the closing of a page.
CHROMIUM = (
    shutil.which("chromium-headless-shell")
    or shutil.which("chromium")
    or shutil.which("chromium-browser")
    or shutil.which("google-chrome")
)
ARGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
# For pictures that people look at: the shell moves letters to whole pixels, and words run into each other.
PICTURE_ARGS = [*ARGS, "--font-render-hinting=none"]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine")
    from playwright.sync_api import sync_playwright

    # Playwright's event loop runs in this thread, and Django would take all that follows for asynchronous code.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield browser
        browser.close()
