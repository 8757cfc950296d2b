"""Reports of studies as nobody wishes for them: constant items, unknown authors, answers that would break a table."""

import csv
import io
import json
from collections.abc import Iterable

import numpy as np
import openpyxl
import pytest
from django.test import Client
from openpyxl.utils.escape import unescape

from annotation.models import Rater, StepTaken
from annotation.participation import withdrawal
from annotation.responses import Answer
from annotation.responses.imports import Row
from reports import results
from reports.dataset import answers, source_by_story
from reports.export import long_table
from reports.export.spreadsheet import make_harmless
from reports.page.csv import csv_lines
from stats import agreement
from studies.models import Provenance, Step, Study
from tests import triggers
from tests.factories import NOON
from tests.replay import replayed
from tests.reports import given

pytestmark = [pytest.mark.django_db, pytest.mark.services]


def test_a_constant_item_is_left_out_of_the_mean_kappa_and_of_its_interval_and_floor() -> None:
    study = given.closed_study(n_groups=4, n_items=2)
    given.verdicts(study, {"E1": "yyyn" * 4, "E2": "yyyn" * 2 + "ynyy" * 2})

    found = results.compute(study)["agreement"]

    constant, other = found["items"][:2]
    assert (constant["coefficient"]["value"], found["mean"]["coefficient"]["n_left_out"]) == (None, 1)
    assert found["mean"]["coefficient"]["value"] == other["coefficient"]["value"]
    assert found["mean"]["interval"]["low"] < found["mean"]["interval"]["high"]
    assert found["mean"]["floor"]["upper"] == pytest.approx(other["floor"]["upper"], abs=0.15)


def test_an_item_without_answers_is_left_out_of_the_mean_pass_rate_and_of_its_interval() -> None:
    study = given.closed_study(n_groups=4, n_items=2)
    given.verdicts(study, {"E1": "y-n-" * 4, "E2": "y-y-" * 3 + "n-n-"})

    mean = results.compute(study)["pass_rates"]["mean"]["overall"]

    assert mean["value"] == 62.5
    assert mean["interval"]["low"] < 62.5 < mean["interval"]["high"]


def test_the_chance_floor_of_the_mean_is_not_the_mean_of_floors() -> None:
    study = given.closed_study(n_groups=6, n_items=3)
    rng = np.random.default_rng(2)
    told = {f"E{n}": "".join(rng.choice(["y", "n"], 36)) for n in range(3)}
    given.verdicts(study, told)

    found = results.compute(study)["agreement"]

    ratings = np.array([[letter == "y" for letter in letters] for letters in told.values()], dtype=float)
    items = np.moveaxis(ratings.reshape(3, 12, 3), -1, 0)  # letters go through the items of one story after another
    floor = agreement.mean_fleiss_chance_floor(items, rng=np.random.default_rng([study.seed, 1]))
    assert (found["mean"]["floor"]["mean"], found["mean"]["floor"]["upper"]) == pytest.approx(
        (floor.mean, floor.upper), abs=1e-12
    )
    assert found["mean"]["floor"]["upper"] < np.mean([row["floor"]["upper"] for row in found["items"][:3]])


def test_answers_that_do_not_vary_have_wilsons_interval_over_groups_instead_of_100_to_100() -> None:
    study = given.closed_study(n_groups=4)
    given.verdicts(study, {"E1": "y" * 8, "E2": "y" * 8})

    cell = results.compute(study)["pass_rates"]["items"][0]["overall"]

    ends = cell["interval"]
    # 4 of 4, since there are four groups, whatever the number of verdicts.
    assert (cell["value"], cell["n"], round(ends["low"], 1), ends["high"]) == (100, 16, 51.0, 100)
    assert (ends["n_resampled"], ends["method"]) == (4, "wilson")


