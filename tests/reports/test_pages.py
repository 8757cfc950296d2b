"""The pages and files of results: who may see them, what they hold, what they cost."""

import csv
import io
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.models import Assignment, Rater, Timing
from reports import figures, reasons, results
from reports.export import long_table
from reports.page.line_breaks import NO_BREAK
from studies.models import Item, Provenance, Source, Step, Study
from tests import factories, triggers
from tests.factories import NOON
from tests.replay import replayed
from tests.reports import given
from tests.reports.empty_tables import EMPTY

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(User.objects.create_user("ann", is_staff=True, is_superuser=True))
    return client


@pytest.fixture
def study() -> Study:
    return full_study()


@replayed
def full_study(slug: str = "plums", *, n_groups: int = 2) -> Study:
    """A closed study with verdicts, rankings, guesses and a judge: every section of the page has something to show."""
    made = given.closed_study(slug, n_groups=n_groups, n_items=2)
    groups = range(1, n_groups + 1)
    order = {f"plot{g}": f"p{g}s1 > p{g}s2" for g in groups}
    guess = {f"p{g}s{n}": "ai" if n > 1 else "expert" for g in groups for n in (1, 2)}
    for rater, letters in {"E01": "yyny", "E02": "ynnn"}.items():
        given.verdicts(made, {f"{slug}{rater}": letters * n_groups})
        given.bring(made, given.orders(made, {f"{slug}{rater}r": order}))
        given.bring(made, given.guesses(made, {f"{slug}{rater}g": guess}))
    given.verdicts(made, {"gpt": "yydn" * n_groups}, kind=Rater.Kind.MODEL)
    return made


def rows(response: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))


ADDRESSES = [
    "/reports/",
    "/reports/plums/",
    "/reports/plums/figures/all/",
    "/reports/plums/responses_long.csv",
    "/reports/plums/codebook.csv",
    *(f"/reports/plums/{name}.csv" for name in figures.by_table()),
]


@pytest.mark.embedded
def test_a_table_without_rows_is_not_found_with_a_sentence_and_no_link_leads_to_one(
    staff: Client, study: Study
) -> None:
    page = staff.get("/reports/plums/figures/all/").content.decode()
    page += staff.get("/reports/plums/").content.decode()  # where what has no value at all has its files
    links = set(re.findall(r'href="(?:\.\./\.\./|/reports/plums/|)([a-z-]+)\.csv"', page))

    answers = {name: staff.get(f"/reports/plums/{name}.csv") for name in figures.by_table()}

    statuses = {name: answer.status_code for name, answer in answers.items()}
    assert statuses == {name: 404 if name in EMPTY else 200 for name in figures.by_table()}
    assert links & set(figures.by_table()) == set(figures.by_table()) - set(EMPTY)
    sentence = "The report of this study has nothing that would stand in the table “cloze”."
    assert sentence in answers["cloze"].content.decode()


# One of the tables stands for all, which come from one view; tests/trust/matrix.py asks that view as everybody.
ONE_OF_EACH = [*ADDRESSES[:5], "/reports/plums/agreement.csv", "/reports/plums/cloze.csv"]


@pytest.mark.embedded
def test_only_staff_with_a_role_that_sees_it_get_in(client: Client, study: Study) -> None:
    anonymous = [client.get(address) for address in ONE_OF_EACH]
    client.force_login(User.objects.create_user("bob"))
    nobody = [client.get(address) for address in ONE_OF_EACH]
    client.force_login(factories.staff(""))
    of_helper = {client.get(address).status_code for address in ONE_OF_EACH}
    client.force_login(factories.staff("researcher"))
    of_researcher = [client.get(address).status_code for address in ONE_OF_EACH]

    for response in anonymous + nobody:
        assert (response.status_code, response.headers["Location"].split("?")[0]) == (302, "/admin/login/")
    assert of_helper == {403}
    assert of_researcher == [200, 200, 200, 200, 200, 200, 404]  # the last has no rows
    assert {client.get(f"{address}?source=Source").status_code for address in ONE_OF_EACH} == {400}
    assert {client.post(address).status_code for address in ONE_OF_EACH} == {405}


