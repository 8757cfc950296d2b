from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation import design
from studies import protocol
from studies.models import Step
from tests import factories


@given(st.integers(2, 9))
def test_williams_design_is_balanced_in_place_and_in_neighbours(size: int) -> None:
    squares = design.williams_squares(size)

    n = len(squares)
    rows = [row for square in squares for row in square]
    in_place = Counter((place, x) for row in rows for place, x in enumerate(row))
    after = Counter(pair for row in rows for pair in pairwise(row))
    assert (len(in_place), set(in_place.values())) == (size * size, {n})
    assert (len(after), set(after.values())) == (size * (size - 1), {n})


@given(st.lists(st.integers(1, 6), min_size=1, max_size=20), st.integers(1, 9), st.integers(0, 1000))
def test_every_order_holds_every_story_once(sizes: list[int], k: int, seed: int) -> None:
    for policy in ("balanced", "random", "fixed"):
        found = design.draw_orders(sizes, k, policy=policy, rng=np.random.default_rng(seed))

        assert [len(rows) for rows in found] == [k] * len(sizes)
        assert all(sorted(row) == list(range(size)) for size, rows in zip(sizes, found, strict=True) for row in rows)


def spread(rows: list[list[int]], size: int) -> int:
    """By how much the most frequent story-in-a-place exceeds the rarest."""
    counts = Counter((place, x) for row in rows for place, x in enumerate(row))
    return max(counts.values()) - min(counts[place, x] for place in range(size) for x in range(size))


@given(st.integers(1, 6), st.integers(1, 30), st.integers(1, 9), st.integers(0, 1000))
def test_positions_are_balanced_within_one_in_every_group_and_over_the_study(
    size: int, n_groups: int, k: int, seed: int
) -> None:
    found = design.draw_orders([size] * n_groups, k, policy="balanced", rng=np.random.default_rng(seed))

    assert all(spread(rows, size) <= 1 for rows in found)
    squares = [
        [row for rows in found[n :: len(design.williams_squares(size))] for row in rows]
        for n in range(len(design.williams_squares(size)))
    ]
    assert all(spread(rows, size) <= 1 for rows in squares if rows)


@given(st.integers(1, 200), st.integers(1, 4), st.integers(0, 1000))
def test_pairs_are_shown_in_either_order_equally_often_within_one(n_pairs: int, k: int, seed: int) -> None:
    found = design.draw_orders([2] * n_pairs, k, policy="balanced", rng=np.random.default_rng(seed))

    first = Counter(row[0] for rows in found for row in rows)
    assert abs(first[0] - first[1]) <= 1


@given(st.integers(1, 12), st.integers(1, 30), st.integers(0, 1000))
def test_in_any_rows_every_group_stands_at_every_position_equally_often_but_for_one(n: int, k: int, seed: int) -> None:
    rows = design.draw_rows(n, k, policy="balanced", rng=np.random.default_rng(seed))

    assert [sorted(row) for row in rows] == [list(range(n))] * k
    assert spread(rows, n) <= 1


@given(st.integers(2, 12), st.integers(0, 1000))
def test_as_many_rows_as_groups_hold_each_group_once_at_each_position(n: int, seed: int) -> None:
    rows = design.draw_rows(n, n, policy="balanced", rng=np.random.default_rng(seed))

    assert all(sorted(column) == list(range(n)) for column in zip(*rows, strict=True))


@given(st.integers(2, 12), st.integers(0, 1000))
def test_every_group_follows_every_other_equally_often(n: int, seed: int) -> None:
    """After one square of an even number of groups, and after the square and its mirror of an odd one."""
    n_squares = 1 + n % 2
    rows = design.draw_rows(n, n * n_squares, policy="balanced", rng=np.random.default_rng(seed))

    after = Counter(pair for row in rows for pair in pairwise(row))
    assert (len(after), set(after.values())) == (n * (n - 1), {n_squares})


@pytest.mark.parametrize(("n", "k"), [(18, 2), (18, 3), (18, 5), (97, 5), (100, 3)])
def test_where_rows_are_few_the_mean_position_of_every_group_is_near_the_middle(n: int, k: int) -> None:
    rows = design.draw_rows(n, k, policy="balanced", rng=np.random.default_rng(7))

    places = np.array([[row.index(group) for row in rows] for group in range(n)])
    assert abs(places.mean(axis=1) - (n - 1) / 2).max() <= n / 10


def test_a_thousand_groups_take_a_moment() -> None:
    rows = design.draw_rows(1000, 5, policy="balanced", rng=np.random.default_rng(7))

    assert spread(rows, 1000) == 1
    assert design.draw_rows(4, 2, policy="fixed", rng=np.random.default_rng(7)) == [[0, 1, 2, 3]] * 2


@pytest.mark.django_db
def test_along_a_row_of_pairs_each_story_is_shown_first_in_half() -> None:
    study = factories.study(n_groups=20, n_stories=2, k=10)

    for row in range(1, 11):
        firsts = Counter(seat.order[0][-2:] for seat in study.seats.filter(row=row))
        assert firsts == {"s1": 10, "s2": 10}


@pytest.mark.django_db
def test_every_row_holds_every_group_once_at_positions_without_gaps() -> None:
    study = factories.study(n_groups=5, k=3)

    for row in (1, 2, 3):
        seats = study.seats.filter(row=row).order_by("position")
        assert [seat.position for seat in seats] == [1, 2, 3, 4, 5]
        assert len({seat.group_id for seat in seats}) == 5
    assert all(sorted(s.number for s in group.seats.all()) == [1, 2, 3] for group in study.groups.all())


@pytest.mark.django_db
def test_the_same_seed_plans_the_same_seats_and_another_seed_others() -> None:
    def planned(slug: str, seed: int) -> list[tuple[str, int | None, int | None, list[str]]]:
        study = factories.study(slug, n_groups=4, planned=False)
        study.seed = seed
        study.save()
        seats = factories.plan(study)
        return [(s.group.code, s.row, s.position, s.order) for s in seats]

    first = planned("one", 7)

    assert planned("two", 7) == first
    assert planned("three", 8) != first


@pytest.mark.django_db
def test_seats_stay_once_the_study_is_launched() -> None:
    study = factories.study()

    with pytest.raises(protocol.NotPlannable, match="plums: its places stay, since it has been launched"):
        design.plan(study)

    assert study.seats.count() == 3


@pytest.mark.django_db
def test_only_a_step_within_a_group_may_lock() -> None:
    study = factories.study(planned=False)
    Step.objects.filter(key__in=("consent", "ranking")).update(locks=True)

    with pytest.raises(protocol.NotPlannable, match="“Consent”: only a step") as refused:
        factories.plan(study)

    assert "“Put them in order”" not in str(refused.value)


@pytest.mark.django_db
def test_freezing_makes_protocol_version_one() -> None:
    version = factories.study().versions.get()

    assert version.number == 1
    assert version.frozen_at == factories.NOON
    assert len(version.sha256) == 64


@pytest.mark.django_db
def test_a_judges_seat_does_not_count_towards_the_peoples() -> None:
    study = factories.study()
    group = study.groups.get()

    seat = factories.judge_seat(study, group, ["p1s1", "p1s2", "p1s3", "p1s4"])

    assert seat.number == 1
    assert study.seats.filter(rater_kind="person").count() == 3
    assert factories.assignment(study).seat != seat