@pytest.fixture
@replayed
def of_unknown_authors() -> Study:
    """A closed study of all that can be asked, whose stories have no provenance."""
    study = given.closed_study(n_items=2)
    with triggers.lifted():
        Provenance.objects.filter(story__study=study).delete()
    given.verdicts(study, {"E1": "ynynynyn", "E2": "ynynnyny", "E3": "ynynnyny"})
    order = {"plot1": "p1s2 > p1s1", "plot2": "p2s1 > p2s2"}
    given.bring(study, given.orders(study, {"E4": order, "E5": order}) + given.guesses(study, {"E6": {"p1s1": "ai"}}))
    given.verdicts(study, {"gpt": "ynynynyn"}, kind="model")
    return study


def test_stories_whose_author_nobody_knows_are_counted_and_belong_to_no_source(of_unknown_authors: Study) -> None:
    found = results.compute(of_unknown_authors)

    assert {story["source"] for story in found["tests_passed"]["stories"]} == {""}
    assert found["rankings"][0]["concordance"]["value"] == 1
    assert found["rankings"][0]["by_source"] == found["authorship"][0]["by_source"] == []
    assert found["judges"]["compared"][0]["pooled"]["n"] == 8
    assert "NaN" not in json.dumps(found)


def test_a_guess_about_a_story_of_unknown_author_is_neither_right_nor_wrong(of_unknown_authors: Study) -> None:
    found = results.compute(of_unknown_authors)["authorship"][0]

    assert (found["n"], found["n_right"], found["n_right_of_person_or_model"]) == (0, 0, 0)
    assert found["balanced_accuracy"]["value"] is None


def test_results_are_computed_from_what_the_long_file_says() -> None:
    study = given.closed_study(n_groups=3, n_items=2)
    given.verdicts(study, {"E1": "yn-yndy?yn--", "E2": "y" * 12, "E3": "-" * 11 + "n"})
    given.bring(
        study, given.orders(study, {"E4": {"plot1": "p1s2 > p1s1"}}) + given.guesses(study, {"E5": {"p1s1": "ai"}})
    )
    given.verdicts(study, {"gpt": "ynynynyn?d--"}, kind="model")
    withdrawal.withdraw(Rater.objects.get(code="E2"), at=NOON)

    long, table = long_table.frame(study, with_sources=True), answers.table(study, source_by_story(study))

    shared = [name for name in answers.COLUMNS if name in long]
    assert set(answers.COLUMNS) - set(shared) == {"was_given", "assignment"}
    told, said = ([*each[shared].astype(object).fillna("").itertuples(index=False)] for each in (table, long))
    assert told == said
    assert table["was_given"].tolist() == (long["first_answered_at"] != "").tolist()
    assert {"withdrawn", "submitted"} == set(table["status"])


def test_the_table_of_results_has_no_sources_unless_they_may_be_told() -> None:
    study = given.closed_study()
    given.verdicts(study, {"E1": "ynyn"})
    assert set(answers.table(study, source_by_story(study))["source"]) == {"Source 1", "Source 2"}

    assert answers.table(study, {})[["source", "source_kind"]].isna().all(axis=None)


FORMULAS = [
    '=HYPERLINK("http://evil")',
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    "\t=1+1",
    '"=1"',
    "ação, “ok”\r\nsecond line",
    "NA",
    "-4",
]


def test_a_workbook_runs_nothing_that_a_rater_wrote_and_keeps_it_all(admin_client: Client) -> None:
    study = given.closed_study(n_groups=5)
    stories = study.stories.order_by("code").values_list("code", "groups__code")
    said = [Answer(value="yes", rationale=words) for words in FORMULAS]
    rows = [
        Row("t", "E1", group, story, "tests", "item-1", a) for (story, group), a in zip(stories, said, strict=False)
    ]
    given.bring(study, rows)

    def download(ending: str) -> bytes:
        response = admin_client.get(f"/reports/plums/responses_long.{ending}")
        return b"".join(getattr(response, "streaming_content", []))

    exact = list(csv.DictReader(io.StringIO(download("csv").decode(), newline="")))
    header, *cells = openpyxl.load_workbook(io.BytesIO(download("xlsx"))).worksheets[0].iter_rows()

    at = [cell.value for cell in header].index("rationale")
    assert (
        [unescape(row[at].value) for row in cells] == [row["rationale"] for row in exact] == [a.rationale for a in said]
    )
    assert {cell.data_type for row in cells for cell in row} <= {"s", "n"}


