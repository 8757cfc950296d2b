"""What changes of stories do to judges, planted: at its size where there is an effect, and in no other figure."""

import re
from dataclasses import replace

import numpy as np
import pytest

from reports.dataset import Dataset
from reports.document import text as document_text
from reports.figures import all_figures
from reports.figures.base import NO_HEAD, Listing
from reports.figures.judges.intervention_effects import InterventionEffect
from reports.figures.judges.interventions import Interventions
from reports.rationales import queries
from studies.models import Study
from tests.replay import replayed
from tests.reports import judge_readings, planted
from tests.reports.figures import test_judge_biases

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

# How many points more of 100 the leaning judge says Yes with each change; ratings move by one for each twenty.
EFFECTS = {"request-1": 60, "title-1": 0, "padding-1": 0}


@pytest.fixture
@replayed
def study() -> Study:
    """Two judges that read all stories as they are, twice."""
    study = planted.empty_study()
    test_judge_biases.plant(study, ("alpha-9",))
    plain_readings(study)
    return study


def stories_of(group: int) -> list[str]:
    return [story for story in test_judge_biases.STORIES if story.startswith(f"p{group:02}")]


def answers(rng: np.random.Generator, group: int, effect: int = 0) -> dict[tuple[str, str, str], object]:
    """Two verdicts and a rating of each story of the group, by chance."""
    given: dict[tuple[str, str, str], object] = {}
    for story in stories_of(group):
        for item in planted.VERDICTS:
            given["tests", item, story] = "yes" if rng.random() < 0.3 + effect / 100 else "no"
        given["scales", "item-1", story] = int(np.clip(rng.integers(1, 3) + effect // 20, 1, 5))
    return given


def plain_readings(study: Study) -> None:
    """A judge that leans when it is asked to, and one that always says Yes and three."""
    rng = np.random.default_rng(5)
    for slug in ("leaning", "constant"):
        run = judge_readings.start_run(study, slug)
        for g in range(1, planted.N_GROUPS + 1):
            for repeat in (1, 2):
                said = answers(rng, g) if slug == "leaning" else always(g)
                judge_readings.read(run, f"plot{g:02}", said, repeat=repeat)


def always(group: int) -> dict[tuple[str, str, str], object]:
    said: dict[tuple[str, str, str], object] = {}
    for story in stories_of(group):
        said["tests", "item-1", story], said["scales", "item-1", story] = "yes", 3
    return said


def read_altered(study: Study) -> None:
    """Both judges read the stories changed; one story of the last group cannot be read."""
    rng = np.random.default_rng(6)
    for slug in ("leaning", "constant"):
        run = study.runs.get(judge__slug=slug)
        for name, effect in EFFECTS.items():
            for g in range(1, planted.N_GROUPS + 1):
                said = answers(rng, g, effect) if slug == "leaning" else always(g)
                if g == planted.N_GROUPS:
                    said["tests", "item-1", stories_of(g)[0]] = "unreadable"
                judge_readings.read(run, f"plot{g:02}", said, intervention=name)


def rows_of(study: Study) -> dict[tuple[str, str, str], InterventionEffect]:
    rows = Interventions().compute(Dataset.of(study)).rows
    return {(row.judge, row.kind, row.intervention): row for row in rows}


def test_without_changed_stories_there_is_nothing(study: Study) -> None:
    assert rows_of(study) == {}


def test_a_planted_effect_comes_out_and_others_are_not_clear(study: Study) -> None:
    read_altered(study)

    rows = rows_of(study)

    row = rows["leaning", "verdicts", "request-1"]
    assert row.effect.n == 2 * 24 - 1, "what could not be read has no pair"
    assert row.effect.value == pytest.approx(60, abs=15)
    assert row.effect.value == pytest.approx((row.effect.after or 0) - (row.effect.before or 0))
    assert row.again.n == 2 * 24
    assert rows["leaning", "scales", "request-1"].effect.value == pytest.approx(3, abs=0.5)
    assert {key for key, row in rows.items() if row.is_clear} == {
        ("leaning", "verdicts", "request-1"),
        ("leaning", "scales", "request-1"),
    }


def test_a_judge_that_always_says_the_same_has_exactly_nothing(study: Study) -> None:
    read_altered(study)

    constant = [row for row in rows_of(study).values() if row.judge == "constant"]

    assert len(constant) == 2 * len(EFFECTS)
    assert {(row.effect.value, row.effect.differing_percent, row.p) for row in constant} == {(0, 0, None)}


def test_a_changed_story_is_compared_with_the_last_plain_reading_planned_before_it(study: Study) -> None:
    run = study.runs.get(judge__slug="constant")
    no: dict[tuple[str, str, str], object] = {("tests", "item-1", story): "no" for story in stories_of(1)}
    judge_readings.read(run, "plot01", no, repeat=3)
    judge_readings.read(run, "plot01", always(1), intervention="title-1")
    judge_readings.read(run, "plot01", always(1), repeat=4)

    row = rows_of(study)["constant", "verdicts", "title-1"]

    assert (row.effect.before, row.effect.after, row.effect.n) == (0, 100, 2)
    assert (row.p, row.is_clear) == (1, False), "of one group nothing is clear"


def test_of_answers_of_two_runs_there_is_a_row_with_a_note_and_no_sentence(study: Study) -> None:
    run = judge_readings.start_run(study, "constant")
    for g in range(1, planted.N_GROUPS + 1):
        said = {key: "no" if key[0] == "tests" else 1 for key in always(g)}
        judge_readings.read(run, f"plot{g:02}", said, intervention="title-1")

    figure = Interventions()
    result = figure.compute(Dataset.of(study))

    (verdicts, _scales) = result.rows
    assert (verdicts.effect.value, verdicts.is_of_one_run, verdicts.is_clear) == (-100, False, False)
    assert (verdicts.p_adjusted or 1) < 0.05
    words = " ".join(" ".join(document_text.write_lines(figure.describe(result, NO_HEAD))).split())
    assert "pairs of answers)" not in words
    assert "constant answered about the story as it is in another run" in words


def test_sentences_stand_only_where_it_is_clear(study: Study) -> None:
    read_altered(study)

    figure = Interventions()
    lines = document_text.write_lines(figure.describe(figure.compute(Dataset.of(study)), NO_HEAD))

    words = " ".join(" ".join(lines).split())
    assert words.count("pairs of answers)") == 2
    assert re.search(
        r"With a sentence that asks for a Yes, leaning says Yes to \d+ more of 100 \(\d+ to \d+; 47 pairs of answers\)",
        words,
    )
    assert "Clear after Holm’s correction over all judges and changes: 2 of 6." in words


def test_readings_of_changed_stories_change_no_other_figure(study: Study) -> None:
    def figures() -> dict[str, object]:
        dataset = Dataset.of(study)
        return {key: figure.compute(dataset) for key, figure in all_figures().items()}

    before = figures()
    n_shown = queries.answers(study).count()
    read_altered(study)
    after = figures()

    assert queries.answers(study).count() == n_shown, "nor do they stand among the reasons"
    assert before.pop("interventions") != after.pop("interventions")
    biases = after["judge_biases"]
    assert isinstance(biases, Listing)
    assert {(row.judge, row.bias) for row in biases.rows if row.interventions} == {
        ("leaning", "verbosity"),  # the other never answers otherwise, which tests nothing
    }
    # Which points to the interventions, and says the same otherwise.
    after["judge_biases"] = Listing(tuple(replace(row, interventions=()) for row in biases.rows))
    assert {key for key in before if repr(before[key]) != repr(after[key])} == set()
    assert sum("leaning" in repr(figure) for figure in before.values()) > 5, "the judge stands in other figures"
