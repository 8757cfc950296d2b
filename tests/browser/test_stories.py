"""Stories in a real browser: a file is brought in and mapped, groups are corrected by drag, and axe finds nothing."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from studies.models import Story, Study
from tests import factories
from tests.browser.conftest import enter_as_staff, press
from tests.browser.test_accessibility import in_all_looks
from tests.studies.story_import.files import CSV

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]


@pytest.fixture
def draft(committed: None) -> Study:
    return factories.study(n_groups=1, n_stories=2, state="draft", planned=False)


@pytest.fixture
def designer(page: Page, live_server: Any, draft: Study) -> Page:
    enter_as_staff(page, live_server.url, "/studies/plums/stories/")
    expect(page.locator("h1")).to_have_text("Stories")
    return page


def test_a_file_is_brought_in_its_problems_mended_and_its_groups_corrected(
    designer: Page, draft: Study, tmp_path: Path
) -> None:
    file = tmp_path / "five-plots.csv"
    file.write_text(CSV.replace("model,Manner C,middle\nb1", "zzz,Manner D,middle\nb1"), encoding="utf-8")
    problems = {"stories": in_all_looks(designer)}

    designer.get_by_role("link", name="Bring in stories").click()
    problems["new"] = in_all_looks(designer)
    designer.set_input_files("[type=file]", file)
    press(designer, "Go on")
    expect(designer.locator(".problems")).to_contain_text("Say above what “zzz” is.")
    problems["columns"] = in_all_looks(designer)
    press(designer, "Bring in 4 stories")
    expect(designer.locator(".error-summary")).to_contain_text("Nothing came in")
    problems["refused"] = in_all_looks(designer)

    designer.get_by_label("zzz", exact=True).select_option("language model")
    expect(designer.locator(".problems")).to_have_count(0)
    press(designer, "Bring in 4 stories")
    expect(designer.locator(".messages")).to_contain_text("4 stories are in, in 2 groups.")
    problems["done"] = in_all_looks(designer)

    row = designer.locator("[data-group=harbour] tr[draggable]").first
    row.drag_to(designer.locator("[data-group=orchard] .group-row"))
    expect(designer.locator(".messages")).to_contain_text("1 story is in group “orchard” now.")
    assert draft.groups.get(code="orchard").stories.count() == 3
    designer.locator("[data-group=harbour] .first-words").click()
    expect(designer.locator("#reading .story")).to_be_visible()
    designer.get_by_role("link", name="Correct the text").click()
    problems["story"] = in_all_looks(designer)
    designer.go_back()
    designer.get_by_role("link", name="Sources, lengths and typing").click()
    problems["sources"] = in_all_looks(designer)

    assert {name: looks for name, looks in problems.items() if looks} == {}
    assert Story.objects.filter(study=draft).count() == 6
