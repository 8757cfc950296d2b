"""Figures about raters and items, on planted answers: against values computed here from what was planted."""

from typing import Any

import numpy as np
import pytest
from django.db import transaction

from annotation.models import Assignment, Timing
from annotation.responses.imports import Row
from reports import results
from reports.figures import all_figures
from reports.figures.raters.pace import question_words
from stats import agreement, reliability
from studies.models import Source, Step, Story, Study
from tests import triggers
from tests.reports import given
from tests.reports.planted import EXPERTS, SCALES, VERDICTS, Planted, plant

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


@pytest.fixture(scope="module")
def read(django_db_setup: None, django_db_blocker: Any) -> Any:
    """The planted answers and what reports say of them, once for all tests of this module."""
    with django_db_blocker.unblock(), transaction.atomic():
        planted = plant()
        document = results.compute(planted.study)
        transaction.set_rollback(True)
    return planted, document


def scales(planted: Planted) -> np.ndarray[Any, Any]:
    """Ratings of the experts, shape (items, raters, stories)."""
    return np.array([[[planted.scale[e, i, s] for s in planted.stories] for e in EXPERTS] for i in SCALES], dtype=float)


def verdicts(planted: Planted) -> np.ndarray[Any, Any]:
    return np.array(
        [[[planted.yes[e, i, s] == "yes" for s in planted.stories] for e in EXPERTS] for i in VERDICTS], dtype=float
    )


def test_a_raters_severity_is_their_mean_less_that_of_the_others(read: Any) -> None:
    planted, document = read
    on_tests, on_scales = document["panel"]["blocks"]

    for block, ratings, scale in ((on_tests, verdicts(planted), 100), (on_scales, scales(planted), 1)):
        # Everybody rated everything, so it is the mean less the mean of the others' means.
        means = ratings.mean(axis=(0, 2))
        severity = [scale * (means[n] - np.delete(means, n).mean()) for n in range(3)]
        assert [row["value"] for row in block["raters"]] == pytest.approx(severity)
        assert [row["rater"] for row in block["raters"]] == list(EXPERTS)
        assert {row["n_stories"] for row in block["raters"]} == {24}
        assert {(row["interval"]["method"], row["interval"]["n_resampled"]) for row in block["raters"]} == {("t", 12)}


def test_agreement_without_each_rater_and_whose_absence_moves_it_most(read: Any) -> None:
    planted, document = read
    kappas = [float(agreement.fleiss_kappa(item)) for item in verdicts(planted)]
    without = [
        [float(agreement.fleiss_kappa(np.delete(item, n, axis=0))) for n in range(3)] for item in verdicts(planted)
    ]

    block, rows = document["panel"]["blocks"][0], document["panel"]["items"]

    assert (block["agreement"], block["name"]) == (pytest.approx(np.mean(kappas)), "Fleiss' kappa")
    assert [row["without"] for row in block["raters"]] == pytest.approx(np.mean(without, axis=0).tolist())
    first = next(row for row in rows if (row["step"], row["item"]) == ("tests", "item-1"))
    assert [first["low"], first["high"]] == pytest.approx([min(without[0]), max(without[0])])
    assert first["rater"] == EXPERTS[int(np.argmax(np.abs(np.array(without[0]) - kappas[0])))]
    # Every item with a coefficient has its row, the choice among pairs, too.
    assert [row["step"] for row in rows] == ["tests", "tests", "scales", "scales", "author", "better"]


def test_gwet_and_intraclass_stand_with_their_form_interval_and_floor(read: Any) -> None:
    planted, document = read
    items, numbers = document["reliability"]["items"], document["reliability"]["numbers"]

    names = {row["step"]: row["coefficient"]["name"] for row in items}
    assert names == {
        "tests": "Gwet's AC1",
        "scales": "Gwet's AC2, ordinal weights",
        "author": "Gwet's AC1",
    }
    plain = [float(reliability.gwet_ac(item, [0, 1])) for item in verdicts(planted)]
    assert [row["coefficient"]["value"] for row in items[:2]] == pytest.approx(plain)
    assert [(row["kind"], row["title"]) for row in numbers] == [
        ("total", ""),
        ("rating", "Item 1"),
        ("rating", "Item 2"),
        ("mean", "1–5"),
    ]
    total = reliability.intraclass(verdicts(planted).sum(axis=0))
    forms = numbers[0]["forms"]
    assert [form["coefficient"]["name"] for form in forms] == ["ICC(A,1)", "ICC(A,k)"]
    assert [form["coefficient"]["value"] for form in forms] == pytest.approx([total.single.value, total.average.value])
    for row in [*items, *(form for number in numbers for form in number["forms"])]:
        assert row["interval"]["low"] < row["coefficient"]["value"] < row["interval"]["high"]
        assert "over 12 clusters" in row["interval"]["note"]
        assert row["floor"]["mean"] < row["floor"]["upper"]


