"""Groups of stories: balanced, paired or alone, drawn by a seed; codes that say nothing."""

from studies.story_groups import Member, code_groups, form_groups, neutral_codes

MEMBERS = [Member(n, f"Text {n}", "ABCD"[n % 4], premise=f"Premise {n // 8}") for n in range(16)]


def test_balanced_groups_have_one_story_by_every_source_on_one_premise() -> None:
    groups = form_groups(MEMBERS, "balanced", seed=7)

    assert [sorted(n % 4 for n in keys) for keys in groups.values()] == [[0, 1, 2, 3]] * 4
    assert all(len({n // 8 for n in keys}) == 1 for keys in groups.values())


def test_pairs_are_by_two_sources() -> None:
    groups = form_groups(MEMBERS, "pairs", seed=7)

    assert [len({n % 4 for n in keys}) for keys in groups.values()] == [2] * 8


def test_the_draw_depends_on_the_seed_and_not_on_the_order_of_the_file() -> None:
    groups = form_groups(MEMBERS, "balanced", seed=7)

    assert form_groups(MEMBERS[::-1], "balanced", seed=7) == groups
    assert form_groups(MEMBERS, "balanced", seed=8) != groups


def test_codes_of_groups_are_made_of_names_and_never_twice() -> None:
    assert code_groups(["orchard", "Harbour pilot", "7", "Harbour-pilot", "桜"], taken=["g7"]) == {
        "orchard": "orchard",
        "Harbour pilot": "Harbour-pilot-2",
        "7": "g7-2",
        "Harbour-pilot": "Harbour-pilot",
        "桜": "g5",
    }


def test_neutral_codes_are_drawn_and_are_nobody_elses() -> None:
    codes = neutral_codes(100, taken=["s001"])

    assert sorted(codes) == [f"t{n:03}" for n in range(1, 101)]
    assert codes != sorted(codes)
