"""An author writes a cloze in the admin, with the picture of its cascade beside the document."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from studies.models import Cloze

pytestmark = pytest.mark.browser

MYSTERY = Path(__file__).parents[2] / "studies" / "demo" / "mystery"


def test_an_author_sees_the_cascade_change_and_what_is_wrong(page: Page, live_server: Any, committed: None) -> None:
    User.objects.create_superuser("admin", password="secret-enough")
    text = (MYSTERY / "cloze.toml").read_text()
    page.goto(f"{live_server.url}/admin/login/?next=/admin/studies/cloze/add/")
    page.fill("#id_username", "admin")
    page.fill("#id_password", "secret-enough")
    page.click("[type=submit]")

    document = page.get_by_label("Document")
    page.wait_for_load_state()
    document.fill(text)
    expect(page.locator("#picture svg")).to_be_visible()
    expect(page.locator("#picture")).to_contain_text("7 sections, 44 blanks, 40 constraints, 16 edges")
    document.fill(text.replace("from = 6\nto = 7", "from = 6\nto = 17"))
    expect(page.locator("#picture-problem")).to_have_text("edge 6 → 17: there is no section 17; the last is 7")
    expect(page.locator("#picture svg")).to_be_visible()
    document.fill(text)
    expect(page.locator("#picture-problem")).to_be_hidden()
    page.get_by_role("button", name="Save", exact=True).click()

    expect(page.get_by_text("was added successfully")).to_be_visible()
    assert Cloze.objects.get().slug == "lost-property"
