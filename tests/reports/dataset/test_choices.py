"""Choices as numbers, and what raters would choose who do not look at the stories."""

import numpy as np

from reports.dataset.choices import Choice, ChoiceTable, choice_table
from stats import agreement
from stats.agreement import Floor
from stats.arrays import FloatArray

GROUPS = [f"g{n:02}" for n in range(30)]
RATERS = ("E01", "E02", "E03")


def brought_in(better: str, worse: str) -> ChoiceTable:
    """Thirty pairs of which three raters choose nearly always the same story. better, worse : the codes begin so"""
    rng = np.random.default_rng(3)
    choices = []
    for rater in RATERS:
        for group in GROUPS:
            codes = (f"{better}-{group}", f"{worse}-{group}")
            story = codes[int(rng.random() < 0.1)]
            choices.append(Choice(rater, group, tuple(sorted(codes)), story, is_imported=True))
    return choice_table(choices, GROUPS)


def floor_of(table: ChoiceTable) -> Floor:
    anywhere = np.random.default_rng(5)

    def kappa(positions: FloatArray) -> agreement.Coefficient:
        return agreement.brennan_prediger(table.at_positions(positions, anywhere), 2)

    return agreement.chance_floor(table.positions, kappa, rng=np.random.default_rng(7), n_shuffles=300)


def test_the_floor_of_pairs_brought_in_is_that_of_coins_whatever_stories_are_called() -> None:
    chosen_is_first, chosen_is_second = floor_of(brought_in("a", "b")), floor_of(brought_in("b", "a"))

    assert chosen_is_first == chosen_is_second
    assert abs(chosen_is_first.mean) < 0.02
    assert 0.1 < chosen_is_first.upper < 0.3


def test_who_preferred_neither_still_does_in_a_shuffle() -> None:
    groups = GROUPS[:4]
    choices = [Choice("E01", group, ("a", "b"), "a" if group < "g02" else "", is_imported=True) for group in groups]
    table = choice_table(choices, groups)

    taken = table.at_positions(table.positions, np.random.default_rng(5))

    assert set(taken[0, :2]) <= {0, 1}
    assert taken[0, 2:].tolist() == [-1, -1]


def test_a_known_page_keeps_its_positions_beside_one_that_is_not_known() -> None:
    choices = [
        Choice("E01", "g00", ("b", "a"), "b"),
        Choice("E02", "g00", ("a", "b"), "b", is_imported=True),
    ]
    table = choice_table(choices, ["g00"])

    drawn = [table.at_positions(table.positions, np.random.default_rng(seed))[:, 0].tolist() for seed in range(20)]

    assert {first for first, _second in drawn} == {1}
    assert {second for _first, second in drawn} == {0, 1}
