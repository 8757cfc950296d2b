import pytest

from tools.bench import __main__ as bench
from tools.bench import designer

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("committed")]


def test_a_designers_pages_are_measured_for_the_stories_and_people_asked_for() -> None:
    costs = designer.run(40, 8, 2)

    assert (costs["stories"], costs["people"]) == (40, 8)
    assert bench.MOST_OF_DESIGNERS.keys() <= costs.keys()
    assert all(value > 0 for value in costs.values())
