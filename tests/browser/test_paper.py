"""The paper of a page: as dark as the device, until somebody chooses another."""

from typing import Literal

import pytest
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]

LIGHT, DARK = "rgb(253, 252, 249)", "rgb(23, 22, 20)"


@pytest.mark.parametrize(("scheme", "paper"), [("light", LIGHT), ("dark", DARK)])
def test_a_desk_is_as_dark_as_its_device_and_says_so(desk: Page, scheme: Literal["light", "dark"], paper: str) -> None:
    desk.emulate_media(color_scheme=scheme)

    expect(desk.locator(".story-pane")).to_have_css("background-color", paper)
    desk.locator(".settings > summary").click()
    expect(desk.get_by_label("As the device")).to_be_checked()


def test_a_paper_that_was_chosen_stays_whatever_the_device_prefers(desk: Page) -> None:
    desk.emulate_media(color_scheme="dark")
    desk.locator(".settings > summary").click()

    desk.get_by_label("Light").check()

    desk.reload()
    expect(desk.locator(".story-pane")).to_have_css("background-color", LIGHT)
