"""The trials of saving in their short form, and what they find when a defence is switched off."""

import pytest

from tools.trials import faults

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("committed")]


def test_no_answer_is_lost_and_none_doubled_over_a_bad_line_to_a_server_that_is_killed() -> None:
    found = faults.run(4, 8, seconds_between_kills=1.0)

    assert found["answers"] == 4 * 8
    assert found["kills"] >= 1, found
    for fault in ("never sent", "answer lost", "late", "twice"):
        assert found["faults"][fault] > 0
    assert [found[what] for what in ("lost", "doubled", "met themselves as a stranger", "faults in the history")] == [
        0,
        0,
        0,
        0,
    ], found


def test_without_revisions_and_keys_answers_are_lost_and_doubled() -> None:
    found = faults.run(4, 8, seconds_between_kills=60, without="revisions")

    assert found["doubled"] > 0
    assert found["lost"] > 0
