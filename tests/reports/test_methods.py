"""What a paper says of a study: paragraph, LaTeX, citation; and stored reports at their permanent address."""

import re
from datetime import timedelta
from urllib.parse import urljoin

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.models import Withdrawal
from annotation.responses import submission
from judges.models import Judge
from reports import results
from reports.methods import changes
from reports.methods.citation import Citation, quire_version
from reports.methods.paragraph import write_paragraphs
from reports.methods.sampled_units import find_sampled
from reports.models import Report
from studies.models import Source, StoryGroup, Study, Subset
from tests import factories, triggers
from tests.factories import NOON
from tests.reports import composed, given
from tests.reports.test_pages import full_study

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


@pytest.fixture
def study() -> Study:
    return full_study()


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(factories.staff("researcher"))
    return client


def stored(study: Study, **options: bool) -> Report:
    return results.ensure_report(study, at=NOON, by="ann", **options)


def text_of(study: Study, report: Report) -> str:
    shown = results.read_results(report.result)
    paragraphs = write_paragraphs(study, shown, report, find_sampled(study, shown))
    return "\n".join(paragraph.text for paragraph in paragraphs)


# ── the paragraph ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_numbers_of_the_paragraph_are_those_of_the_results(study: Study) -> None:
    report = stored(study)
    progress, agreement = report.result["progress"], report.result["agreement"]

    text = text_of(study, report)

    assert f"{progress['n_raters']} raters read {progress['n_stories']} stories" in text
    assert f"among {report.result['pass_rates']['n_verdicts']} verdicts" in text
    assert f"drew {agreement['n_resamples']:,} times from the seed {agreement['seed']}" in text
    assert report.result["study"]["protocol"]["sha256"] in text
    assert f"report {report.fingerprint[:12]}" in text
    assert re.search(r"numpy \d+\.\d+\.\d+.* and ", text)


@pytest.mark.parametrize(("premise", "is_said"), [("", True), ("One for all.", False)])
def test_differences_are_said_to_hold_for_these_premises_where_sources_meet_on_several(
    premise: str, is_said: bool
) -> None:
    study = composed.plant().study
    if premise:
        with triggers.lifted():
            StoryGroup.objects.update(premise=premise)

    text = text_of(study, stored(study))

    assert ("differences hold for these alone" in text) == is_said
    assert ("all on one prompt, so that nothing is said of other prompts" in text) == (not is_said)


def test_a_sentence_that_does_not_hold_is_not_there(study: Study) -> None:
    one = text_of(study, stored(study))
    empty = given.closed_study("pears")

    other = text_of(empty, stored(empty))

    assert "Kendall’s W" in one
    assert "Judges were compared" in one
    assert not [words for words in ("Kendall", "Judges were", "kappa", "Pass rates are") if words in other]


def test_the_order_of_reading_is_said_where_it_is_known_and_of_what_was_brought_in_that_it_is_not() -> None:
    planned, brought = factories.study("planned", n_stories=2, k=1), given.closed_study("brought", n_groups=1)
    assignment = factories.assignment(planned)
    factories.answer_all(assignment)
    submission.submit(assignment, at=NOON)
    given.verdicts(brought, {"E01": "yn"})

    of_planned, of_brought = text_of(planned, stored(planned)), text_of(brought, stored(brought))

    known, unknown = "were counterbalanced by Williams squares", "brought in is not known"
    assert (known in of_planned, unknown in of_planned) == (True, False)
    assert (known in of_brought, unknown in of_brought) == (False, True)
    assert of_brought.startswith("1 rater read 2 stories in 1 group. Each")


@pytest.mark.parametrize(("n_items", "is_said"), [(1, False), (2, True)])
def test_benjamini_and_hochberg_are_named_only_where_single_tests_are_corrected(n_items: int, is_said: bool) -> None:
    study = given.closed_study("tests", n_groups=3, n_items=n_items)
    given.verdicts(study, {"E01": "ynynnnyyynyy"[: 6 * n_items], "E02": "yyynynnyyynn"[: 6 * n_items]})

    text = text_of(study, stored(study))

    assert "adjusted by Holm over the outcomes" in text
    assert ("Hochberg" in text) is is_said


def test_judges_stand_with_what_answered_for_them(study: Study) -> None:
    text = text_of(study, stored(study))

    assert "The answers of the judge gpt were imported." in text


def test_a_sealed_paragraph_names_no_source(study: Study) -> None:
    with triggers.lifted():
        Source.objects.filter(name="Source 1").update(name="Canary")
    assert "Canary" in text_of(study, stored(study))

    assert "Canary" not in text_of(study, stored(study, blind=True))