def cells(lines: Iterable[str], separator: str) -> list[str]:
    """What a spreadsheet that separates by that sign takes for the cells of the file."""
    return [cell for row in csv.reader(io.StringIO("".join(lines), newline=""), delimiter=separator) for cell in row]


@pytest.mark.parametrize(
    ("said", "separator"),
    [
        ("ok;=1+1", ";"),
        ("ok;-1+2;@SUM(A1)", ";"),
        ('ok;"=1+1"', ";"),
        ("ok\n+1+1", ";"),
        ("ok\r\n=1+1", "\t"),
        ("ok\t=1+1", "\t"),
        (["ok;=1+1"], ";"),
        ({"a": "b;-1+2"}, ";"),
    ],
)
def test_a_spreadsheet_that_separates_by_another_sign_runs_nothing_either(said: object, separator: str) -> None:
    rows = [{"rater": "E1", "said": said, "after": "x"}]
    runs = ("=", "+", "-", "@")

    exact = cells(csv_lines(rows[0], rows), separator)
    safe = cells(map(make_harmless, csv_lines(rows[0], rows)), separator)

    assert [cell for cell in exact if cell.startswith(runs)], "nothing could be run"
    assert not [cell for cell in safe if cell.startswith(runs)]


@pytest.mark.parametrize("said", ["-4", "so-so; well\nthen + there", "p1s2 > p1s1", ["a", "-b"], 3, None])
def test_what_no_spreadsheet_runs_is_left_as_it_is(said: object) -> None:
    row = {"said": said}

    lines = list(csv_lines(row, [row]))

    assert list(map(make_harmless, lines)) == lines


def test_a_failed_check_is_seen_though_no_answer_changed() -> None:
    study = given.closed_study()
    step, rater = Step.objects.get(key="tests"), Rater.objects.create(study=study, code="E1")
    before = results.fingerprint(study)

    StepTaken.objects.create(rater=rater, step=step, attempt=2, wrong=["item-1"])

    assert results.fingerprint(study) != before


def test_a_judge_who_answers_half_is_compared_on_that_half_and_its_silence_is_no_no() -> None:
    study = given.closed_study(n_groups=4)
    given.verdicts(study, {"E1": "ynynynyn", "E2": "ynynynyn", "E3": "ynyyynnn"})
    given.verdicts(study, {"gpt": "yn?d----"}, kind="model")

    judge = results.compute(study)["judges"]["compared"][0]

    assert (judge["pooled"]["n"], judge["pooled"]["kappa"]["value"], judge["pooled"]["yes_percent"]) == (2, 1, 50)
    counts = ("answered", "unreadable", "declined", "missing", "expected", "lost_percent")
    assert [judge["outcomes"][name] for name in counts] == [2, 1, 1, 4, 8, 75]


def test_the_interval_of_a_share_of_right_guesses_is_of_a_share_however_few_the_groups() -> None:
    study = given.closed_study()
    kinds = dict(study.stories.values_list("code", "provenance__source__kind"))
    right = {code: "ai" if kind == "language_model" else "expert" for code, kind in kinds.items()}
    wrong = {code: "expert" if guess == "ai" else "ai" for code, guess in right.items()}
    by_story = {code: (right if code.startswith("p1") else wrong)[code] for code in kinds}
    given.bring(study, given.guesses(study, {"E1": by_story}))

    found = results.compute(study)["authorship"][0]

    assert {kind == "language_model" for kind in kinds.values()} == {True, False}
    assert (found["balanced_accuracy"]["value"], found["interval"]["low"], found["interval"]["high"]) == (0.5, 0, 1)
