import pytest

from tools.bench import cost

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("committed")]


def test_a_save_and_a_page_are_measured_beside_bare_ones() -> None:
    costs = cost.run(20)

    assert list(costs)[:4] == [f"CPU ms a {kind}" for kind in ("save", "bare save", "page", "bare page")]
    assert all(value > 0 for value in costs.values())
