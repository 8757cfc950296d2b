"""The table that somebody brought, kept for that account until it is confirmed, put aside, or a day old."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import QuerySet

from studies.incoming_tables.tables import IncomingTable
from studies.models import WaitingTable

KEPT = timedelta(days=1)
AnyWaitingTable = TypeVar("AnyWaitingTable", bound=WaitingTable)


@transaction.atomic
def keep(earlier: QuerySet[AnyWaitingTable], table: IncomingTable, *, at: datetime, **fields: Any) -> AnyWaitingTable:
    """The table, kept in place of those earlier ones."""
    forget(earlier)
    return earlier.model._default_manager.create(file_name=table.name, table=table.as_text(), created_at=at, **fields)


def forget(rows: QuerySet[AnyWaitingTable]) -> int:
    """Delete them without reading their tables; how many there were."""
    return rows.only("pk").delete()[1].get(rows.model._meta.label, 0)


def restore(row: WaitingTable) -> IncomingTable:
    """The table as it was kept."""
    return IncomingTable.from_text(row.file_name, row.table)
