"""A designer's way from an idea to an invited expert, counted: at most 12 fields, 25 clicks and 8 pages."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from studies.models import Study
from tests import factories
from tests.browser.conftest import press
from tests.browser.designing import ByKeyboard, Designer, WithoutScripts, arrive, walk

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("committed")]
WORD = "a long enough word"
ABOUT_YOU = "What is your work with creative writing?"


@pytest.fixture
def designer(page: Page, live_server: Any) -> Designer:
    """Signed in, with the role and nothing else, before the list of studies."""
    _sign_in(page, live_server.url)
    return Designer(page)


def _sign_in(page: Page, site: str) -> None:
    user = factories.staff("designer")
    user.set_password(WORD)
    user.save()
    page.goto(f"{site}/admin/login/?next=/studies/")
    page.get_by_label("Username").fill(user.username)
    page.get_by_label("Password").fill(WORD)
    press(page, "Log in")
    expect(page.locator("h1")).to_have_text("Studies")


@pytest.mark.parametrize(
    ("template", "n_sources", "plan", "question"),
    [
        ("ttcw", 3, "12 places", ABOUT_YOU),
        ("pds", 3, "20 places", ABOUT_YOU),
        ("pairs", 2, "places", "I should pick the story that uses the most words."),
    ],
)
def test_a_designer_goes_from_a_template_to_an_invited_expert(
    designer: Designer, context: BrowserContext, tmp_path: Path, template: str, n_sources: int, plan: str, question: str
) -> None:
    file = tmp_path / "stories.csv"

    link = walk(designer, begin="Make the first study", template=template, n_sources=n_sources, file=file, plan=plan)

    counts = f"{designer.n_fields} fields, {designer.n_clicks} clicks, {len(designer.pages)} pages"
    print(f"\n{template}: {counts}, loaded {designer.n_loads} times")
    assert designer.n_fields <= 12
    assert designer.n_clicks <= 25
    assert len(designer.pages) <= 8, sorted(designer.pages)
    assert Study.objects.get().is_live
    assert context.browser
    expert = context.browser.new_context(locale="en-GB").new_page()
    arrive(designer, expert, link)
    expect(expert.locator("main").get_by_text(question).first).to_be_visible()
    expert.context.close()


def test_the_whole_way_can_be_gone_by_keyboard_alone(page: Page, live_server: Any, tmp_path: Path) -> None:
    _sign_in(page, live_server.url)
    file = tmp_path / "stories.csv"

    link = walk(
        ByKeyboard(page), begin="Make the first study", template="pds", n_sources=3, file=file, plan="20 places"
    )

    assert link.startswith(live_server.url)
    assert Study.objects.get().is_live


def test_the_whole_way_can_be_gone_without_scripts(chromium: Browser, live_server: Any, tmp_path: Path) -> None:
    context = chromium.new_context(java_script_enabled=False, locale="en-GB")
    page = context.new_page()
    _sign_in(page, live_server.url)
    file = tmp_path / "stories.csv"

    link = walk(
        WithoutScripts(page), begin="Make the first study", template="pds", n_sources=3, file=file, plan="20 places"
    )

    assert link.startswith(live_server.url)
    assert Study.objects.get().is_live
    context.close()
