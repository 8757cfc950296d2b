"""The table of what judges left unanswered: however many sources there are, each has a row."""

import re
from dataclasses import replace
from typing import Any

from django.template.loader import render_to_string

from reports.document.model import Notice, ReportTable
from reports.document.page import PageTable
from reports.figures.judges import tables
from reports.figures.judges.outcomes import Outcomes, SourceOutcomes
from reports.figures.judges.scores import JudgeScores

NAMES = [f"Manner {letter}" for letter in "ABCDEFGHIJ"]
COUNTS = SourceOutcomes(answered=3, declined=1, unreadable=0, missing=0, expected=4, lost_percent=25.0)
TOTAL = {"answered": 30, "declined": 7, "unreadable": 3, "missing": 0, "expected": 40, "lost_percent": 25.0}


def judge(*by_source: SourceOutcomes) -> JudgeScores:
    outcomes = Outcomes(**TOTAL, by_source=by_source)
    return JudgeScores(judge="stub", n_people=0, person_lines=(), scores=(), items=(), outcomes=outcomes)


def lost(*by_source: SourceOutcomes) -> tuple[ReportTable[Any], list[Any]]:
    table, *others = tables.losses("lost-verdicts", [judge(*by_source)], caption="Lost")
    assert isinstance(table, ReportTable)
    return table, others


def test_each_source_has_a_row_and_no_source_a_column() -> None:
    table, others = lost(*(replace(COUNTS, source=name) for name in NAMES))

    page = render_to_string("reports/document/frame.html", {"table": PageTable.of(table)})

    assert re.findall(r'<th scope="row">(.*?)</th>', page) == ["All", *NAMES]
    assert len(re.findall(r'<th scope="col"', page)) == 3
    assert "stub: declined 7, unreadable 3, missing 0" in page
    assert page.count("1 of 4") == 10
    assert page.count("10 of 40") == 1
    assert not [block for block in others if isinstance(block, Notice)]


def test_sources_that_are_lost_unevenly_are_named() -> None:
    most, least = replace(COUNTS, source="Manner A"), replace(COUNTS, source="Manner B", answered=4, lost_percent=0.0)

    notices = [block for block in lost(most, least)[1] if isinstance(block, Notice)]

    assert len(notices) == 1
    assert "25.0 % on stories of Manner A, 0.0 % on those of Manner B" in str(notices[0].words)
