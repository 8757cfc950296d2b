"""The table that somebody brought, kept for that account until it is confirmed, put aside, or a day old."""

from __future__ import annotations

import zlib
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import QuerySet

from studies.incoming_tables.files import read_file
from studies.incoming_tables.readings import FileReading, ReadingChoices
from studies.incoming_tables.tables import IncomingTable, TableKind
from studies.models import WaitingFile, WaitingTable

KEPT = timedelta(days=1)
_FAST = 1  # of zlib's levels
AnyWaitingTable = TypeVar("AnyWaitingTable", bound=WaitingTable)


@transaction.atomic
def keep(earlier: QuerySet[AnyWaitingTable], table: IncomingTable, *, at: datetime, **fields: Any) -> AnyWaitingTable:
    """The table, kept in place of those earlier ones; its file too, where it can be read otherwise."""
    forget(earlier)
    if issubclass(earlier.model, WaitingFile):
        fields |= {"reading": table.reading.as_json(), "content": zlib.compress(table.content, _FAST)}
    return earlier.model._default_manager.create(file_name=table.name, table=table.as_text(), created_at=at, **fields)


def forget(rows: QuerySet[AnyWaitingTable]) -> int:
    """Delete them without reading their tables; how many there were."""
    return rows.only("pk").delete()[1].get(rows.model._meta.label, 0)


def restore(row: WaitingTable) -> IncomingTable:
    """The table as it was kept, without its file."""
    table = IncomingTable.from_text(row.file_name, row.table)
    return replace(table, reading=FileReading.from_json(row.reading)) if isinstance(row, WaitingFile) else table


def read_otherwise(row: WaitingFile, kind: TableKind, choices: ReadingChoices) -> IncomingTable:
    """The table in the file that was kept, read as somebody chose. Raises UnreadableFile."""
    return read_file(row.file_name, zlib.decompress(row.content), kind, choices)


def replace_table(row: WaitingFile, table: IncomingTable, choices: dict[str, Any]) -> None:
    """Keep the table as it was read last, with what is said of its columns."""
    row.table, row.reading, row.choices = table.as_text(), table.reading.as_json(), choices
    row.save(update_fields=["table", "reading", "choices"])