def test_how_stories_were_drawn_is_said_seed_and_strata_only_where_sources_are(study: Study) -> None:
    strata = [{"parts": [name], "n_there": 50, "n_asked": 2, "n_taken": 2} for name in ("a", "b")]
    Subset.objects.create(
        study=study, original="all", title="All", seed=5, n=2, is_each=True, criteria=["source"], strata=strata
    )
    drawn = "4 stories were drawn from the 100 of “All”"

    opened, sealed = text_of(study, stored(study)), text_of(study, stored(study, blind=True))

    assert f"{drawn} with the seed 5. They were drawn in 2 strata by source, 2 from each." in opened
    assert f"{drawn}." in sealed
    assert "strata" not in sealed


# ── pages ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_page_of_methods_has_paragraph_tables_citation_and_history(staff: Client, study: Study) -> None:
    page = staff.get("/reports/plums/methods/").content.decode()
    report = Report.objects.get()

    for words in ("Methods paragraph", "Tables for LaTeX", "Cite this", "Report history", r"\begin{tabular}"):
        assert words in page
    links = set(re.findall(r'href="(/reports/plums/[^"#]+)"', page))
    assert f"/reports/plums/by/{report.fingerprint[:12]}/" in links
    assert {staff.get(link).status_code for link in links} == {200}
    assert {link.rsplit("/", 1)[1] for link in links if link.endswith(".tex")} == {
        *("methods.tex", "items-by-source.tex", "agreement.tex", "differences.tex")
    }


