"""How sure judges are: the share of Yes of a judge's repeats beside the experts', and where judges are of two minds."""

import pytest

from reports.dataset import Dataset
from reports.figures.base import NO_HEAD, Listing
from reports.figures.judges.calibration import Calibration, JudgesCalibration
from reports.figures.judges.doubtful import DoubtfulVerdicts
from studies.models import Study
from tests.replay import replayed
from tests.reports import given, planted
from tests.reports.judge_readings import read, start_run

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

# By story of every group: what four experts say, and what the judge says when it is asked four times.
EXPERTS = {1: "yyyy", 2: "yynn"}
JUDGE = {1: "yyyn", 2: "nnnn"}


@pytest.fixture
@replayed
def study() -> Study:
    return planted.empty_study()


def plant(study: Study, *, n_repeats: int = 4) -> None:
    given.bring(
        study,
        [
            given.Row("test", f"E{n}", f"plot{g:02}", f"p{g:02}s{at}", "tests", "item-1", given.ANSWERS[letter])
            for g in range(1, planted.N_GROUPS + 1)
            for at, letters in EXPERTS.items()
            for n, letter in enumerate(letters)
        ],
    )
    run = start_run(study, "judge")
    for g in range(1, planted.N_GROUPS + 1):
        for repeat in range(n_repeats):
            verdicts = {at: "yes" if letters[repeat] == "y" else "no" for at, letters in JUDGE.items()}
            answers = {("tests", "item-1", f"p{g:02}s{at}"): verdict for at, verdict in verdicts.items()}
            read(run, f"plot{g:02}", answers, repeat=repeat + 1)


def calibrations(study: Study) -> tuple[Calibration, ...]:
    return JudgesCalibration().compute(Dataset.of(study)).rows


def test_by_how_often_the_judge_says_yes_stands_how_many_of_the_experts_do(study: Study) -> None:
    plant(study)

    (row,) = calibrations(study)

    n = planted.N_GROUPS
    levels = [(level.level, level.judge_percent, level.value, level.n) for level in row.levels]
    assert levels == [("none", 0, 50, n), ("more_than_half", 75, 100, n)]
    assert (row.judge, row.n, row.n_answers) == ("judge", 2 * n, 8 * n)
    assert row.value == pytest.approx(0.5 / 0.75)
    # Half of the verdicts are 50 points off, the others 25; all groups are alike, so chance adds nothing.
    assert row.error.value == pytest.approx((0.5 * 50**2 + 0.5 * 25**2) ** 0.5)


def test_repeats_of_a_later_run_count_with_those_of_the_first(study: Study) -> None:
    plant(study)
    further = start_run(study, "judge")
    for g in range(1, planted.N_GROUPS + 1):
        read(further, f"plot{g:02}", {("tests", "item-1", f"p{g:02}s1"): "no"}, repeat=5)

    (row,) = calibrations(study)

    assert [(level.level, round(level.judge_percent)) for level in row.levels] == [("none", 0), ("more_than_half", 60)]
    assert row.n_answers == 9 * planted.N_GROUPS


def test_a_judge_that_was_asked_once_has_no_share(study: Study) -> None:
    plant(study, n_repeats=1)

    assert calibrations(study) == ()


def test_the_page_and_the_text_have_the_levels_that_occur_with_slope_and_error(study: Study) -> None:
    plant(study)

    text = "\n".join(JudgesCalibration().lines(Listing(calibrations(study)), NO_HEAD))

    row = next(line for line in text.splitlines() if line.strip().startswith("judge"))
    assert row.split()[1:4] == ["repeats", "50", "100"]
    assert "0.67" in row
    assert "39.5" in row


def test_verdicts_are_in_doubt_where_a_judge_differs_from_itself_or_from_another(study: Study) -> None:
    plant(study)
    rows = [("plot01", "p01s2", "y"), ("plot01", "p01s1", "y"), ("plot02", "p02s2", "n")]
    given.bring(
        study,
        [
            given.Row("other", "other", group, story, "tests", "item-1", given.ANSWERS[letter], "model")
            for group, story, letter in rows
        ],
    )

    doubt = DoubtfulVerdicts().compute(Dataset.of(study))
    assert doubt is not None
    listed = doubt.rows

    # The judge says 0 of the second story and the other Yes; of each first story it says 75, with another's Yes 87.5.
    assert [(row.story, row.judge_percent, row.n_judges) for row in listed[:2]] == [
        ("p01s2", 50, 2),
        ("p02s1", 75, 1),
    ]
    assert [row.judge_percent for row in listed[-1:]] == [87.5]
    assert doubt.n == planted.N_GROUPS + 1 == len(listed)
    assert (listed[0].people_percent, listed[0].n_people) == (50, 4)


def test_on_the_page_the_most_doubtful_stand_with_what_people_said(study: Study) -> None:
    plant(study)
    doubt = DoubtfulVerdicts().compute(Dataset.of(study))
    assert doubt is not None

    (row, *others) = list(DoubtfulVerdicts().rows(doubt)["doubtful-verdicts"])

    assert len(others) == planted.N_GROUPS - 1
    assert {name: row[name] for name in ("story", "judge_yes_percent", "experts_yes_percent", "n_people")} == {
        "story": "p01s1",
        "judge_yes_percent": 75,
        "experts_yes_percent": 100,
        "n_people": 4,
    }
