"""A table as a file: CSV, exactly as it is; or .xlsx, whose cells a spreadsheet takes as they are meant."""

import tempfile
from collections.abc import Iterable
from typing import Any

from django.http import FileResponse, StreamingHttpResponse
from django.urls.converters import StringConverter

from reports.export.workbooks import CONTENT_TYPE, write_workbook
from reports.page.csv import csv_lines

CSV, WORKBOOK = "csv", "xlsx"
IN_MEMORY_BYTES = 1_000_000


class TableEnding(StringConverter):
    """The end of a table's address, which says as what it is sent."""

    regex = f"{CSV}|{WORKBOOK}"


def send_table(
    name: str, header: Iterable[str], rows: Iterable[dict[str, Any]], *, ending: str
) -> StreamingHttpResponse:
    """The table as a download; a workbook is written whole before it is sent. name : of the file, without its end"""
    if ending == WORKBOOK:
        workbook = tempfile.SpooledTemporaryFile(IN_MEMORY_BYTES)  # noqa: SIM115  the response closes it
        write_workbook(workbook, header, rows, whole=f"{name}.{CSV}")
        workbook.seek(0)
        return FileResponse(workbook, as_attachment=True, filename=f"{name}.{WORKBOOK}", content_type=CONTENT_TYPE)
    return StreamingHttpResponse(
        csv_lines(header, rows),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.{CSV}"'},
    )
