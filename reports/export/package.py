"""The export package of a study: one zip, written as it goes, the same to the last byte for the same answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import stats
from reports import results
from reports.export import answer_tables, documents, exclusion_tables, judge_tables, theme_tables, work_tables
from reports.export import codebook as codebooks
from reports.export.archive import Archive, WrittenFile
from reports.export.content import PackageContent, PackageTable, Row
from reports.export.judge_calls import call_lines, count_calls
from reports.export.recompute.figures import MODULE_BY_FIGURE
from reports.export.report_columns import ReportColumns
from reports.export.spreadsheet import BYTE_ORDER_MARK, make_harmless
from reports.figures import all_figures
from reports.page.context import filled_tables
from reports.page.csv import csv_lines
from studies.typography import word_boundaries

TABLES: Mapping[str, PackageTable] = {
    table.name: table
    for table in (
        *(*answer_tables.TABLES, *work_tables.TABLES, *judge_tables.TABLES, *theme_tables.TABLES),
        *exclusion_tables.TABLES,
    )
}
CALLS = "judge_calls.jsonl"
IN_MEMORY_BYTES = 1_000_000  # of a table's copy; a larger one waits on the disk
HERE = Path(__file__).parent
COMMAND = HERE / "recompute" / "command.py"
# What computes the report again: its name in the package, and where it stands here. `stats` comes along whole.
SCRIPTS: Mapping[str, Path] = {
    "recompute.py": COMMAND,
    **{f"recompute/{path.name}": path for path in sorted(COMMAND.parent.glob("*.py")) if path != COMMAND},
    "recompute/word_boundaries.py": Path(word_boundaries.__file__),  # in which near-copies are compared
    **{f"stats/{path.name}": path for path in sorted(Path(stats.__path__[0]).glob("*.py"))},
    **{f"script/{path.name}": path for path in sorted((HERE / "script").glob("*.R"))},
}


class ReasonMissing(ValueError):
    """A package with sources is made for a reason, which is kept."""


@dataclass(frozen=True)
class PackageSummary:
    """What came of it. excluded : what was left out, and how much of it"""

    files: tuple[WrittenFile, ...]
    excluded: dict[str, int]


def write_package(
    content: PackageContent,
    stream: IO[bytes],
    *,
    report: Mapping[str, Any],
    editions: str = "",
    reason: str = "",
    left_out: Collection[str] = (),
    progress: Callable[[int, int], None] = lambda n_done, n_files: None,
) -> PackageSummary:
    """Write the package of a study into the stream. Reads the database table by table, as it goes.

    report : the study's report, blind if the package is
    editions : in English, by which editions it was computed where these are others now
    left_out : names of files that were not asked for; what `recompute.py` reads is always written
    progress : called with how many files are written, of how many
    Raises ReasonMissing if sources are to stand in it and no reason is given.
    """
    if content.with_sources and not reason.strip():
        raise ReasonMissing
    tables = {name: table for name, table in TABLES.items() if table.is_needed or name not in left_out}
    archive = Archive(stream)
    with ExitStack() as open_files:
        copies = {name: open_files.enter_context(SpooledTemporaryFile(IN_MEMORY_BYTES)) for name in tables}
        report_tables = _report_tables(report)
        report_columns = {path: list(rows[0]) for path, rows in report_tables.items()}
        writers = [*_tables(content, tables, copies), *_report_files(report, report_tables)]
        if CALLS not in left_out:
            writers.append((CALLS, call_lines(content), False))
        writers += _documents(content, tables, report_columns)
        n_files = len(writers) + 3
        for n_done, (name, pieces, is_table) in enumerate(writers):
            progress(n_done, n_files)
            archive.write(name, pieces, is_table=is_table)
    excluded = documents.count_excluded(content)
    described = list(archive.files)
    facts = (content, described, tables, excluded, reason.strip(), editions)
    archive.write("README.md", [documents.card(*facts, not_recomputed=list_not_recomputed(report))])
    descriptor = documents.descriptor(content, list(archive.files), tables, report_columns, excluded)
    archive.write("datapackage.json", [documents.to_json(descriptor)])
    archive.close()
    progress(n_files, n_files)
    return PackageSummary(tuple(archive.files), excluded)


def list_not_recomputed(report: Mapping[str, Any]) -> list[str]:
    """The parts of the report that `recompute.py` has no function for, by their keys; of a new figure its own."""
    return sorted(name for name in all_figures().keys() - MODULE_BY_FIGURE.keys() if report.get(name))


Writer = tuple[str, Iterator[str], bool]


def _tables(
    content: PackageContent, tables: Mapping[str, PackageTable], copies: Mapping[str, IO[bytes]]
) -> Iterator[Writer]:
    """The tables, and what is copied from them for spreadsheets as they are written: each row is read once."""
    for name, table in tables.items():
        yield name, _copied_lines(table.fields(content), table.rows(content), copies[name]), True
    for name, copy in copies.items():
        yield f"spreadsheets/{name}", _lines_of(copy), False


def _copied_lines(header: Iterable[str], rows: Iterator[Row], copy: IO[bytes]) -> Iterator[str]:
    """The lines of a table; as they are taken, those for spreadsheets go into the copy."""
    copy.write(BYTE_ORDER_MARK.encode())
    for line in csv_lines(header, rows):
        copy.write(make_harmless(line).encode())
        yield line


def _lines_of(copy: IO[bytes]) -> Iterator[str]:
    copy.seek(0)
    for line in copy:
        yield line.decode()


def _report_tables(report: Mapping[str, Any]) -> dict[str, list[Row]]:
    """The rows of each table of the report that has any, by its file; agreement first."""
    tables = sorted(filled_tables(results.read_results(dict(report))).items())
    return {("agreement.csv" if name == "agreement" else f"report/{name}.csv"): rows for name, rows in tables}


def _report_files(report: Mapping[str, Any], tables: Mapping[str, list[Row]]) -> Iterator[Writer]:
    """The tables of the report, and the report itself."""
    for path, rows in tables.items():
        yield path, csv_lines(rows[0], rows), True
    yield "report.json", iter([documents.to_json(report)]), False


def _documents(
    content: PackageContent, tables: Mapping[str, PackageTable], report_columns: ReportColumns
) -> Iterator[Writer]:
    rows = codebooks.rows(content.study, with_sources=content.with_sources)
    yield "codebook.csv", csv_lines(codebooks.COLUMNS, rows), True
    yield "codebook.json", iter([documents.to_json(documents.codebook(content, tables, report_columns))]), False
    yield "protocol.json", iter([documents.to_json(documents.protocols(content))]), False
    for name, path in SCRIPTS.items():
        yield name, iter([path.read_text(encoding="utf-8")]), False


def count_rows(content: PackageContent) -> dict[str, int]:
    """How many rows each file that one may choose would have. One query each, or two."""
    return {name: table.count(content) for name, table in TABLES.items()} | {CALLS: count_calls(content)}
