"""How often a package reads what stands in it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from reports.export import package as packages
from reports.export.content import PackageContent, PackageTable
from tests.reports.test_packages import issued, table
from tests.reports.test_pages import full_study

pytestmark = pytest.mark.django_db


def test_each_table_is_read_once_for_itself_and_its_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    n_read: Counter[str] = Counter()

    def counted(of_package: PackageTable) -> PackageTable:
        def rows(content: PackageContent) -> Iterator[dict[str, object]]:
            n_read[of_package.name] += 1
            return of_package.rows(content)

        return replace(of_package, rows=rows)

    names = list(packages.TABLES)
    monkeypatch.setattr(packages, "TABLES", {name: counted(packages.TABLES[name]) for name in names})

    _package, archive = issued(full_study())

    assert len(table(archive, "spreadsheets/responses_long.csv")) == len(table(archive, "responses_long.csv")) > 0
    assert n_read == dict.fromkeys(names, 1)
