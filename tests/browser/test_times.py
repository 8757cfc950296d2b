"""Times in a browser: in the reader's own zone, and otherwise written as the server writes them."""

from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from annotation.participation import invitations
from tests import factories

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]
UNTIL = datetime(2099, 11, 21, 22, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("language", "with_scripts", "without"),
    [
        ("en", "22 November 2099, 07:05 GMT+9", "21 November 2099, 22:05 UTC"),
        ("pt-BR", "22 de novembro de 2099, 07:05 GMT+9", "21 de novembro de 2099, 22:05 UTC"),
    ],
)
def test_a_deadline_stands_in_the_readers_zone(
    chromium: Browser, live_server: Any, language: str, with_scripts: str, without: str
) -> None:
    study = factories.study(n_stories=2, planned=False)
    study.language, study.closes_at = language, UNTIL
    study.save()
    factories.plan(study)
    link = f"{live_server.url}/r/{invitations.issue(study)[1]}/"

    for runs_scripts, expected in ((True, with_scripts), (False, without)):
        context = chromium.new_context(timezone_id="Asia/Tokyo", locale="en-US", java_script_enabled=runs_scripts)
        page = context.new_page()
        page.goto(link)
        expect(page.locator("time[data-day]")).to_have_text(expected)
        context.close()
