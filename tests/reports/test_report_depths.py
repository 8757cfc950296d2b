"""The report in three depths: a summary, sections, figures with all they have; each rendered once and stored."""

import re
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.models import Rater
from reports import results
from reports.figures import all_figures
from reports.models import Report, ReportFragment
from reports.page import fragments, outline
from reports.page.sections import SECTIONS
from studies.models import Study
from tests.reports import given
from tests.reports.test_pages import full_study, sealed

pytestmark = pytest.mark.django_db
TOKEN = re.compile(r'<input type="hidden" name="csrfmiddlewaretoken"[^>]*>')


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(User.objects.create_user("ann", is_staff=True, is_superuser=True))
    return client


@pytest.fixture
def study() -> Study:
    return full_study()


def read(staff: Client, address: str) -> str:
    answer = staff.get(address)
    assert answer.status_code == 200, address
    return " ".join(unescape(TOKEN.sub("", answer.content.decode())).split())


def stored_outline() -> outline.ReportOutline:
    return outline.ReportOutline.read(ReportFragment.objects.get(name=fragments.OUTLINE).content)


def test_every_figure_stands_in_a_section_that_there_is() -> None:
    assert {figure.section for figure in all_figures().values()} <= SECTIONS.keys()


def test_the_summary_says_who_leads_whether_raters_agree_and_what_was_planned(staff: Client, study: Study) -> None:
    page = read(staff, "/reports/plums/")

    board = page[page.index('class="ruled leaderboard"') :]
    assert board.index("Source 1") < board.index("Source 2"), "70 % of Yes stands above 30 %"
    for words in ("Do raters agree?", "No analysis plan was frozen", "places submitted"):
        assert words in page
    assert "<h2>How far raters agree</h2>" not in page, "what figures have stands on their pages"


def test_every_figure_with_something_to_show_is_reached_from_the_summary_and_from_its_section(
    staff: Client, study: Study
) -> None:
    summary = read(staff, "/reports/plums/")
    shown = stored_outline().shown

    assert len(shown) > 10
    for key in shown:
        figure = all_figures()[key]
        assert f'<a href="figures/{figure.slug}/">' in summary
        section = read(staff, f"/reports/plums/{figure.section}/")
        assert section.count(f'id="{key}"') == 1
        assert f'href="../figures/{figure.slug}/"' in section
        assert f'id="{key}"' in read(staff, f"/reports/plums/figures/{figure.slug}/")


def test_an_address_of_the_report_as_one_page_leads_to_where_the_figure_stands_now(staff: Client, study: Study) -> None:
    """`/reports/plums/#comparisons` was the place of a figure; what has that id on the page now links to the figure, or
    says why there is nothing."""
    page = read(staff, "/reports/plums/")
    shown = stored_outline().shown

    for figure in all_figures().values():
        (place,) = re.findall(rf'<(?:li|div|span) id="{figure.key}"[^>]*>(.*?)</(?:li|div|span)>', page)
        assert ('<a href="figures/' in place) is (figure.key in shown)
        assert str(figure.title) in place


def test_what_has_no_data_is_a_line_with_its_reason_and_no_page(staff: Client, study: Study) -> None:
    page = read(staff, "/reports/plums/")

    silent = page[page.index("What this study has no data for") :]
    assert "Filled texts: ranking" in silent or "Cloze" in silent
    assert staff.get("/reports/plums/figures/cloze-scores/").status_code == 404
    assert staff.get("/reports/plums/cloze/").status_code == 404
    assert staff.get("/reports/plums/figures/nothing/").status_code == 404


def test_a_figure_of_which_every_row_is_refused_is_such_a_line() -> None:
    made = given.closed_study("pears", n_groups=1, n_items=1)
    given.verdicts(made, {"E01": "yn"})
    given.verdicts(made, {"gpt": "yn"}, kind=Rater.Kind.MODEL)
    document = results.read_results(results.compute(made))

    silent = outline.outline(document, document.head).silent

    refused = [key for key, why in silent.items() if why == outline.REFUSED]
    assert refused
    for key in refused:
        figure = all_figures()[key]
        assert outline.is_refused(list(figure.describe(document.figures[key], document.head)))


def test_a_sealed_report_says_what_is_sealed_and_shows_no_source(staff: Client, study: Study) -> None:
    sealed(study)

    page = read(staff, "/reports/plums/")

    assert "so sealed until the study is closed" in page
    for key in stored_outline().sections():
        assert "Canary" not in read(staff, f"/reports/plums/{key}/")
    assert staff.get("/reports/plums/figures/comparisons/").status_code == 404


