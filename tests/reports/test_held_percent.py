"""Of twenty intervals about nineteen hold it: said only where simulations say so of each interval on the page."""

import pytest

from reports.document.values import Interval
from reports.page.statements import held_percent


def ends(method: str, n: int) -> Interval:
    return Interval(low=0.1, high=0.2, n_resampled=n, method=method)


@pytest.mark.parametrize(
    ("intervals", "expected"),
    [
        ([ends("t", 12), ends("percentile", 120), None], 95),
        ([ends("t", 12), ends("jackknife", 5)], 90),
        ([ends("t", 12), ends("t", 3)], None),
        ([Interval(low=None, high=None)], None),
    ],
)
def test_the_weakest_interval_decides(intervals: list[Interval | None], expected: int | None) -> None:
    assert held_percent(intervals) == expected
