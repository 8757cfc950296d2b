"""The long file: a column is a line."""

import pytest

from reports.export import codebook, columns, long_table
from reports.export.columns import Column
from tests.reports import given

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("is_of_source", [False, True])
def test_a_new_column_stands_in_the_file_and_in_the_codebook(
    monkeypatch: pytest.MonkeyPatch, is_of_source: bool
) -> None:
    study = given.closed_study()
    given.verdicts(study, {"E01": "ynyn"})
    probe = Column("probe", "What is probed.", lambda row: row.item.key.upper(), is_of_source=is_of_source)
    monkeypatch.setattr(long_table, "COLUMNS", (*columns.COLUMNS, probe))

    open_rows = list(long_table.rows(study, with_sources=True))
    blind_rows = list(long_table.rows(study, with_sources=False))
    names = [row["name"] for row in codebook.rows(study, with_sources=True)]

    assert [row["probe"] for row in open_rows] == ["ITEM-1"] * 4
    assert all(("probe" in row) != is_of_source for row in blind_rows)
    assert "probe" in names


def test_no_two_columns_share_a_name() -> None:
    names = [column.name for column in columns.COLUMNS]

    assert len(names) == len(set(names)) > 20
