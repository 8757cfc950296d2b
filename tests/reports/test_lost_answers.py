"""The table of what judges left unanswered: however many sources there are, each has a row."""

import re
from types import SimpleNamespace

from django.template.loader import render_to_string


def test_each_source_has_a_row_and_no_source_a_column() -> None:
    names = [f"Manner {letter}" for letter in "ABCDEFGHIJ"]
    cells = [SimpleNamespace(source=name, lost=1, expected=4, lost_percent=25.0, heat=4) for name in names]
    outcomes = SimpleNamespace(by_source=cells, declined=7, unreadable=3, missing=0, uneven=None)

    page = render_to_string(
        "reports/lost_answers.html", {"judges": [SimpleNamespace(judge="stub", outcomes=outcomes)], "caption": "Lost"}
    )

    assert re.findall(r'<th scope="row">(.*?)</th>', page) == names
    assert len(re.findall(r'<th scope="col"', page)) == 3
    assert "stub: declined 7, unreadable 3, missing 0" in page
    assert page.count("1 of 4") == 10