def test_strengths_of_sources_come_from_pairs_and_orders_and_stories_have_a_reason(read: Any) -> None:
    planted, document = read
    rows = document["strengths"]

    about = [(row["step"], row["unit"], row["model"], (row.get("why") or {}).get("code")) for row in rows]
    assert about == [
        ("better", "sources", "bradley_terry", None),
        ("better", "stories", "bradley_terry", "not_all_compared"),
        ("ranking", "sources", "plackett_luce", None),
        ("ranking", "stories", "plackett_luce", "not_all_compared"),
    ]
    names = ["A person", "Model one", "Model two"]
    # By hand: Model two meets the person in odd groups and model one in even ones.
    won = {name: [0, 0] for name in names[:2]}
    for (rater, group), story in planted.pair.items():
        if rater in EXPERTS:
            other = names[0] if int(group[4:]) % 2 else names[1]
            won[other][story.endswith("s1")] += 1
    log_odds = {name: float(np.log(wins / losses)) for name, (losses, wins) in won.items()}
    by_name = {row["name"]: row["value"] for row in rows[0]["strengths"]}
    assert by_name["A person"] - by_name["Model two"] == pytest.approx(log_odds["A person"])
    assert by_name["Model one"] - by_name["Model two"] == pytest.approx(log_odds["Model one"])
    assert sum(by_name.values()) == pytest.approx(0)
    assert [row["value"] for row in rows[0]["strengths"]] == sorted(by_name.values(), reverse=True)
    assert (rows[0]["n_answers"], rows[0]["n_clusters"], rows[0]["n_shared"]) == (36, 12, 0)


def test_items_are_correlated_over_readings_of_a_story(read: Any) -> None:
    planted, document = read
    ratings = scales(planted).reshape(2, -1)

    on_scales = document["item_analysis"][1]

    assert (on_scales["n"], on_scales["n_left_out"], on_scales["n_raters"]) == (72, 0, 3)
    (pair,) = on_scales["pairs"]
    assert pair["correlation"]["coefficient"]["value"] == pytest.approx(np.corrcoef(ratings)[0, 1])
    # Of two items the rest is the other one.
    with_rest = [row["with_rest"]["coefficient"]["value"] for row in on_scales["items"]]
    assert with_rest == pytest.approx([np.corrcoef(ratings)[0, 1]] * 2)


def test_while_sealed_raters_are_shown_and_strengths_are_not() -> None:
    planted = plant()
    with triggers.lifted():
        Source.objects.filter(name="Model two").update(name="Canary")

    sealed = results.compute(planted.study, blind=True)

    assert [row["rater"] for row in sealed["panel"]["blocks"][0]["raters"]] == list(EXPERTS)
    assert sealed["strengths"] == []
    words_by_key = {key: str(sealed[key]) for key in ("panel", "reliability", "item_analysis", "pace", "repeats")}
    assert [key for key, words in words_by_key.items() if "Canary" in words or "A person" in words] == []


def timed(study: Study, minutes: dict[str, list[float]]) -> None:
    """So many active minutes of each rater on the stories in the order of their codes."""
    step = Step.objects.get(version__study=study, key="tests")
    stories = list(study.stories.order_by("code"))
    for rater, of_stories in minutes.items():
        for story, n in zip(stories, of_stories, strict=True):
            work = Assignment.objects.get(study=study, rater__code=rater, group=story.groups.get())
            Timing.objects.create(assignment=work, step=step, story=story, active_seconds=int(60 * n))


