"""The rail beside every page of a study: what is open in it, where the report is, and what its marks say."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from studies.models import Study
from studies.templatetags import study_shell
from tests import factories
from tests.studies.test_study_pages import RAIL, member, page, rail

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return factories.study(planned=False)


@pytest.mark.parametrize(
    ("state", "part", "open_sections"),
    [
        ("draft", "", ["Make"]),
        ("draft", "people/", ["Run"]),
        ("live", "", ["Run"]),
        ("live", "steps/", ["Make"]),
        ("paused", "runs/", ["Judge"]),
        ("closed", "", ["Read"]),
        ("closed", "stories/", ["Make"]),
    ],
)
def test_the_rail_opens_at_the_page_or_else_at_the_state_of_the_study(
    client: Client, study: Study, state: str, part: str, open_sections: list[str]
) -> None:
    root = User.objects.create_superuser("root")
    Study.objects.update(state=state)

    html = RAIL.findall(page(client, root, f"/studies/plums/{part}"))[0]

    assert re.findall(r'class="rail-name">(\w+)', html) == ["Make", "Run", "Judge", "Read"]
    assert re.findall(r'<details class="rail-section" open>\s*<summary class="rail-name">(\w+)', html) == open_sections


def test_the_report_of_a_closed_study_stands_beside_its_overview(client: Client, study: Study) -> None:
    root = User.objects.create_superuser("root")
    titles_while_live = rail(page(client, root, "/studies/plums/"))
    Study.objects.update(state=Study.State.CLOSED)

    html = page(client, root, "/studies/plums/steps/")

    assert titles_while_live[-4:] == ["Report", "Reasons", "Exports", "Methods"]
    assert rail(html)[:2] == ["Overview", "Report"]
    assert rail(html).count("Report") == 1
    assert '<a class="rail-report" href="/reports/plums/">Report</a>' in html  # beside a folded rail


def test_who_may_not_see_reports_has_none_beside_the_overview(client: Client, study: Study) -> None:
    Study.objects.update(state=Study.State.CLOSED)

    html = page(client, member(study, "steward"), "/studies/plums/access/")

    assert "Report" not in rail(html)
    assert "rail-report" not in html


def test_the_rail_of_a_draft_says_in_words_how_its_parts_stand(client: Client) -> None:
    factories.study(state=Study.State.DRAFT, planned=False)
    Study.objects.get().groups.all().delete()

    parts = RAIL.findall(page(client, User.objects.create_superuser("root"), "/studies/plums/"))[0]

    assert "(blocks the launch)" in parts
    assert "(in order)" in parts


def test_a_mark_says_what_its_number_counts() -> None:
    mark = study_shell.PartMark("warning", ("two texts are alike", "typing differs by source"))

    assert (mark.sign, mark.label) == ("2", "2 warnings, which block nothing")
    assert mark.title.splitlines() == [
        "2 warnings, which block nothing",
        "– Two texts are alike",
        "– Typing differs by source",
    ]


def test_every_page_whose_rail_has_marks_has_the_style_of_marks() -> None:
    """Marks are drawn by designer.css, which base_designer.html brings along."""
    templates = Path(settings.BASE_DIR, "templates")
    part_by_file = {
        file: part
        for file in templates.rglob("*.html")
        for part in re.findall(r'{% study_rail "(\w+)" %}', file.read_text(encoding="utf-8"))
    }
    marked = {file for file, part in part_by_file.items() if part in study_shell.MARKED_PAGES}

    has_base = re.compile(r'extends "(base_designer|studies/incoming_table).html"')  # the second extends the first
    plain = {file.name for file in marked if not has_base.search(file.read_text(encoding="utf-8"))}

    assert len(marked) > 8
    assert plain == set()
