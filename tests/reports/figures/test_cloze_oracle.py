"""Every figure about a judged cloze equals what plain code computes from what was planted."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

from reports import results
from reports.dataset import scored_clozes
from tests.reports import planted_cloze
from tests.reports.planted_cloze import CHECK, EXPERTS, JUDGES, NOTHING, DrawnEmbedding, PlantedCloze
from tests.reports.quiet_run import CONSTRAINTS, EDGES

pytestmark = [pytest.mark.django_db(transaction=False), pytest.mark.embedded]
SECTIONS = (("s1-c1", "s1-c2"), ("s2-c1",), ("s3-c1",))
BLANKS = ((0, 1), (2, 3), (4,))
Given = tuple[PlantedCloze, dict[str, Any]]


@pytest.fixture(scope="module")
def given(django_db_setup: None, django_db_blocker: Any) -> Iterator[Given]:
    """The planted study and its document, computed once: nothing here changes them."""
    from django.db import transaction

    patch = pytest.MonkeyPatch()
    patch.setattr(scored_clozes, "find_embedding", lambda name, **_: DrawnEmbedding())
    with patch.context(), django_db_blocker.unblock(), transaction.atomic():
        planted = planted_cloze.plant()
        yield planted, results.compute(planted.study)
        transaction.set_rollback(True)
    patch.undo()


def present(planted: PlantedCloze, item: str, story: str, raters: Sequence[str] = JUDGES) -> list[int]:
    """What these raters gave, without what they refused or left out."""
    return [value for rater in raters if (value := planted.said[rater, item, story]) not in NOTHING]


def capped(planted: PlantedCloze, item: str, story: str) -> list[int]:
    """The judges' ratings, at most 1 of whom denies the check without which the constraint is not met."""
    return [
        min(value, 1) if item == "s1-c1" and planted.said[rater, CHECK, story] == "no" else value
        for rater in JUDGES
        if (value := planted.said[rater, item, story]) not in NOTHING
    ]


def satisfied(planted: PlantedCloze, story: str, section: int, ratings: Callable[..., list[int]]) -> float | None:
    """The mean over a section's constraints of the judges' mean, 0 to 1; None if nobody rated one of them."""
    of_constraints = [ratings(planted, item, story) for item in SECTIONS[section]]
    return fmean(fmean(values) / 5 for values in of_constraints) if all(of_constraints) else None


def surprising(planted: PlantedCloze) -> dict[str, list[float]]:
    """Of each text, section by section, how far its fills lie from the models', the farthest of them being 1."""
    unit: dict[tuple[str, int], Any] = {}
    for story, words in planted.fills.items():
        for blank, vector in enumerate(DrawnEmbedding().vectors(words)):
            unit[story, blank] = vector / np.linalg.norm(vector)
    shares: dict[tuple[str, int], float] = {}
    for blank in range(5):
        centre = sum(unit[story, blank] for story in planted.stories if planted.is_by_model[story])
        centre = centre / np.linalg.norm(centre)
        distance = {story: 1 - float(unit[story, blank] @ centre) for story in planted.stories}
        largest = max(distance[story] for story in planted.stories if planted.is_by_model[story])
        shares |= {(story, blank): distance[story] / largest for story in planted.stories}
    return {story: [fmean(shares[story, blank] for blank in blanks) for blanks in BLANKS] for story in planted.stories}


def mean_of_texts(planted: PlantedCloze, by_story: dict[str, float | None]) -> dict[str, float | None]:
    """By participant the mean over their texts that have a value."""
    values: dict[str, list[float]] = {name: [] for name in planted.participant.values()}
    for story, value in by_story.items():
        if value is not None:
            values[planted.participant[story]].append(value)
    return {name: fmean(of_one) if of_one else None for name, of_one in values.items()}


def totals(planted: PlantedCloze, ratings: Callable[..., list[int]]) -> dict[str, float | None]:
    """By participant: satisfied x (1 + surprising), summed over the sections."""
    surprises, by_story = surprising(planted), dict[str, float | None]()
    for story in planted.stories:
        parts = [satisfied(planted, story, section, ratings) for section in range(3)]
        scores = [p * (1 + s) for p, s in zip(parts, surprises[story], strict=True) if p is not None]
        by_story[story] = sum(scores) if len(scores) == 3 else None
    return mean_of_texts(planted, by_story)


def alpha(units: list[list[int]], distance: str) -> float:
    """Krippendorff's alpha from its definition: pairs within units against pairs over all."""
    units = [unit for unit in units if len(unit) > 1]
    values = [value for unit in units for value in unit]
    counts = Counter(values)

    def delta(a: int, b: int) -> float:
        if distance == "interval":
            return (a - b) ** 2
        low, high = min(a, b), max(a, b)
        return (sum(counts[v] for v in range(low, high + 1)) - (counts[low] + counts[high]) / 2) ** 2

    within = sum(2 * delta(a, b) / (len(unit) - 1) for unit in units for a, b in combinations(unit, 2))
    between = sum(2 * delta(a, b) for a, b in combinations(values, 2)) / (len(values) - 1)
    return 1 - within / between