def test_pace_is_minutes_a_story_and_what_is_unlike_is_a_question() -> None:
    study = given.closed_study(n_groups=2)
    given.verdicts(study, dict.fromkeys(["E1", "E2", "E3"], "ynyn"))
    with triggers.lifted():
        Story.objects.update(n_words=1000)
    timed(study, {"E1": [10, 10, 12, 12], "E2": [8, 10, 12, 14], "E3": [1, 2, 2, 0]})

    pace = results.compute(study)["pace"]

    rows = {row["rater"]: row for row in pace["raters"]}
    assert {name: row["median_minutes"] for name, row in rows.items()} == {"E1": 11, "E2": 11, "E3": 2}
    assert rows["E1"]["words_read"] == pytest.approx(4000 / 44)
    # Each reason has three words, "It is so." or "It is not."
    assert rows["E1"]["words_written"] == pytest.approx(12 / 44)
    assert (rows["E3"]["n_stories"], rows["E3"]["n_untimed"]) == (4, 1)
    assert {name: row.get("questions", []) for name, row in rows.items()} == {
        "E1": [],
        "E2": [],
        "E3": ["fast", "short", "untimed"],
    }
    assert question_words("fast").startswith("More than 400 words of story a minute")
    # Of imported answers nobody knows in which place they were given.
    assert pace["places"] == []


def test_pace_by_place_counts_over_all_that_a_rater_reads() -> None:
    study = given.closed_study(n_groups=2)
    given.verdicts(study, {"E1": "ynyn"})
    for position, group in enumerate(("plot2", "plot1"), start=1):
        Assignment.objects.filter(study=study, group__code=group).update(position=position)
    timed(study, {"E1": [4, 4, 8, 8]})

    places = results.compute(study)["pace"]["places"]

    assert [(row["place"], row["n"], row["median_minutes"]) for row in places] == [
        (1, 1, 8),
        (2, 1, 8),
        (3, 1, 4),
        (4, 1, 4),
    ]
    assert [row["percent_of_own"] for row in places] == pytest.approx([400 / 3, 400 / 3, 200 / 3, 200 / 3])


def test_without_times_there_is_no_pace() -> None:
    study = given.closed_study()
    given.verdicts(study, {"E1": "ynyn"})

    assert results.compute(study)["pace"] is None


def test_a_story_that_a_rater_read_in_two_groups_tells_how_far_they_agree_with_themselves() -> None:
    study = given.closed_study(n_groups=2)
    with triggers.lifted():
        study.groups.get(code="plot2").stories.add(study.stories.get(code="p1s1"), study.stories.get(code="p1s2"))
    rows = [
        Row("test", rater, group, story, "tests", "item-1", given.ANSWERS[letter])
        for rater, letters in {"E1": "ynyy", "E2": "nnnn"}.items()
        for (group, story), letter in zip(
            [("plot1", "p1s1"), ("plot1", "p1s2"), ("plot2", "p1s1"), ("plot2", "p1s2")], letters, strict=True
        )
    ]
    given.bring(study, rows)

    document = results.compute(study)

    # E1: Yes twice, then No and Yes; E2: No four times.
    table = [(r["rater"], r["n"], r["percent_same"], r["n_stories"], r.get("mean_change")) for r in document["repeats"]]
    assert table == [("", 4, 75, 2, None), ("E1", 2, 50, 2, None), ("E2", 2, 100, 2, None)]


def test_texts_that_stand_once_leave_nothing_to_say() -> None:
    study = given.closed_study()
    given.verdicts(study, dict.fromkeys(["E1", "E2"], "ynyn"))

    document = results.compute(study)

    assert document["repeats"] == []
    assert all_figures()["repeats"].is_empty(results.read_results(document).figures["repeats"])


def test_the_same_words_under_two_codes_are_one_text() -> None:
    study = given.closed_study()
    given.verdicts(study, {"E1": "ynyy"})
    with triggers.lifted():
        Story.objects.filter(code__in=["p1s1", "p2s1"]).update(sha256="0" * 64)

    everybody, own = results.compute(study)["repeats"]

    assert (everybody["n"], everybody["percent_same"], own["rater"]) == (1, 100, "E1")


def test_one_rater_alone_is_beside_nobody() -> None:
    study = given.closed_study(n_items=2)
    given.verdicts(study, {"E1": "ynyn" * 2})

    document = results.compute(study)

    assert document["panel"] == {"blocks": [], "items": []}
    assert document["reliability"]["items"][0]["coefficient"]["why"]["code"] == "no_unit_with_two_ratings"
    assert document["reliability"]["numbers"][0]["why"]["code"] == "fewer_than_two_units_rated_twice"
