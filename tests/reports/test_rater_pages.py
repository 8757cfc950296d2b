"""The list of raters and the page of one: questions to ask, from what the report says, under codes, sealed."""

import re
from dataclasses import replace

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from annotation.models import Rater, StepTaken
from annotation.participation.withdrawal import withdraw
from reports import results
from reports.figures.raters.pace import PaceResult, RaterPace
from reports.figures.raters.questions import RaterQuestionsResult
from reports.models import Report
from reports.page.rater_numbers import RaterFigures
from studies.models import Source, Step, Story, Study
from tests import factories, triggers
from tests.annotation import arriving
from tests.factories import NOON
from tests.reports import given
from tests.reports.figures.test_panel import timed
from tests.reports.test_story_pages import as_role, n_queries, read, words_of

pytestmark = pytest.mark.django_db
LIST = "/reports/plums/rater-list/"


def address(study: Study, code: str) -> str:
    return f"/reports/{study.slug}/rater/{study.raters.get(code=code).pk}/"


@pytest.fixture
def study() -> Study:
    """Three people on four stories; E3 reads far faster, and says Yes to everything."""
    study = given.closed_study(n_groups=2)
    given.verdicts(study, {"E1": "ynyn", "E2": "ynnn", "E3": "yyyy"})
    with triggers.lifted():
        Story.objects.update(n_words=1000)
    timed(study, {"E1": [10, 10, 12, 12], "E2": [8, 10, 12, 14], "E3": [1, 2, 2, 0]})
    return study


# ── one rater ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_pace_severity_and_agreement_stand_beside_the_others(client: Client, study: Study) -> None:
    page = read(as_role(client, "coordinator"), address(study, "E3"))

    assert "Minutes a story, median 2.0 11.0" in page
    assert "Stories without active time 1 – – 4 stories" in page
    # E3 says Yes to all, the others to half and to a quarter of the same stories.
    (block,) = results.read_results(results.compute(study)).figures["panel"].blocks
    (row,) = [row for row in block.raters if row.rater == "E3"]
    assert row.value == 62.5
    assert "percent Yes less the others’" in page
    assert " 62.5 0 " in page
    assert "Agreement without this rater" in page


def test_what_is_drawn_is_read_out_under_the_headings_of_its_columns(client: Client, study: Study) -> None:
    page = as_role(client, "coordinator").get(address(study, "E3")).content.decode()

    labels = re.findall(r'role="img" aria-label="([^"]*)"', page)
    assert "This rater: 2.0; Median of raters: 11.0" in labels
    assert "This rater: 62.5; The others: 0" in labels
    assert any(re.fullmatch(r"Without this rater: \S+; With all: \S+", label) for label in labels)


def test_what_stands_out_is_a_question_and_no_verdict(client: Client, study: Study) -> None:
    as_role(client, "coordinator")

    fast, calm = read(client, address(study, "E3")), read(client, address(study, "E1"))

    assert "More than 400 words of story a minute, answers included: read in full, or elsewhere?" in fast
    assert "Questions to ask, never verdicts: nothing here leaves anybody out." in fast
    assert "Nothing stands out to ask this rater about." in calm
    assert "With fewer than 5 raters, nobody is compared with the others" in calm


def test_one_answer_throughout_is_asked_about_where_there_are_raters_enough(client: Client) -> None:
    study = given.closed_study(n_groups=5, n_stories=4)
    letters = ["ynyn" * 5, "yyny" * 5, "nyny" * 5, "ynny" * 5, "nnyy" * 5, "yyyn" * 5]
    given.verdicts(study, {f"E{n}": of_rater for n, of_rater in enumerate(letters)} | {"E9": "n" * 20})
    as_role(client, "coordinator")

    page = read(client, address(study, "E9"))

    questions = results.compute(study)["rater_questions"]
    assert [row["rater"] for row in questions["rows"]] == ["E9"] * len(questions["rows"])
    assert "No to all 20 questions on 20 stories, where others vary; was that meant?" in page
    assert "One answer throughout: to ask about" in page
    assert "Severity:" not in page
    others = (
        "One answer throughout: nothing stands out; Severity: nothing stands out; Distance from the others: nothing"
    )
    assert others in read(client, address(study, "E1"))