def units_of(planted: PlantedCloze, raters: Sequence[str], items: Sequence[str] = CONSTRAINTS) -> list[list[int]]:
    return [present(planted, item, story, raters) for story in planted.stories for item in items]


def approx(values: dict[str, float | None]) -> dict[str, Any]:
    return {name: None if value is None else pytest.approx(value) for name, value in values.items()}


def test_the_fixture_refuses_errs_and_knocks_out(given: Given) -> None:
    planted, _document = given
    lost = Counter(str(value) for value in planted.said.values() if value in NOTHING)

    assert set(lost) == set(NOTHING)
    assert totals(planted, capped) != totals(planted, present)
    assert sorted(Counter(planted.participant.values()).values()) == [1, 1, 1, 1, 1, 1, 2]


def test_totals_and_ranks(given: Given) -> None:
    planted, document = given
    expected, rows = totals(planted, present), document["cloze_scores"]["participants"]

    assert {row["participant"]: row["total"] for row in rows} == approx(expected)
    known = [total for total in expected.values() if total is not None]
    assert 4 < len(known) < len(expected)  # of one nobody rated a constraint
    assert document["cloze_variants"]["n_participants"] == document["cloze_surprise"]["n_with_satisfied"] == len(known)
    ranks = {n: 0 if t is None else 1 + sum(other > t for other in known) for n, t in expected.items()}
    assert {row["participant"]: row["rank"] for row in rows} == ranks
    assert {row["participant"]: row["capped"] for row in rows} == approx(totals(planted, capped))


def test_sections_of_every_participant(given: Given) -> None:
    planted, document = given
    surprises = surprising(planted)

    for section in range(3):
        parts = {
            "satisfied": mean_of_texts(
                planted, {story: satisfied(planted, story, section, present) for story in planted.stories}
            ),
            "surprising": mean_of_texts(planted, {story: surprises[story][section] for story in planted.stories}),
        }
        for name, expected in parts.items():
            rows = document["cloze_scores"]["participants"]
            assert {row["participant"]: row["sections"][section][name] for row in rows} == approx(expected)
        row = document["cloze_constraints"]["sections"][section]
        known = [value for value in parts["satisfied"].values() if value is not None]
        assert (row["satisfied"], row["n"]) == (pytest.approx(fmean(known)), len(known))


def test_what_a_total_is_without_each_judge(given: Given) -> None:
    planted, document = given
    without = []
    for left_out in JUDGES:
        others = [judge for judge in JUDGES if judge != left_out]
        without.append(totals(planted, lambda *of, others=others: present(*of, raters=others)))

    for row in document["cloze_scores"]["participants"]:
        values = [total for by_name in without if (total := by_name[row["participant"]]) is not None]
        found = row["without_a_judge"]
        assert (found is None) == (not values)
        if found:
            assert (found["low"], found["high"]) == pytest.approx((min(values), max(values)))
            assert found["n"] == len(values)


def test_people_beside_models(given: Given) -> None:
    planted, document = given
    expected = totals(planted, present)

    for kind in document["cloze_scores"]["kinds"]:
        names = {planted.participant[s] for s in planted.stories if planted.is_by_model[s] == kind["is_model"]}
        known = [total for name in names if (total := expected[name]) is not None]
        assert (kind["total"], kind["n"]) == (pytest.approx(fmean(known)), len(known))


@pytest.mark.parametrize("distance", ["interval", "ordinal"])
def test_alpha_among_judges_among_experts_and_of_both(given: Given, distance: str) -> None:
    planted, document = given
    rows = document["cloze_judges"]["alphas"]
    found = {row["of"]: row["coefficient"]["value"] for row in rows if row["distance"] == distance}

    assert found == {
        "judges": pytest.approx(alpha(units_of(planted, JUDGES), distance)),
        "experts": pytest.approx(alpha(units_of(planted, EXPERTS), distance)),
        "judges and experts": pytest.approx(alpha(units_of(planted, (*JUDGES, *EXPERTS)), distance)),
    }
    by_item = {row["item"]: row[f"{distance}_alpha"]["value"] for row in document["cloze_judges"]["constraints"]}
    assert by_item == {item: pytest.approx(alpha(units_of(planted, JUDGES, [item]), distance)) for item in CONSTRAINTS}