def test_the_page_says_every_section(staff: Client, study: Study) -> None:
    page = staff.get("/reports/plums/figures/all/").content.decode()

    for heading in (
        "Share of verdicts that were Yes, by test and source",
        "Inter-rater agreement",
        "Tests passed by each story",
        "Authorship guesses",
        "Judges on verdicts",
        "Item 1",
    ):
        assert heading in page
    assert "style=" not in page


def test_the_page_gives_the_figures_of_the_results(staff: Client, study: Study) -> None:
    found = results.compute(study)
    page = staff.get("/reports/plums/figures/all/").content.decode()

    for cell in found["pass_rates"]["mean"]["by_source"]:
        assert f"{cell['value']:.1f}" in page
    kappa = f"{found['agreement']['mean']['coefficient']['value']:.2f}".replace("0.", ".").replace("-", "−")
    assert f"<dd>{kappa}</dd>" in " ".join(page.split())


def test_an_interval_without_ends_says_why(staff: Client) -> None:
    made = given.closed_study(n_groups=1, n_items=2)
    given.verdicts(made, {"E1": "yyyn", "E2": "yyyy"})
    cells = results.compute(made)["pass_rates"]["items"][0]["by_source"]
    (code,) = {cell["interval"]["why"]["code"] for cell in cells}
    constant = reasons.SENTENCES[code]

    page = staff.get("/reports/plums/figures/all/").content.decode()

    assert constant.startswith("There are fewer than two clusters")
    assert f'<td class="n off" title="{constant}" lang="en">–</td>' in page


def test_the_note_about_few_groups_stands_though_the_first_item_has_no_interval(staff: Client) -> None:
    made = given.closed_study(n_groups=4, n_items=2)
    given.verdicts(made, {"E1": "yyyn" * 4, "E2": "yyyn" * 2 + "ynyy" * 2})
    first, second = results.compute(made)["agreement"]["items"][:2]
    assert (first["interval"]["low"], "note" in first["interval"]) == (None, False)

    page = staff.get("/reports/plums/figures/all/").content.decode()

    note = second["interval"]["note"]
    assert note.startswith("jackknife interval, leaving out one cluster at a time, over 4 clusters")
    assert f'Interval based on the least data: <span lang="en">{note}</span>' in page


def test_few_stories_are_said_to_be_few_beside_tests_passed(staff: Client) -> None:
    made = given.closed_study(n_groups=3, n_items=2)
    given.verdicts(made, {"E1": "yyynynyyynnn", "E2": "yyyynnnynyyn"})
    passed = results.compute(made)["tests_passed"]["by_source"]

    page = " ".join(staff.get("/reports/plums/figures/all/").content.decode().split())

    assert [row["interval"]["method"] for row in passed] == ["wilson", "t"]
    section = page[page.index('id="tests_passed"') :]
    assert "†</abbr>" in section[: section.index("</section>")]
    assert "interval over 3 clusters" in section[section.index("<aside") : section.index("</aside>")]


def test_texts_from_outside_are_escaped(staff: Client, study: Study) -> None:
    attack = "<script>alert(1)</script>"
    with triggers.lifted():
        Source.objects.filter(name="Source 1").update(name=attack)
        Item._base_manager.update(title=attack)
        Study.objects.update(notice=attack)

    page = staff.get("/reports/plums/figures/all/").content.decode()

    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert attack not in page


@triggers.lifted()
def sealed(study: Study) -> None:
    Source.objects.filter(name="Source 1").update(name="Canary")
    Source.objects.filter(name="Source 2").update(name="Canary two")
    Provenance.objects.update(factors={"tier": "canary"}, title="Canary")
    Study.objects.filter(pk=study.pk).update(state="live", closed_at=None)


