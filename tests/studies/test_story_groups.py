"""Groups of stories: balanced, paired or alone, drawn by a seed; codes that say nothing."""

import tracemalloc
from collections import Counter

import pytest

from studies.story_groups import Member, code_groups, form_groups, neutral_codes

MEMBERS = [Member(n, f"Text {n}", "ABCD"[n % 4], premise=f"Premise {n // 8}") for n in range(16)]


def test_balanced_groups_have_one_story_by_every_source_on_one_premise() -> None:
    groups = form_groups(MEMBERS, "balanced", seed=7)

    assert [sorted(n % 4 for n in keys) for keys in groups.values()] == [[0, 1, 2, 3]] * 4
    assert all(len({n // 8 for n in keys}) == 1 for keys in groups.values())


def test_pairs_are_by_two_sources() -> None:
    groups = form_groups(MEMBERS, "pairs", seed=7)

    assert [len({n % 4 for n in keys}) for keys in groups.values()] == [2] * 8


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_groups_of_so_many_are_by_as_many_sources_as_there_are_on_one_premise(size: int) -> None:
    groups = list(form_groups(MEMBERS, "size", seed=7, size=size).values())

    sizes = [size] * (8 // size) + [8 % size] * (8 % size > 0)
    assert sorted(map(len, groups)) == sorted(sizes * 2)
    assert sorted(n for keys in groups for n in keys) == list(range(16))
    assert all(len({n // 8 for n in keys}) == 1 for keys in groups)
    assert all(len({n % 4 for n in keys}) == min(len(keys), 4) for keys in groups if len(keys) in (size, 1))


@pytest.mark.parametrize("grouping", ["pairs", "size"])
def test_no_two_sources_always_meet(grouping: str) -> None:
    members = [Member(n, f"Text {n}", "ABCD"[n % 4]) for n in range(160)]

    groups = form_groups(members, grouping, seed=7, size=2)

    meetings = Counter(tuple(sorted(n % 4 for n in keys)) for keys in groups.values())
    assert len(meetings) == 6, "each source meets each other"
    assert min(meetings.values()) >= 5


def test_the_draw_depends_on_the_seed_and_not_on_the_order_of_the_file() -> None:
    groups = form_groups(MEMBERS, "balanced", seed=7)

    assert form_groups(MEMBERS[::-1], "balanced", seed=7) == groups
    assert form_groups(MEMBERS, "balanced", seed=8) != groups


def test_codes_of_groups_are_made_of_names_and_never_twice() -> None:
    assert code_groups(["orchard", "Harbour pilot", "7", "Harbour-pilot", "桜"]) == {
        "orchard": "orchard",
        "Harbour pilot": "Harbour-pilot-2",
        "7": "g7",
        "Harbour-pilot": "Harbour-pilot",
        "桜": "g5",
    }


def test_one_neutral_code_is_drawn_without_making_all_that_there_could_be() -> None:
    tracemalloc.start()
    try:
        assert len(neutral_codes(1)) == 1
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 100_000


def test_neutral_codes_are_drawn_and_are_nobody_elses() -> None:
    first = neutral_codes(100)
    taken = {f"s{n}" for n in range(10_000, 100_000)} - {"s12345", "s54321"}

    assert len(set(first)) == 100
    assert first != sorted(first)
    assert sorted(neutral_codes(2, taken=taken)) == ["s12345", "s54321"]
    assert {len(code) for code in neutral_codes(3, taken=taken)} == {7}


def test_codes_that_are_drawn_later_do_not_look_different() -> None:
    first = neutral_codes(60)
    second = neutral_codes(60, taken=first)
    later = set(second)
    shapes = {(code[0], len(code)) for code in first + second}

    in_order = [code in later for code in sorted(first + second)]
    pairs = [b for i, a in enumerate(in_order) for b in in_order[i + 1 :] if a != b]

    assert shapes == {("s", 6)}
    # Of random orders 1 in 10,000 lies outside.
    assert 0.25 < sum(pairs) / len(pairs) < 0.75