def test_only_what_a_rater_was_compared_in_is_said_not_to_stand_out(client: Client) -> None:
    study = given.closed_study(n_groups=5, n_stories=2)
    letters = ["ynyn" * 2 + "yn", "yyny" * 2 + "yn", "nyny" * 2 + "ny", "ynny" * 2 + "yy", "nnyy" * 2 + "yn"]
    given.verdicts(study, {f"E{n}": of_rater for n, of_rater in enumerate(letters)} | {"E9": "ynyn------"})
    as_role(client, "coordinator")

    untimed, hardly = read(client, address(study, "E1")), read(client, address(study, "E9"))

    assert "Severity: nothing stands out" in untimed
    assert "Minutes a story: nothing stands out" not in untimed
    assert "nothing stands out;" not in hardly
    assert "Not compared with the other raters: there are too few stories or raters to compare." in hardly


def test_of_pairs_and_choices_only_pace_is_compared() -> None:
    row = RaterPace(
        rater="E0", n_stories=5, n_untimed=0, median_minutes=4.0, words_read=200.0, words_written=None, questions=()
    )
    paces = [replace(row, rater=f"E{n}") for n in range(5)] + [replace(row, rater="E9", n_untimed=1)]
    pace = PaceResult(median_minutes=4.0, raters=tuple(paces), places=())
    questions = RaterQuestionsResult(n_raters=6, n_tests=1, rows=())
    figures = RaterFigures(pace, None, None, questions, has_few_raters=False)

    assert figures.looked_for("E0") == [("Minutes a story", "nothing stands out")]
    assert figures.looked_for("E9") == []


def test_raters_are_too_few_only_where_the_report_says_so() -> None:
    few, older = (RaterFigures.of(Report(result=document)) for document in ({"rater_questions": None}, {}))

    assert few.say_why_not_compared("E1").startswith("With fewer than 5 raters")
    assert older.say_why_not_compared("E1") == "This report was made before raters were compared with each other."


def test_answers_given_twice_stand_beside_those_of_all(client: Client) -> None:
    study = given.closed_study()
    given.verdicts(study, {"E1": "ynyy", "E2": "ynny"})
    with triggers.lifted():
        Story.objects.filter(code__in=["p1s1", "p2s1"]).update(sha256="0" * 64)

    page = read(as_role(client, "coordinator"), address(study, "E1"))

    assert "What was read twice" in page
    assert "100 50 – 1 answer" in page


def test_failed_checks_and_missing_answers_are_told(client: Client, study: Study) -> None:
    rater = study.raters.get(code="E1")
    step = Step.objects.get(version__study=study, key="tests")
    for attempt in (1, 2):
        StepTaken.objects.create(rater=rater, step=step, attempt=attempt, wrong=["item-1"])
    for attempt, wrong in ((1, ["item-1"]), (2, [])):
        StepTaken.objects.create(rater=study.raters.get(code="E2"), step=step, attempt=attempt, wrong=wrong)
    as_role(client, "coordinator")
    assert "Check questions" not in read(client, address(study, "E3")), "the study asks none"
    StepTaken.objects.create(rater=study.raters.get(code="E3"), step=step, attempt=1, wrong=["item-1"])

    failed, passed, begun = (read(client, address(study, code)) for code in ("E1", "E2", "E3"))

    assert "The tests : not passed, in 2 attempts. Was a question of it unclear?" in failed
    assert "The tests : passed after 1 attempt with a wrong answer." in passed
    assert "The tests : not finished: 1 attempt with a wrong answer so far." in begun
    # Two tests, an order and two guesses are asked of each group; two answers were brought in.
    assert "plot1 submitted 2 of 5 0 3" in failed


def test_that_no_check_was_failed_is_said_where_the_study_has_one(client: Client) -> None:
    study = arriving.check(client).study
    factories.rater(study, "X1")

    page = read(as_role(client, "coordinator"), address(study, "X1"))

    assert "No check question was answered wrongly." in page


def test_of_one_who_withdrew_nothing_is_told(client: Client, study: Study) -> None:
    withdraw(Rater.objects.get(code="E3"), at=NOON)
    as_role(client, "coordinator")

    page, whole = read(client, address(study, "E3")), read(client, LIST)

    assert "This rater has withdrawn. What they said is erased" in page
    assert "Beside the other raters" not in page
    assert "E3 withdrawn – – –" in whole


