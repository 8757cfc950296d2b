import pytest
from hypothesis import given
from hypothesis import strategies as st

from stats.reasons import Incomputable
from stats.superiority import superiority

values = st.lists(st.integers(0, 5).map(float), min_size=1, max_size=8)


def test_pairs_are_counted_and_ties_are_halves() -> None:
    # 3 > 1, 3 = 3, 2 > 1, 2 < 3.
    assert superiority([3, 2], [1, 3]) == (1 + 0.5 + 1 + 0) / 4
    with pytest.raises(Incomputable, match="no scores"):
        superiority([], [1])


@given(values, values)
def test_the_other_way_round_is_the_rest(a: list[float], b: list[float]) -> None:
    assert superiority(a, b) == pytest.approx(1 - superiority(b, a))
    assert superiority(a, b) == pytest.approx(sum((x > y) + (x == y) / 2 for x in a for y in b) / len(a) / len(b))
