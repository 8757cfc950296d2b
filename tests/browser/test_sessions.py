"""The trial of sessions that end in mid-sentence, in its short form."""

import pytest
from playwright.sync_api import Browser

from tests.trials import sessions

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]


def test_every_text_is_kept_whichever_way_its_writer_comes_back(chromium: Browser) -> None:
    found = sessions.run(chromium, 4)

    assert set(found["ways back"].values()) == {1}
    assert found["lost"] == []


def test_without_drafts_the_texts_of_those_who_left_the_page_are_lost(chromium: Browser) -> None:
    found = sessions.run(chromium, 4, keeps_drafts=False)

    assert found["kept"] == 1, "only that of the page that was left open"