# Of these files the study has nothing by source, or they never do: there is nothing to leak.
WITHOUT_SOURCES = {
    *("codebook", "progress", "alternative-annotator", "human-line", "explanations", "variance-components"),
    *("judges", "judges-on-verdicts", "judges-share-of-yes", "judge-biases"),
    *(
        "gwet",
        "intraclass",
        "severity",
        "leave-one-rater-out",
        "item-rest",
        "item-correlations",
        "internal-consistency",
    ),
    *("dawid-skene", "dawid-skene-raters"),
    "strengths",  # where all agree on every order there are none
    *EMPTY,
}


@pytest.mark.embedded
def test_no_source_is_told_while_the_study_is_live(staff: Client, study: Study) -> None:
    addresses = [address for address in ADDRESSES if address != "/reports/"]
    sealed(study)
    Study.objects.update(state="closed", closed_at=NOON)
    closed = {address: b"".join(staff.get(address)).lower() for address in addresses}
    Study.objects.update(state="live")

    with CaptureQueriesContext(connection) as queries:
        live = {address: b"".join(staff.get(address)).lower() for address in addresses}

    silent = {address for address, content in closed.items() if b"canary" not in content}
    assert silent == {f"/reports/plums/{name}.csv" for name in WITHOUT_SOURCES}
    assert not [address for address, content in live.items() if b"canary" in content or b"factor_tier" in content]
    assert not [query for query in queries if "studies_provenance" in query["sql"] or "studies_source" in query["sql"]]


def test_a_live_study_shows_progress_agreement_and_overall_rates(staff: Client, study: Study) -> None:
    sealed(study)

    page = staff.get("/reports/plums/figures/all/").content.decode()

    assert "Sealed until the study is closed" in page
    assert "Inter-rater agreement" in page
    assert "Judges on verdicts" not in page
    assert "Authorship guesses" not in page


def test_notices_stand_at_the_head(staff: Client, study: Study) -> None:
    with triggers.lifted():
        Study.objects.update(notice="Stories of a demonstration.")
    Rater.objects.update(is_simulated=True)

    page = staff.get("/reports/plums/figures/all/").content.decode()

    assert "Stories of a demonstration." in page
    assert "The answers are simulated" in page


def test_an_empty_study_has_a_page(staff: Client) -> None:
    given.closed_study()

    closed = staff.get("/reports/plums/figures/all/").content.decode()
    assert closed.index("The study was closed before anybody had submitted a group.") < closed.index("<h1>")
    draft = factories.study("draft", state="draft", planned=False)
    assert staff.get(f"/reports/{draft.slug}/").status_code == 200


def test_a_report_without_answers_says_so_and_counts_no_zeros(staff: Client, study: Study) -> None:
    said = "Nobody has submitted a group yet."
    full = staff.get("/reports/plums/figures/all/").content.decode()
    factories.study("pears", state=Study.State.LIVE)

    empty = staff.get("/reports/pears/figures/all/").content.decode()
    Assignment.objects.filter(rater__code="plumsE01").update(status="given_up")

    assert said in empty
    assert said not in full
    assert "In no figure below" not in empty
    assert "In no figure below" in staff.get("/reports/plums/figures/all/").content.decode()


def test_unknown_studies_and_tables_are_not_found(staff: Client, study: Study) -> None:
    addresses = ("/reports/pears/", "/reports/pears/responses_long.csv", "/reports/plums/secrets.csv")

    assert [staff.get(address).status_code for address in addresses] == [404, 404, 404]