@pytest.mark.parametrize("judge", JUDGES)
def test_each_judge_beside_the_others_and_the_experts(given: Given, judge: str) -> None:
    planted, document = given
    (row,) = [row for row in document["cloze_judges"]["judges"] if row["judge"] == judge]
    others = [other for other in JUDGES if other != judge]
    places = [(item, story) for story in planted.stories for item in CONSTRAINTS]
    own = [(item, story) for item, story in places if present(planted, item, story, [judge])]
    ratings = [planted.said[judge, *place] for place in own]
    beside = [place for place in own if present(planted, *place, others)]

    assert (row["n"], row["n_missing"], row["n_low"]) == (
        len(own),
        len(places) - len(own),
        sum(rating <= 1 for rating in ratings),
    )
    assert row["mean"] == pytest.approx(fmean(ratings))
    assert row["with_others"]["value"] == pytest.approx(
        scipy_stats.spearmanr(
            [planted.said[judge, *place] for place in beside],
            [fmean(present(planted, *place, others)) for place in beside],
        ).statistic
    )
    assert row["with_experts"]["value"] == pytest.approx(
        scipy_stats.spearmanr(ratings, [fmean(present(planted, *place, EXPERTS)) for place in own]).statistic
    )
    assert row["alpha_without"]["value"] == pytest.approx(alpha(units_of(planted, others), "interval"))


def test_which_constraints_fail_and_which_are_knocked_out(given: Given) -> None:
    planted, document = given

    for row in document["cloze_constraints"]["constraints"]:
        by_story = {story: present(planted, row["item"], story) for story in planted.stories}
        rated = {story: ratings for story, ratings in by_story.items() if ratings}
        n_denied = sum(
            2 * [planted.said[judge, CHECK, story] for judge in JUDGES].count("no") > len(ratings)
            for story, ratings in by_story.items()
        )
        assert row["n"] == len(rated)
        assert row["satisfied"] == pytest.approx(fmean(r for ratings in rated.values() for r in ratings) / 5)
        assert row["n_failed"] == sum(2 * sum(r <= 1 for r in ratings) > len(ratings) for ratings in rated.values())
        assert row["n_denied"] == (n_denied if row["item"] == "s1-c1" else 0)
    assert {row["item"] for row in document["cloze_constraints"]["constraints"] if row["n_denied"]} == {"s1-c1"}


def test_agreement_between_sections(given: Given) -> None:
    planted, document = given
    found = document["cloze_edges"]

    for row in found["edges"]:
        means = [fmean(r) / 5 for story in planted.stories if (r := present(planted, row["item"], story))]
        assert (row["n"], row["consistency"]) == (len(means), pytest.approx(fmean(means)))
    by_story: dict[str, float | None] = {}
    for story in planted.stories:
        ratings = [present(planted, edge, story) for edge in EDGES]
        by_story[story] = fmean(fmean(r) / 5 for r in ratings) if all(ratings) else None
    rows = {row["participant"]: row["consistency"] for row in found["participants"]}
    assert rows == approx(mean_of_texts(planted, by_story))


@pytest.mark.parametrize("judge", JUDGES)
def test_agreement_with_experts_item_by_item(given: Given, judge: str) -> None:
    planted, document = given
    (row,) = [row for row in document["judges_on_scales"] if row["judge"] == judge]
    expected: dict[str, list[float]] = {}
    for item in (*CONSTRAINTS, *EDGES):
        places = [story for story in planted.stories if present(planted, item, story, [judge])]
        own = [planted.said[judge, item, story] for story in places]
        means = [fmean(present(planted, item, story, EXPERTS)) for story in places]
        gaps = [a - b for a, b in zip(own, means, strict=True)]
        expected.setdefault("spearman", []).append(scipy_stats.spearmanr(own, means).statistic)
        expected.setdefault("kendall_tau", []).append(scipy_stats.kendalltau(own, means).statistic)
        expected.setdefault("mean_absolute_error", []).append(fmean(abs(gap) for gap in gaps))
        expected.setdefault("mean_difference", []).append(fmean(gaps))
        expected.setdefault("modal_share", []).append(100 * Counter(own).most_common(1)[0][1] / len(own))

    found = {s["statistic"]: p["value"] for s in row["scores"] for p in s["parts"] if p["part"] == "all"}
    assert found == {name: pytest.approx(fmean(values)) for name, values in expected.items()}


@pytest.mark.parametrize("judge", JUDGES)
def test_what_is_refused_or_missing_by_source(given: Given, judge: str) -> None:
    planted, document = given
    (row,) = [row for row in document["judges_on_scales"] if row["judge"] == judge]
    items = (*CONSTRAINTS, *EDGES)

    def count(stories: list[str]) -> dict[str, int]:
        counts = Counter(str(planted.said[judge, item, story]) for item in items for story in stories)
        return {name: counts[name] for name in NOTHING} | {"expected": len(items) * len(stories)}

    by_source = {
        name: [s for s in planted.stories if planted.participant[s] == name] for name in planted.participant.values()
    }
    assert {name: row["outcomes"][name] for name in (*NOTHING, "expected")} == count(planted.stories)
    found = {r["source"]: {name: r[name] for name in (*NOTHING, "expected")} for r in row["outcomes"]["by_source"]}
    assert found == {name: count(stories) for name, stories in by_source.items()}
