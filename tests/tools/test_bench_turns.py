"""What two checkouts cost stands side by side, with its ratio."""

from pathlib import Path

from tools import measurement
from tools.bench import turns


def test_medians_of_both_and_their_ratio_stand_in_a_row() -> None:
    here = (measurement.ROOT, "python")

    text = turns.section([here, here], {"SQLite": [{"saves/s": 100.0}, {"saves/s": 150.0}]}, 3)

    assert text.startswith(turns.HEADING)
    assert "| SQLite: saves/s | 100.00 | 150.00 | 1.50 |" in text


def test_a_checkout_may_name_its_python() -> None:
    assert turns.with_python("/old=/old/bin/python") == (Path("/old"), "/old/bin/python")
    assert turns.with_python("/old")[0] == Path("/old")
