"""Saving while the backends of the database are ended, in its short form. SQLite has none: there people only save."""

import pytest
from django.db import connection

from tools.trials import restarts

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("committed")]


def test_every_answer_is_there_and_no_page_fails_later_than_a_second_after_the_backends_were_ended() -> None:
    counts = restarts.run(4, 8, n_ends=1, seconds_between=0.5)

    assert counts["answers"] == 4 * 8
    assert counts["times ended"] == 1
    assert (counts["backends ended"] > 0) == (connection.vendor == "postgresql")
    assert [counts[what] for what in ("lost", "doubled", "late", "faults in the history")] == [0, 0, 0, 0], counts


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has no backends that could be ended")
def test_without_a_check_of_connections_what_is_asked_after_the_end_fails() -> None:
    counts = restarts.run(4, 8, n_ends=1, seconds_between=0.5, grace=0, without="checks")

    assert counts["times ended"] == 1
    assert counts["late"] > 0, counts