def test_what_a_paper_says_is_read_from_the_results_once(
    staff: Client, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = staff.get("/reports/plums/methods/").content.decode()
    monkeypatch.setattr("reports.views.methods.read_stored", lambda report: pytest.fail("The results are read."))

    second = staff.get("/reports/plums/methods/").content.decode()

    assert r"\begin{tabular}" in first
    assert r"\begin{tabular}" in second


def test_a_judge_that_is_described_later_is_described_in_what_was_stored_before(staff: Client, study: Study) -> None:
    before = staff.get("/reports/plums/methods/").content.decode()
    Judge.objects.create(slug="gpt", metric="ttr", metric_version="1")

    after = staff.get("/reports/plums/methods/").content.decode()

    assert "The answers of the judge gpt were imported." in before
    assert "gpt is the metric ttr, version 1." in after
    assert Report.objects.count() == 1


def test_a_long_table_is_not_shown_but_led_to(staff: Client, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reports.methods.tables.MOST_SHOWN", 10)

    page = staff.get("/reports/plums/methods/").content.decode()

    assert "/reports/plums/agreement.tex" in page
    assert "begin{tabular}" not in page


def test_the_citation_names_study_organiser_date_fingerprint_address_and_version() -> None:
    citation = Citation("Art & artifice.", "Us", NOON, "f" * 64, "https://example.org/r/", "0.1.0")

    assert citation.plain == (
        f"Us. Art & artifice ({NOON.year}). Report ffffffffffff, computed {NOON:%Y-%m-%d} with Quire 0.1.0. "
        "https://example.org/r/"
    )
    assert citation.bibtex.splitlines() == [
        "@misc{quire-ffffffffffff,",
        "  author = {{Us}},",
        r"  title = {{Art \& artifice.}},",
        f"  year = {{{NOON.year}}},",
        r"  howpublished = {\url{https://example.org/r/}},",
        f"  note = {{Report {'f' * 64}, computed {NOON:%Y-%m-%d} with Quire 0.1.0}},",
        "}",
    ]
    assert re.fullmatch(r"\d+\.\d+\.\d+", quire_version())


# ── at the permanent address ───────────────────────────────────────────────────────────────────────────────────────


def test_a_stored_report_stays_though_the_answers_change(staff: Client, study: Study) -> None:
    report = stored(study)
    address = f"/reports/plums/by/{report.fingerprint[:12]}/"
    pages = (address, f"{address}figures/pass-rates/")
    before = "".join(staff.get(page).content.decode() for page in pages)
    rate = f"{report.result['pass_rates']['mean']['by_source'][0]['value']:.1f}"
    Withdrawal.objects.create(rater=study.raters.filter(kind="person").first())

    after = "".join(staff.get(page).content.decode() for page in pages)

    assert rate in before
    assert rate in after
    assert "Since then" not in before
    assert "Since then 1 rater has withdrawn" in after
    assert staff.get(f"/reports/plums/by/{report.fingerprint}/").status_code == 200


def test_its_files_are_those_of_the_stored_report(staff: Client, study: Study) -> None:
    report = stored(study)
    address = f"/reports/plums/by/{report.fingerprint[:12]}/"
    whole = f"{address}figures/all/"
    page = staff.get(whole).content.decode()

    files = {urljoin(whole, link) for link in re.findall(r'href="(\.\.[^"]+\.(?:csv|svg|png))"', page)}

    assert {file.rsplit(".", 1)[1] for file in files} == {"csv", "svg", "png"}
    assert [file for file in files if not file.startswith(address)] == []
    assert {staff.get(file).status_code for file in files} == {200}


def test_a_report_is_kept_by_the_button_and_by_no_look_at_it(staff: Client, study: Study) -> None:
    report = stored(study)
    address = f"/reports/plums/by/{report.fingerprint[:12]}/"
    of_now = [f"/reports/plums/{name}" for name in ("", "methods/", "methods.txt")]
    looks = [*of_now, address, f"{address}pass-rates.csv"]
    statuses = [staff.get(look).status_code for look in looks]
    is_kept_by_looks = Report.objects.get().is_kept
    (action,) = re.findall(r'method="post" action="(/reports/[^"]+)"', staff.get("/reports/plums/").content.decode())

    page = staff.post(action, follow=True).content.decode()

    assert statuses == [200] * 5
    assert not is_kept_by_looks
    assert Report.objects.get().is_kept
    assert "This report is kept" in page
    assert "Keep this report" not in page


def test_every_figure_of_the_page_can_be_linked_to_for_good(staff: Client, study: Study) -> None:
    page = staff.get("/reports/plums/figures/all/").content.decode()
    links = set(re.findall(r'href="(/reports/plums/by/\w{12}/figures/([\w-]+)/)"', page))

    assert len(links) > 5
    for address, slug in links:
        key = slug.replace("-", "_")
        assert page.count(f'id="{key}"') == 1
        assert staff.get(address).content.decode().count(f'id="{key}"') == 1


def test_what_changed_since_the_report_before_is_listed(staff: Client) -> None:
    made = given.closed_study(n_groups=3, n_items=2)
    given.verdicts(made, {"E1": "yyynynyyynnn", "E2": "yyyynnnynyyn"})
    first = stored(made)
    given.verdicts(made, {"E3": "nnnnnnnnnnnn"})
    second = results.ensure_report(made, at=NOON + timedelta(hours=1), by="ann")
    old, new = (results.read_results(report.result) for report in (first, second))

    found = {change.words: change for change in changes.compare(old, new)}
    page = staff.get(f"/reports/plums/by/{second.fingerprint[:12]}/").content.decode()

    assert changes.previous(second) == first
    assert changes.previous(first) is None
    n_moved = re.match(r"(\d+) values of (\d+) moved", found["Pass rates"].after)
    assert n_moved is not None
    assert 0 < int(n_moved[1]) <= int(n_moved[2])
    assert f"/reports/plums/by/{first.fingerprint[:12]}/" in page
    assert found["Pass rates"].after in page
    assert list(changes.compare(new, new)) == []


def test_a_report_with_sources_opens_for_nobody_who_may_not_see_them(client: Client, study: Study) -> None:
    open_, blind = stored(study), stored(study, blind=True)
    addresses = [
        f"/reports/plums/by/{report.fingerprint[:12]}/{file}"
        for report in (open_, blind)
        for file in ("", "pass-rates.csv", "pass-rates.svg", "pass-rates.png")
    ]
    client.force_login(factories.staff("coordinator"))
    of_coordinator = [client.get(address).status_code for address in addresses]
    history = client.get("/reports/plums/methods/").content.decode()
    client.force_login(factories.staff("researcher"))
    of_researcher = [client.get(address).status_code for address in addresses]
    Study.objects.update(state="live", closed_at=None)
    while_live = [client.get(address).status_code for address in addresses]

    assert of_coordinator == [404] * 4 + [200] * 4
    assert open_.fingerprint[:12] not in history
    assert blind.fingerprint[:12] in history
    assert of_researcher == [200] * 8
    assert while_live == [404] * 4 + [200] * 4


def test_an_address_that_names_no_report_or_two_is_not_found(staff: Client, study: Study) -> None:
    report = stored(study)
    Report.objects.create(
        study=study, fingerprint=report.fingerprint[:10] + "0" * 54, result=report.result, made_at=NOON, made_by="ann"
    )
    addresses = [report.fingerprint[:4], report.fingerprint[:10], "0" * 64, "nowhere-at-all", report.fingerprint]

    answers = [staff.get(f"/reports/plums/by/{address}/").status_code for address in addresses]

    assert answers == [404, 404, 404, 404, 200]


def test_a_report_of_another_version_is_not_found(staff: Client, study: Study) -> None:
    report = Report.objects.create(
        study=study, fingerprint="e" * 64, result={"is_sealed": False, "of": "old"}, made_at=NOON, made_by="ann"
    )

    assert staff.get(f"/reports/plums/by/{report.fingerprint}/").status_code == 404


@pytest.mark.parametrize(("address", "n"), [("/reports/{}/methods/", 28), ("/reports/{}/by/{}/", 10)])
def test_a_page_costs_the_same_for_one_group_as_for_three(staff: Client, address: str, n: int) -> None:
    counts = []
    for slug, n_groups in (("one", 1), ("three", 3)):
        report = stored(full_study(slug, n_groups=n_groups))
        where = address.format(slug, report.fingerprint)
        staff.get(where)
        with CaptureQueriesContext(connection) as asked:
            assert staff.get(where).status_code == 200
        counts.append(len(asked))

    assert counts == [n, n]