def test_pages_are_rendered_once_and_the_next_look_reads_no_results(
    staff: Client, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    addresses = ["/reports/plums/", "/reports/plums/sources/", "/reports/plums/figures/comparisons/"]
    first = [read(staff, address) for address in addresses]

    def refuse(*_: Any) -> None:
        raise AssertionError("the results were read once more")

    monkeypatch.setattr(results, "read_report", refuse)
    monkeypatch.setattr(results, "read_results", refuse)

    assert [read(staff, address) for address in addresses] == first


def test_what_other_code_rendered_is_rendered_anew(staff: Client, study: Study) -> None:
    read(staff, "/reports/plums/")
    ReportFragment.objects.update(source_digest="other", content="of another version")

    assert "of another version" not in read(staff, "/reports/plums/")
    assert "Do raters agree?" in ReportFragment.objects.get(name="summary").content


def test_pages_are_rendered_for_each_language(staff: Client, study: Study) -> None:
    english = read(staff, "/reports/plums/")
    portuguese = staff.get("/reports/plums/", headers={"accept-language": "pt-BR"}).content.decode()

    assert "Resumo" in portuguese
    assert "Resumo" not in english
    assert ReportFragment.objects.filter(name="summary").count() == 2


def test_sources_stand_by_score_and_on_request_by_name(staff: Client) -> None:
    made = given.closed_study("plums", n_groups=2, n_items=2)
    given.verdicts(made, {"E01": "nnyynnyy", "E02": "nnyynyyy"})  # the second source is ahead

    by_score = read(staff, "/reports/plums/figures/pass-rates/")
    by_name = read(staff, "/reports/plums/figures/pass-rates/?order=name")

    assert by_score.index(">Source 2<") < by_score.index(">Source 1<")
    assert by_name.index(">Source 1<") < by_name.index(">Source 2<")
    assert staff.get("/reports/plums/sources/?order=length").status_code == 400


def test_a_stored_report_has_the_same_pages(staff: Client, study: Study) -> None:
    now = read(staff, "/reports/plums/agreement/")
    report = Report.objects.get()
    address = f"/reports/plums/by/{report.fingerprint[:12]}/"

    stored = read(staff, f"{address}agreement/")

    content = ReportFragment.objects.get(name="agreement").content
    for page in (now, stored):
        assert " ".join(unescape(content).split()) in page
    assert staff.get(f"{address}figures/comparisons/").status_code == 200
    assert staff.get(f"{address}agreement.csv").status_code == 200


def test_headings_of_a_section_are_the_words_of_the_links_that_lead_to_its_figures(staff: Client, study: Study) -> None:
    page = read(staff, "/reports/plums/sources/")

    for key in stored_outline().shown:
        figure = all_figures()[key]
        if figure.section == "sources" and f'id="{key}-h"' in page:
            assert f'<h2 id="{key}-h"><a class="plain-link" href="../figures/{figure.slug}/">{figure.title}</a>' in page
    assert "<h3>Share of verdicts that were Yes, by test and source</h3>" in page


def test_no_paragraph_of_a_section_stands_there_twice(staff: Client, study: Study) -> None:
    read(staff, "/reports/plums/")

    for key in stored_outline().sections():
        paragraphs = re.findall(r'<p class="says">(.*?)</p>', read(staff, f"/reports/plums/{key}/"))
        assert len(paragraphs) == len(set(paragraphs)), key


def test_the_summary_says_why_nothing_is_sure_and_what_it_takes_to_test_a_judge(staff: Client, study: Study) -> None:
    page = read(staff, "/reports/plums/")

    sure = page[page.index("How sure?") : page.index("No analysis plan was frozen")]
    assert "Answers do not vary within sources, so they cannot tell how sure it is." in sure
    assert "; whether the two differ could not be tested</h1>" in page
    judge = page[page.index("May a judge stand in for an expert?") : page.index("How sure?")]
    assert "Not tested: that takes at least 30 answers of one person, to tests or to scales, where another" in judge


def test_a_report_of_judges_alone_says_that_no_person_has_answered(staff: Client) -> None:
    made = given.closed_study("pears", n_groups=1, n_items=1)
    given.verdicts(made, {"gpt": "yn"}, kind=Rater.Kind.MODEL)

    page = read(staff, "/reports/pears/")

    assert "No person has submitted a group: the answers are those of judges." in page
    assert "<dt>answers of judges</dt><dd>2</dd>" in page


def test_a_leaderboard_of_shares_ends_at_0_and_100(staff: Client) -> None:
    made = given.closed_study("plums", n_groups=2, n_items=2)
    given.verdicts(made, {"E01": "nnyynnyy", "E02": "nnyynyyy"})

    page = read(staff, "/reports/plums/")

    axis = page[page.index("<tfoot") : page.index("</tfoot>")]
    assert all(0 <= float(tick.replace("−", "-")) <= 100 for tick in re.findall(r">([−\d.]+)</text>", axis))
    assert re.findall(r">([−\d.]+)</text>", axis)