def test_a_rater_without_an_answer_and_one_alone_have_a_page(client: Client) -> None:
    study = factories.study(n_stories=3)
    factories.assignment(study)
    as_role(client, "coordinator")

    page = read(client, address(study, "E01"))

    assert "There is nothing to compare yet" in page
    assert "plot1 at 1 of 3" in page


# ── who sees what ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_whoever_may_see_the_report_gets_in_and_sees_codes_only(client: Client, study: Study) -> None:
    urls = [LIST, address(study, "E1")]
    assert {client.get(url).status_code for url in urls} == {302}
    for role, status in {"designer": 200, "coordinator": 200, "researcher": 200, "steward": 403, "": 403}.items():
        as_role(client, role)
        assert {client.get(url).status_code for url in urls} == {status}, role


def test_places_and_checks_are_for_whoever_may_see_places(client: Client, study: Study) -> None:
    step = Step.objects.get(version__study=study, key="tests")
    StepTaken.objects.create(rater=study.raters.get(code="E1"), step=step, attempt=1, wrong=["item-1"])

    reader = factories.staff("")
    reader.user_permissions.set(Permission.objects.filter(codename="view_report"))

    for user, sees_places in ((factories.staff("coordinator"), True), (reader, False)):
        client.force_login(user)
        page = read(client, address(study, "E1"))
        assert "Beside the other raters" in page
        for words in ("Check questions", "attempt with a wrong answer", "Groups, and missing answers"):
            assert (words in page) == sees_places, (user, words)


def test_judges_and_raters_of_another_study_have_no_such_page(client: Client, study: Study) -> None:
    given.verdicts(study, {"gpt": "yyyy"}, kind=Rater.Kind.MODEL)
    other = factories.rater(factories.study("pears"))
    as_role(client, "coordinator")

    assert client.get(address(study, "gpt")).status_code == 404
    assert client.get(f"/reports/plums/rater/{other.pk}/").status_code == 404
    assert "gpt" not in read(client, LIST)


@pytest.mark.parametrize("role", ["coordinator", "researcher"])
def test_of_a_live_study_the_page_tells_nothing_by_source(client: Client, study: Study, role: str) -> None:
    with triggers.lifted():
        Source.objects.filter(name="Source 1").update(name="Canary")
    Study.objects.filter(pk=study.pk).update(state="live")
    as_role(client, role)

    pages = [client.get(url).content.decode() for url in (LIST, address(study, "E3"))]

    assert not [page for page in pages if "Canary" in page]
    assert "Blind: over all sources together, of what was submitted so far." in words_of(pages[1])
    assert "Minutes a story, median 2.0 11.0" in words_of(pages[1])


# ── ways to it, and what it costs ──────────────────────────────────────────────────────────────────────────────────


def test_monitor_and_report_lead_to_the_raters(client: Client, study: Study) -> None:
    as_role(client, "coordinator")

    monitor = client.get("/studies/plums/monitor/").content.decode()

    assert f'href="{address(study, "E1")}"' in monitor
    for page in ("raters/", "figures/panel/", "figures/pace/"):
        assert f'href="{LIST}"' in client.get(f"/reports/plums/{page}").content.decode()


def test_a_long_list_comes_in_pages(client: Client, study: Study) -> None:
    Rater.objects.bulk_create(Rater(study=study, code=f"F{n:03}") for n in range(60))
    as_role(client, "coordinator")

    pages = [client.get(LIST, {"page": n}).content.decode() for n in (1, 2)]

    assert [len(re.findall(r"/reports/plums/rater/\d+/", page)) for page in pages] == [50, 13]


def test_pages_cost_the_same_few_queries_for_few_and_many_raters_and_items(client: Client) -> None:
    as_role(client, "coordinator")
    few, many = given.closed_study(n_items=2), given.closed_study("pears", n_groups=3, n_stories=4, n_items=9)
    given.verdicts(few, {"E01": "y" * 8})
    given.verdicts(many, {f"F{n:02}": "yn" * 54 for n in range(40)})

    counts = {
        study.slug: [n_queries(client, url) for url in (f"/reports/{study.slug}/rater-list/", address(study, code))]
        for study, code in ((few, "E01"), (many, "F07"))
    }

    assert counts == {"plums": [23, 32], "pears": [23, 32]}
