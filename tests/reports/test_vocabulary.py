"""Every column of the report's tables has a name of the vocabulary and holds what the vocabulary says of it."""

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any

import pytest

from reports import results
from reports.document.files import write_rows
from reports.document.values import Floor, Interval, Mean
from reports.document.vocabulary import (
    PARTICULAR,
    RENAMED,
    WORDS,
    ColumnWord,
    UnknownColumn,
    base_name,
    column_word,
    old_names,
)
from reports.figures import by_table
from reports.figures.base import NO_HEAD, Listing, Row
from reports.figures.progress.amendments import AmendedVersion, Amendments, WordingChange
from reports.figures.raters.questions import RaterQuestion, RaterQuestions, RaterQuestionsResult
from reports.figures.themes.themes import SampleThemes, ThemeRow, Themes, ThemeShare
from tests.reports.packaged import MAKERS
from tests.reports.packed import Pack
from tests.reports.test_pages import full_study

KINDS = {"string": str, "integer": int, "number": int | float, "boolean": bool, "array": list, "object": dict}
Tables = dict[str, list[Row]]


@pytest.mark.django_db
def test_every_column_of_a_report_is_in_the_vocabulary_and_of_its_kind() -> None:
    tables = _tables(results.compute(full_study()))

    assert {"agreement", "judges-on-verdicts", "rankings"} <= {name for name, rows in tables.items() if rows}
    assert list(_misfits(tables)) == []


@pytest.mark.django_db
@pytest.mark.slow
@pytest.mark.embedded
def test_every_column_of_every_figure_is_in_the_vocabulary_which_holds_no_other(pack: Pack) -> None:
    columns: set[tuple[str, str]] = set()
    for name in MAKERS:
        tables = _tables(json.loads(pack(name).read("report.json")))
        assert (name, list(_misfits(tables))) == (name, [])
        columns |= {(table, column) for table, rows in tables.items() for row in rows for column in row}
    by_hand = {"amendments": _rows_of_amendments(), "raters-to-ask": _rows_of_raters_to_ask(), **_rows_of_themes()}
    assert list(_misfits(by_hand)) == []
    columns |= {(table, column) for table, rows in by_hand.items() for row in rows for column in row}

    assert {table for table, _column in columns} == set(by_table())
    used = {_entry(table, column) for table, column in columns}
    particular = {(table, name) for table, names in PARTICULAR.items() for name in names}
    assert sorted(map(str, (WORDS.keys() | particular) - used)) == []
    assert {(table, new) for table, names in RENAMED.items() for new in names.values()} <= columns


def test_intervals_and_floors_are_named_after_the_number_that_they_belong_to() -> None:
    assert column_word("pair-lengths", "longer_low") == ColumnWord(
        kind="number",
        unit="percent",
        meaning="Lower end of the 95 % interval. Of 100 pairs of unequal length, in how many the longer story is "
        "preferred.",
    )
    assert column_word("item-rest", "with_rest_chance_upper").unit == "coefficient"
    assert column_word("agreement", "within GPT-4").kind == "number"


def test_a_name_may_mean_something_narrower_in_one_table() -> None:
    assert column_word("factors", "level") != column_word("cloze-alphas", "level")


@pytest.mark.parametrize("name", ["strangeness", "item_low", "n_strange", "_low"])
def test_a_name_that_nobody_has_explained_is_refused(name: str) -> None:
    with pytest.raises(UnknownColumn, match=name):
        column_word("agreement", name)


def test_a_column_says_what_it_was_called_before() -> None:
    assert old_names("trends", "chance_upper") == ["chance_end"]
    assert old_names("agreement", "chance_upper") == []


def test_every_meaning_is_a_sentence() -> None:
    meanings = [*(word.meaning for word in WORDS.values()), *(m for of in PARTICULAR.values() for *_, m in of.values())]

    assert [meaning for meaning in meanings if not (meaning[0].isupper() and meaning.endswith("."))] == []


def _tables(report: dict[str, Any]) -> Tables:
    """The rows of every table of a report."""
    computed = results.read_results(report).computed
    return dict(chain.from_iterable(_listed(figure.rows(result)) for figure, result in computed))


def _listed(tables: Any) -> Iterator[tuple[str, list[Row]]]:
    return ((name, list(rows)) for name, rows in tables.items())


def _rows_of_amendments() -> list[Row]:
    change = WordingChange(place="title", before="Plum", after="Plums")
    at = "2026-11-27T00:00:00+00:00"
    version = AmendedVersion(version=2, at=at, reason="A slip.", holds_for="newcomers", changes=(change,), n_answers=3)
    return write_rows(Amendments().describe(Listing((version,)), NO_HEAD))["amendments"]


def _rows_of_raters_to_ask() -> list[Row]:
    question = RaterQuestion(rater="E01", sign="pace", value=1.5, others=6.5, n_stories=12, n_answers=0, p=0.01)
    result = RaterQuestionsResult(n_raters=6, n_tests=4, rows=(question,))
    return write_rows(RaterQuestions().describe(result, NO_HEAD))["raters-to-ask"]


def _rows_of_themes() -> Tables:
    ends, mean = Interval(low=0.25, high=0.75), Mean(value=0.5, n=2, n_left_out=0)
    row = ThemeRow(
        theme="Plot",
        n_first=2,
        n_second=3,
        percent=mean,
        kappa=mean,
        alpha=mean,
        interval=ends,
        floor=Floor(mean=0.0, upper=0.25),
        judge_kappa=mean,
        shares=(ThemeShare(source="", n_stories=4, share=mean, interval=ends),),
    )
    sample = SampleThemes(item="", n_reasons=4, n_stories=4, judge="gpt", rows=(row,))
    return write_rows(Themes().describe(Listing((sample,)), NO_HEAD))


def _misfits(tables: Tables) -> Iterator[str]:
    """The columns with another value than their kind allows."""
    for table, rows in tables.items():
        for column in {name: None for row in rows for name in row}:
            kind = column_word(table, column).kind
            values = [row[column] for row in rows if row.get(column) is not None]
            wrong = [value for value in values if not _is_of_kind(value, kind)]
            if wrong:
                yield f"{table}: {column} is no {kind}: {wrong[0]!r}"


def _is_of_kind(value: Any, kind: str) -> bool:
    return isinstance(value, KINDS[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _entry(table: str, column: str) -> Any:
    """The entry of the vocabulary that a column is explained by."""
    if column in PARTICULAR.get(table, {}):
        return table, column
    if column in WORDS:
        return column
    stem = column.removesuffix("_low").removesuffix("_high").removesuffix("_chance_mean").removesuffix("_chance_upper")
    return base_name(stem)
