"""What the reading page costs a browser that has nothing of it yet, as a server sends it after `collectstatic`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import call_command
from django.test.testcases import LiveServerThread
from playwright.sync_api import Page

from studies.models import Study
from tests.browser.arriving import begin

pytestmark = [pytest.mark.browser, pytest.mark.embedded]


@pytest.fixture
def site(committed: None, tmp_path: Path, settings: Any) -> Iterator[LiveServerThread]:
    """A server that sends what `collectstatic` made, as a real one does; pytest-django's sends static files itself."""
    settings.STATIC_ROOT = tmp_path
    settings.STORAGES = {**settings.STORAGES}  # the storage is made anew
    call_command("collectstatic", interactive=False, verbosity=0)
    staticfiles_storage._wrapped.__dict__.pop("is_current", None)
    thread = LiveServerThread("127.0.0.1", lambda handler: handler)
    thread.daemon = True
    thread.start()
    thread.is_ready.wait()
    if thread.error:
        raise thread.error
    thread.url = f"http://127.0.0.1:{thread.port}"
    yield thread
    thread.terminate()


def test_reading_page_asks_for_twelve_files_and_200_kilobytes_at_most(
    page: Page, study: Study, site: LiveServerThread
) -> None:
    assert staticfiles_storage.url("quire/rater.css") != "/static/quire/rater.css"
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    sizes: list[int] = []
    cached: dict[str, str] = {}
    network.on("Network.loadingFinished", lambda event: sizes.append(int(event["encodedDataLength"])))
    page.on("response", lambda response: cached.update({response.url: response.headers.get("cache-control", "")}))

    begin(page, site, study)
    page.wait_for_load_state("networkidle")

    static = {url: header for url, header in cached.items() if "/static/" in url}
    assert any(url.endswith(".woff2") for url in static)
    assert len(sizes) <= 12
    assert sum(sizes) <= 200_000
    assert {url: header for url, header in static.items() if "immutable" not in header} == {}
    assert [url for url in static if "research" in url or "staff" in url] == []
