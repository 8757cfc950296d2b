"""One value for each judge, item and unit enters a figure; further readings feed what is said of readings."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from annotation.models import Assignment
from annotation.responses import Answer
from judges import catalogue, prompts
from judges.models import Judge, Run
from reports.dataset import Dataset
from reports.dataset.readings import answers_as_personas
from reports.figures import all_figures
from reports.figures.codec import encode
from studies.models import Study
from tests.replay import replayed
from tests.reports import given, planted
from tests.reports.judge_readings import read, start_run

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

COMPARED = (
    *("judges", "judges_on_scales", "judges_on_choices", "judges_share_of_yes", "judges_on_rankings", "human_line"),
    *("alternative_annotator", "people_and_judge", "judges_among_themselves"),
)
PERSONAS = ("critic", "reader", "editor")


@pytest.fixture
@replayed
def study() -> Study:
    """Twelve pairs that two people have answered everything about."""
    study = planted.empty_study()
    rows = []
    for n, story in enumerate(story_codes()):
        for rater in ("E01", "E02"):
            verdict, rating = ("yes", "no")[n % 2], 1 + (n + (rater == "E02")) % 5
            for step, item, value in (("tests", "item-1", verdict), ("scales", "item-1", rating)):
                rows.append(given.Row("test", rater, f"plot{story[1:3]}", story, step, item, Answer(value=value)))
    for n, group in enumerate(groups()):
        for rater in ("E01", "E02"):
            row = ("test", rater, group, "", "better", "item-1", Answer(value=f"p{group[4:]}s{1 + n % 2}"))
            rows.append(given.Row(*row))
            order = Answer(value=" > ".join(f"p{group[4:]}s{m}" for m in ((1, 2), (2, 1))[n % 2]))
            rows.append(given.Row("test", rater, group, "", "ranking", "item-1", order))
    given.bring(study, rows)
    return study


def groups() -> list[str]:
    return [f"plot{n:02}" for n in range(1, planted.N_GROUPS + 1)]


def story_codes(group: str = "") -> list[str]:
    codes = [f"p{name[4:]}s{n}" for name in groups() for n in (1, 2)]
    return [code for code in codes if code[1:3] == group[4:] or not group]


def everything(group: str, *, seed: int) -> dict[tuple[str, str, str], Any]:
    """Answers to all items about a group, by chance."""
    rng = np.random.default_rng([seed, int(group[4:])])
    answers: dict[tuple[str, str, str], Any] = {}
    for story in story_codes(group):
        answers["tests", "item-1", story] = str(rng.choice(["yes", "no"]))
        answers["scales", "item-1", story] = int(rng.integers(1, 6))
        answers["author", "item-1", story] = str(rng.choice(planted.OPTIONS))
    letters = rng.permutation(["A", "B"])
    return answers | {
        ("better", "item-1", ""): str(letters[0]),
        ("ranking", "item-1", ""): [[str(letter)] for letter in letters],
    }


def read_all(run: Run, *, seed: int, **reading: Any) -> None:
    for group in groups():
        stories = story_codes(group)
        if reading.get("order") == "reversed":
            stories = stories[::-1]
        read(run, group, everything(group, seed=seed), stories=stories, **reading)


def compute(study: Study, keys: Sequence[str] = COMPARED) -> dict[str, Any]:
    data = Dataset.of(study)
    return {key: encode(all_figures()[key].compute(data)) for key in keys}


@pytest.mark.parametrize("reading", [{"repeat": 2}, {"order": "reversed"}], ids=["repeat", "other order"])
def test_a_further_reading_changes_no_figure_of_agreement(study: Study, reading: dict[str, Any]) -> None:
    run, other = start_run(study, "judge"), start_run(study, "other")
    read_all(run, seed=1)
    read_all(other, seed=2)
    once = compute(study)

    read_all(run, seed=3, **reading)

    assert once["judges"]["compared"]
    assert all(once[key] for key in ("judges_on_scales", "judges_on_rankings", "judges_among_themselves"))
    assert compute(study) == once


def test_judges_that_were_shown_what_people_answered_are_left_out_of_what_judges_agree_on(study: Study) -> None:
    for seed, name in enumerate(("first", "second", "anchored")):
        read_all(start_run(study, name), seed=seed)
        if name == "second":
            (plain,) = compute(study, ["judges_among_themselves"])["judges_among_themselves"][:1]
    anchored = next(prompt for prompt in catalogue.load_prompts() if prompt.name == "quiet-judge-anchored")
    assert prompts.shape_of(anchored.template).takes_examples
    (mixed,) = compute(study, ["judges_among_themselves"])["judges_among_themselves"][:1]
    Judge.objects.filter(slug="anchored").update(prompt=anchored)

    (row,) = compute(study, ["judges_among_themselves"])["judges_among_themselves"][:1]

    assert (mixed["n_judges"], mixed["anchored"]) == (3, [])
    assert row["anchored"] == ["anchored"]
    assert row["n_judges"] == 2
    assert row["coefficient"] == plain["coefficient"] != mixed["coefficient"]
    assert len(row["pairs"]) == 3, "of every two it is said who they are"


def test_a_reading_in_the_other_order_feeds_flips_and_first_places_and_a_repeat_does_not(study: Study) -> None:
    run = start_run(study, "judge")
    for n, group in enumerate(groups()):
        first, second = story_codes(group)
        read(run, group, {("better", "item-1", ""): "A"})  # the first story, whichever it is
        read(run, group, {("better", "item-1", ""): "B"}, repeat=2)
        turned = "B" if n < 9 else "A"  # the same story in nine pairs, what stands first in three
        read(run, group, {("better", "item-1", ""): turned}, stories=[second, first], order="reversed")

    (row,) = compute(study, ["judges_on_pairs"])["judges_on_pairs"]

    whole = {score["statistic"]: score["parts"][0]["value"] for score in row["scores"]}
    assert (row["n_pairs"], row["n_both"]) == (12, 12)
    assert whole["flip_rate"] == pytest.approx(100 * 3 / 12)
    assert whole["first_rate"] == pytest.approx(100 * (9 * 0.5 + 3 * 1) / 12)
    # People prefer the first story in every other pair; the judge does in all orders of nine and in half of three.
    right = [(1.0, 0.0)[n % 2] if n < 9 else 0.5 for n in range(12)]
    assert whole["accuracy"] == pytest.approx(100 * np.mean(right))


def test_another_order_is_compared_with_the_same_persona_only(study: Study) -> None:
    plain, masked = start_run(study, "judge"), start_run(study, "judge", personas=PERSONAS)
    read(plain, "plot01", {("better", "item-1", ""): "A"})
    read(
        masked,
        "plot01",
        {("better", "item-1", ""): "A"},
        stories=["p01s2", "p01s1"],
        persona="critic",
        order="reversed",
    )

    (row,) = compute(study, ["judges_on_pairs"])["judges_on_pairs"]

    assert (row["n_pairs"], row["n_both"]) == (1, 0)


def test_repeats_vary_as_computed_by_hand_and_neither_orders_nor_personas_are_repeats(study: Study) -> None:
    run = start_run(study, "judge", personas=PERSONAS)
    place = ("scales", "item-1", "p01s1")
    read(run, "plot01", {place: 2}, persona="critic")
    read(run, "plot01", {place: 5}, persona="critic", repeat=2)
    read(run, "plot01", {place: 1}, persona="reader")
    read(run, "plot01", {place: 1}, persona="critic", order="reversed", stories=["p01s2", "p01s1"])
    other = ("scales", "item-1", "p02s1")
    read(run, "plot02", {other: 4}, persona="reader")
    read(run, "plot02", {other: 4}, persona="reader", repeat=2)
    again = start_run(study, "judge", personas=PERSONAS)
    read(again, "plot01", {place: 1}, persona="critic")  # of one repeat the first counts

    rows = compute(study, ["judge_biases"])["judge_biases"]

    (repeats,) = [row for row in rows if row["bias"] == "repeats"]
    assert (repeats["value"], repeats["n"]) == (pytest.approx((4.5 + 0) / 2), 2)  # of 2 and 5, and of 4 and 4


def test_a_rating_is_the_mean_of_all_personas_and_none_if_one_has_none(study: Study) -> None:
    run = start_run(study, "judge", personas=PERSONAS)
    said = {"p01": (2, 3, 5), "p02": (2, "unreadable", 5), "p03": (2, 3, None), "p04": ("declined", 3, 5)}
    for name, ratings in said.items():
        for persona, rating in zip(PERSONAS, ratings, strict=True):
            answers = {} if rating is None else {("scales", "item-1", f"{name}s1"): rating}
            read(run, f"plot{name[1:]}", answers, persona=persona)

    rows = Dataset.of(study).judges

    assert [(row.story, row.outcome, row.analysed) for row in rows.itertuples() if row.outcome == "answered"] == [
        ("p01s1", "answered", pytest.approx(10 / 3))
    ]
    outcomes = compute(study, ["judges_on_scales"])["judges_on_scales"][0]["outcomes"]
    lost = {name: outcomes[name] for name in ("answered", "unreadable", "declined", "missing", "expected")}
    assert lost == {"answered": 1, "unreadable": 1, "declined": 1, "missing": 45, "expected": 48}


def test_a_verdict_has_no_mean_and_is_that_of_the_first_persona(study: Study) -> None:
    run = start_run(study, "judge", personas=PERSONAS)
    for persona, verdict in zip(PERSONAS, ("no", "yes", "yes"), strict=True):
        read(run, "plot01", {("tests", "item-1", "p01s1"): verdict}, persona=persona)

    rows = Dataset.of(study).judges

    assert [(row.value, row.analysed) for row in rows.itertuples()] == [("no", 0.0)]


def test_of_two_primary_readings_the_earlier_counts(study: Study) -> None:
    plain, masked = start_run(study, "judge"), start_run(study, "judge", personas=PERSONAS)
    place = ("scales", "item-1", "p01s1")
    read(plain, "plot01", {place: 1})
    for persona in PERSONAS:
        read(masked, "plot01", {place: 5}, persona=persona)

    data = Dataset.of(study)
    answers = answers_as_personas(data, [item for item in data.items if item.key == place[:2]], "judge")

    assert [(row.outcome, row.analysed) for row in data.judges.itertuples()] == [("answered", 1.0)]
    assert answers is not None
    assert answers.as_personas[:, 0, 0].tolist() == [5, 5, 5]
    assert answers.as_nobody[0, 0] == 1


@pytest.mark.parametrize("n", [1, 3])
def test_readings_take_three_queries_and_none_without_judges(
    study: Study, django_assert_num_queries: Any, n: int
) -> None:
    without = Dataset.of(study)
    with django_assert_num_queries(0):
        assert without.reading_by_assignment == {}
    run = start_run(study, "judge", personas=PERSONAS)
    for persona in PERSONAS[:n]:
        read(run, "plot01", {("scales", "item-1", "p01s1"): 3}, persona=persona)
    data = Dataset.of(study)

    with django_assert_num_queries(3):
        readings = data.reading_by_assignment

    assert len(readings) == n == Assignment.objects.filter(rater_kind="model").count()
    assert [reading.persona for reading in readings.values() if reading.is_primary] == ["critic"]


@pytest.mark.parametrize("n", [1, 3])
def test_figures_about_readings_ask_the_same_of_one_judge_and_of_three(
    study: Study, django_assert_num_queries: Any, n: int
) -> None:
    for at in range(n):
        run = start_run(study, f"judge-{at}", personas=PERSONAS)
        for persona in PERSONAS:
            read(run, "plot01", everything("plot01", seed=at), persona=persona)
    data = Dataset.of(study)
    assert len(data.reading_by_assignment) == 3 * n

    with django_assert_num_queries(9):
        for key in ("personas", "wordings", "judge_biases", "judges_on_scales", "judges_among_themselves"):
            all_figures()[key].compute(data)