def test_the_long_file_has_a_row_for_every_response(staff: Client, study: Study) -> None:
    found = rows(staff.get("/reports/plums/responses_long.csv"))

    assert list(found[0])[:21] == [
        *("study", "protocol_version", "protocol_sha256", "rater", "rater_kind", "group", "story", "story_position"),
        *("instrument", "instrument_version", "item", "value", "value_label", "outcome", "rationale"),
        *("first_answered_at", "last_edited_at", "n_edits", "active_seconds", "read_before", "status"),
    ]
    assert len(found) == 2 * 8 + 2 * 2 + 2 * 4 + 8
    verdict = next(r for r in found if r["rater"] == "plumsE01" and r["story"] == "p1s2" and r["item"] == "item-1")
    assert (verdict["value"], verdict["value_label"], verdict["analysed"]) == ("no", "No", "0.0")
    about = ("Source 2", "language_model", "submitted")
    assert (verdict["source"], verdict["source_kind"], verdict["status"]) == about
    ranking = next(r for r in found if r["step"] == "ranking" and r["group"] == "plot1")
    assert (ranking["value"], ranking["value_label"], ranking["story"]) == ('[["p1s1"], ["p1s2"]]', "p1s1 > p1s2", "")
    declined = next(r for r in found if r["outcome"] == "declined")
    assert (declined["rater"], declined["rater_kind"], declined["value"]) == ("gpt", "model", "")


def test_the_codebook_names_every_column_and_every_item(staff: Client, study: Study) -> None:
    found = rows(staff.get("/reports/plums/codebook.csv"))

    header = next(csv.reader(io.StringIO(b"".join(staff.get("/reports/plums/responses_long.csv")).decode())))
    assert [row["name"] for row in found if row["what"] == "column"] == header
    assert [row["name"] for row in found if row["what"].startswith("item")] == [
        "tests/item-1",
        "tests/item-2",
        "ranking/item-1",
        "guess/item-1",
    ]
    assert all(row["meaning"] for row in found)


def test_files_are_read_from_the_database_as_they_go(staff: Client, study: Study) -> None:
    response = staff.get("/reports/plums/responses_long.csv")
    lines = response.streaming_content

    assert isinstance(lines, Iterator)
    first = next(lines)
    assert first.startswith(b"study,protocol_version")


def test_the_numbers_of_a_table_are_unrounded(staff: Client, study: Study) -> None:
    found = rows(staff.get("/reports/plums/agreement.csv"))

    expected = [row["coefficient"]["value"] for row in results.compute(study)["agreement"]["items"]]
    assert [float(row["value"]) if row["value"] else None for row in found] == expected


def n_queries(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as asked:
        response = client.get(address)
        assert response.status_code == 200
        if response.streaming:
            b"".join(response)
    return len(asked)


def test_computing_and_every_page_cost_the_same_for_one_group_as_for_three(staff: Client) -> None:
    of_pages = {"/reports/{}/": 19, "/reports/{}/pass-rates.csv": 19, "/reports/{}/responses_long.csv": 14}
    counts = []
    for slug, n_groups in (("one", 1), ("three", 3)):
        full_study(slug, n_groups=n_groups)
        computing = n_queries(staff, f"/reports/{slug}/")
        counts.append((computing, {page: n_queries(staff, page.format(slug)) for page in of_pages}))

    assert counts == [(94, of_pages), (94, of_pages)]


def test_the_list_costs_the_same_for_one_study_as_for_three(staff: Client) -> None:
    counts = []
    for slug in ("one", "two", "three"):
        full_study(slug, n_groups=1)
        counts.append(n_queries(staff, "/reports/"))

    assert counts == [6, 6, 6]


def test_the_list_says_how_far_each_study_has_come(staff: Client) -> None:
    study = factories.study(n_groups=2, k=3)
    seat = factories.assignment(study)
    Assignment.objects.filter(pk=seat.pk).update(status="submitted")

    page = staff.get("/reports/").content.decode()

    assert '<span class="kept-whole">1 of 6</span>' in page.replace(NO_BREAK, " ")


def test_seconds_of_a_story_stand_beside_its_answers() -> None:
    study = factories.study(n_stories=2, n_items=1)
    seat = factories.assignment(study)
    response = factories.answer(seat)
    step = Step.objects.get(key="tests")
    Timing.objects.create(assignment=seat, step=step, story=response.story, active_seconds=90)
    Assignment.objects.update(status="submitted")

    table = long_table.frame(study, with_sources=False)

    assert list(table["active_seconds"]) == [90]
    assert results.compute(study)["progress"]["median_minutes_per_story"] == 1.5
    assert NOON.isoformat() == table["first_answered_at"][0]
