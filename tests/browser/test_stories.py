"""Stories in a real browser: a file is brought in and mapped, groups are corrected by drag, and axe finds nothing."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from studies import construction, jobs
from studies.models import Story, StoryIntake, Study, StudyJob
from studies.story_import import examinations, intakes
from tests import factories
from tests.browser.conftest import enter_as_staff, press
from tests.browser.test_accessibility import in_all_looks
from tests.studies.story_import.files import CSV
from tests.worker import working

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

    designer.get_by_role("link", name="Import stories").click()
    problems["new"] = in_all_looks(designer)
    designer.set_input_files("[type=file]", file)
    press(designer, "Go on")
    expect(designer.locator(".problems")).to_contain_text("Say above what “zzz” is.")
    problems["columns"] = in_all_looks(designer)
    press(designer, "Import 4 stories")
    expect(designer.locator(".error-summary")).to_contain_text("Nothing was imported")
    problems["refused"] = in_all_looks(designer)

    designer.get_by_label("zzz", exact=True).select_option("language model")
    expect(designer.locator(".problems")).to_have_count(0)
    expect(designer.locator(".error-summary")).to_have_count(0)
    press(designer, "Import 4 stories")
    expect(designer.locator(".messages")).to_contain_text("4 stories are in, in 2 groups.")
    problems["done"] = in_all_looks(designer)

    row = designer.locator("[data-group=harbour] tr[draggable]").first
    row.drag_to(designer.locator("[data-group=orchard] .group-row"))
    expect(designer.locator(".messages")).to_contain_text("1 story is in group “orchard” now.")
    assert draft.groups.get(code="orchard").stories.count() == 3
    designer.locator("[data-group=harbour] .first-words").click()
    expect(designer.locator("#reading .story")).to_be_visible()
    designer.get_by_role("link", name="Correct the text").click()
    expect(designer.get_by_label("The text")).to_be_visible()
    problems["story"] = in_all_looks(designer)
    designer.go_back()
    designer.get_by_role("link", name="Sources, lengths and typing").click()
    designer.wait_for_url("**/stories/sources/")
    problems["sources"] = in_all_looks(designer)

    assert {name: looks for name, looks in problems.items() if looks} == {}
    assert Story.objects.filter(study=draft).count() == 6


def bring_in(page: Page, file: Path) -> None:
    """The file uploaded, and its button pressed."""
    page.get_by_role("link", name="Import stories").click()
    page.set_input_files("[type=file]", file)
    press(page, "Go on")
    press(page, "Import 4 stories")


def test_a_long_file_says_how_far_it_is_and_leads_to_the_stories(
    designer: Page, draft: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broker: None
) -> None:
    monkeypatch.setattr(intakes, "LONG_ROWS", 3)
    file = tmp_path / "five-plots.csv"
    file.write_text(CSV, encoding="utf-8")
    bring_in(designer, file)
    live = designer.locator("#live")
    expect(live).to_contain_text("A worker has been asked")
    problems = {"waiting": in_all_looks(designer)}

    soon, before = timezone.now() + timedelta(minutes=1), timezone.now() - timedelta(minutes=1)
    StoryIntake.objects.update(leased_until=soon, stage="examining", n_rows=4_000, n_rows_done=1_500)
    expect(live).to_contain_text("Step 2 of 3: 1500 of 4000 rows are examined.")
    assert live.locator("progress").evaluate("bar => [bar.value, bar.max]") == [5_500, 12_000]
    problems["running"] = in_all_looks(designer)
    StoryIntake.objects.update(leased_until=before, queued_at=soon)
    expect(live).to_contain_text("The worker stopped before the end")
    problems["stopped"] = in_all_looks(designer)
    StoryIntake.objects.update(leased_until=None, asked_at=before)
    expect(live).to_contain_text("No worker has started yet")
    problems["overdue"] = in_all_looks(designer)

    with working():
        expect(designer.locator(".messages")).to_contain_text("4 stories are in, in 2 groups.", timeout=60_000)
    assert designer.url.endswith("/studies/plums/stories/")
    assert {name: looks for name, looks in problems.items() if looks} == {}
    assert Story.objects.filter(study=draft).count() == 6


def test_a_file_of_long_texts_is_examined_elsewhere_and_the_page_shows_it_without_losing_what_is_typed(
    designer: Page, draft: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intakes, "LONG_LETTERS", 3)
    monkeypatch.setattr(jobs, "_send", lambda *_args, **_options: None)
    file = tmp_path / "five-plots.csv"
    file.write_text(CSV, encoding="utf-8")
    designer.goto(f"{designer.url}new/")
    designer.set_input_files("[type=file]", file)
    press(designer, "Go on")
    expect(designer.locator("#job")).to_contain_text("A worker has been asked")
    problems = in_all_looks(designer)

    StudyJob.objects.update(leased_until=timezone.now() + timedelta(minutes=1))
    expect(designer.locator("#job")).to_contain_text("A worker has started.")
    field = designer.get_by_label("Source, where the file names none")
    field.press_sequentially("Half a na")
    StudyJob.objects.update(leased_until=None)
    examinations.carry_out(StudyJob.objects.get().pk)

    expect(designer.get_by_role("button", name="Import 4 stories")).to_be_visible()
    expect(designer.locator("#job")).to_have_count(0)
    expect(designer.locator("#found-groups")).to_contain_text("That makes 2 groups of 2.")
    expect(field).to_have_value("Half a na")
    expect(field).to_be_focused()
    assert problems == {}


def test_a_long_file_that_is_kept_out_comes_back_to_its_columns_and_says_why(
    designer: Page, draft: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intakes, "LONG_ROWS", 3)
    monkeypatch.setattr(intakes, "_send", lambda pk: None)
    file = tmp_path / "five-plots.csv"
    file.write_text(CSV, encoding="utf-8")
    bring_in(designer, file)
    expect(designer.locator("#live")).to_contain_text("A worker has been asked")

    with monkeypatch.context() as patch:
        patch.setattr(construction, "add_stories", lambda *_: 1 // 0)
        intakes.carry_out(StoryIntake.objects.get().pk)

    expect(designer.locator(".error-summary")).to_contain_text("The file is kept.")
    assert not in_all_looks(designer)
    press(designer, "Import 4 stories")
    press(designer, "Stop, and go back to the columns")
    expect(designer.get_by_role("button", name="Import 4 stories")).to_be_visible()
    assert Story.objects.filter(study=draft).count() == 2


def test_a_subset_is_drawn_by_keyboard_and_axe_finds_nothing_before_when_refused_and_when_drawn(
    designer: Page, draft: Study
) -> None:
    designer.get_by_role("link", name="Draw a subset").press("Enter")
    expect(designer.locator("h1")).to_have_text("Draw a subset")
    problems = {"before": in_all_looks(designer)}

    designer.get_by_role("button", name="Show what would be drawn").press("Enter")
    expect(designer.locator(".error-summary")).to_contain_text("Say how many are to be drawn.")
    problems["refused"] = in_all_looks(designer)
    designer.get_by_label("How many stories").fill("1")
    designer.get_by_label("from each stratum").press("Space")
    designer.get_by_label("Strata by", exact=True).select_option("source")
    designer.get_by_role("button", name="Show what would be drawn").press("Enter")
    expect(designer.locator("#draw-h + p")).to_have_text("2 stories of 2.")
    problems["drawn"] = in_all_looks(designer)
    designer.get_by_label("Title of the new study").fill("Two of two")
    designer.get_by_label("Title of the new study").press("Enter")

    expect(designer.locator(".messages")).to_contain_text("2 stories are in this draft.")
    assert {name: looks for name, looks in problems.items() if looks} == {}
    assert Study.objects.get(title="Two of two").stories.count() == 2
