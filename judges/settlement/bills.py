"""What providers billed, beside what the ledger counted: typed by hand, or added up from a file of costs."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Count, Max, OuterRef, QuerySet, Subquery, Sum
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from judges.models import Attempt, Bill, Endpoint, Run
from judges.planning import CannotRun
from judges.settlement.budgets import COST_UNKNOWN, NOTHING, SMALLEST
from studies.incoming_tables.errors import UnreadableFile
from studies.incoming_tables.files import read_file
from studies.incoming_tables.tables import IncomingTable, TableKind

COSTS = TableKind(
    kinds=(".csv", ".tsv", ".xlsx"),
    most_rows=200_000,
    most_columns=200,
    no_rows=gettext_lazy("The file has no rows of costs."),
)
COST_NAMES = re.compile(r"cost|amount|usd|spen[dt]|charge", re.IGNORECASE)
DATE_NAMES = re.compile(r"date|day|time", re.IGNORECASE)
# With commas only where a point follows: “1,234” alone is another amount in every second country. Spreadsheets write
# small ones as 1.5e-05.
AMOUNT = re.compile(
    r"-?(?:[0-9]{1,9}|[1-9][0-9]{0,2}(?:,[0-9]{3}){1,2}(?=\.))(?:\.[0-9]+)?(?:e-[0-9]{1,2})?", re.IGNORECASE
)
TOTAL = re.compile(r"(?:grand |sub)?total\b|sum$", re.IGNORECASE)
# The highest whole amount that fits its column.
MOST = Decimal(99_999_999)
# Letters that a sentence repeats of one cell, and of the names of all columns.
LONGEST_CELL, LONGEST_LIST = 80, 300


@dataclass(frozen=True)
class CostSheet:
    """The costs of a file, added up, in US dollars; its days are None if it names none."""

    amount: Decimal
    first_day: date | None
    last_day: date | None


@dataclass(frozen=True)
class BillComparison:
    """A bill beside what was counted of the same requests, in US dollars.

    counted : what those cost whose cost is known
    unknown : what the n_unknown others may have cost at most
    """

    bill: Bill
    counted: Decimal
    unknown: Decimal
    n_unknown: int

    @property
    def difference(self) -> Decimal:
        return abs(self.bill.amount - self.counted)

    @property
    def is_higher(self) -> bool:
        """Whether the provider billed more than was counted."""
        return self.bill.amount > self.counted


def read_costs(name: str, content: bytes, *, cost_column: str = "", date_column: str | None = None) -> CostSheet:
    """The costs of a provider's file of usage. Raises UnreadableFile.

    cost_column, date_column : as the file has them; "" to take the one whose name sounds like it
    date_column : None to read no days
    """
    table = read_file(name, content, COSTS)
    at = _find_column(table, cost_column, COST_NAMES)
    if at is None:
        message = _("Which column has the costs? The file has: %(columns)s")
        raise UnreadableFile(message % {"columns": _list(table.columns)})
    amount = _add_up(table, at)
    date_at = None if date_column is None else _find_column(table, date_column, DATE_NAMES)
    days = (
        [] if date_at is None else [_read_day(n, cells[date_at]) for n, cells in table.rows if cells[date_at].strip()]
    )
    return CostSheet(amount, min(days, default=None), max(days, default=None))


@transaction.atomic
def enter_for_run(run: Run, amount: Decimal, *, source: str = "", by: str) -> Bill:
    """The bill of all that the run has sent so far. Raises CannotRun before anything was, and while requests are under
    way."""
    Run.objects.select_for_update(no_key=True).get(pk=run.pk)  # no worker begins another until the bill stands
    sent = Attempt.objects.filter(call__run=run)
    last_attempt = sent.aggregate(last=Max("pk"))["last"]
    if last_attempt is None:
        raise CannotRun(_("Nothing has been sent yet, so no bill can cover it."))
    if sent.filter(outcome=Attempt.Outcome.IN_FLIGHT).exists():
        raise CannotRun(_("Requests are under way, so no bill can cover them. Pause the run, and wait for replies."))
    return Bill.objects.create(run=run, last_attempt=last_attempt, amount=amount, source=source, entered_by=by)


def enter_for_days(
    endpoint: Endpoint, amount: Decimal, *, first_day: date, last_day: date, source: str = "", by: str
) -> Bill:
    """The bill of all that was sent to the endpoint on these days."""
    return Bill.objects.create(
        endpoint=endpoint, amount=amount, first_day=first_day, last_day=last_day, source=source, entered_by=by
    )


def compare_run(run: Run) -> list[BillComparison]:
    """The bills of the run beside what was counted when they were entered, the last first. One query."""
    covered = Attempt.objects.filter(call__run=OuterRef("run"), pk__lte=OuterRef("last_attempt"))
    return _compare(run.bills.all(), covered, "call__run")


def compare_endpoint(endpoint: Endpoint) -> list[BillComparison]:
    """The bills of days at the endpoint beside what was counted of the same days, the last first. One query."""
    path = "call__run__judge__endpoint"
    covered = Attempt.objects.filter(
        **{path: OuterRef("endpoint")},
        sent_at__date__gte=OuterRef("first_day"),
        sent_at__date__lte=OuterRef("last_day"),
    )
    return _compare(endpoint.bills.all(), covered, path)


def _compare(bills: QuerySet[Bill], covered: QuerySet[Attempt], path: str) -> list[BillComparison]:
    def total(aggregate: Any) -> Subquery:
        return Subquery(covered.order_by().values(path).annotate(total=aggregate).values("total"))

    rows = bills.annotate(
        counted=total(Sum("cost")),
        unknown=total(Sum("reserved", filter=COST_UNKNOWN)),
        n_unknown=total(Count("pk", filter=COST_UNKNOWN)),
    )
    return [
        BillComparison(
            bill,
            counted=(bill.counted or NOTHING).quantize(SMALLEST),
            unknown=(bill.unknown or NOTHING).quantize(SMALLEST),
            n_unknown=bill.n_unknown or 0,
        )
        for bill in rows
    ]


def _find_column(table: IncomingTable, name: str, names: re.Pattern[str]) -> int | None:
    """Where the column of that name is, or the one whose name fits. Raises UnreadableFile if several may be meant, or
    if the file has none of that name."""
    if not name:
        fitting = [n for n, column in enumerate(table.columns) if names.search(column)]
        if len(fitting) > 1:
            message = _("Several columns may be meant: %(columns)s. Name the one of costs, or of dates.")
            raise UnreadableFile(message % {"columns": _list(table.columns[n] for n in fitting)})
        return fitting[0] if fitting else None
    columns: Sequence[str] = [column.casefold() for column in table.columns]
    if name.strip().casefold() not in columns:
        message = _("The file has no column %(name)s. It has: %(columns)s")
        raise UnreadableFile(message % {"name": _shorten(name), "columns": _list(table.columns)})
    return columns.index(name.strip().casefold())


def _add_up(table: IncomingTable, at: int) -> Decimal:
    """The sum of a column of costs. Raises UnreadableFile if it is too high, or if a row is the sum of the others."""
    rows = [(n, cells, _read_amount(n, cells[at])) for n, cells in table.rows if cells[at].strip()]
    for n, cells, _amount in rows:
        if TOTAL.match(next(cell.strip() for cell in cells if cell.strip())):
            raise _is_sum(n)
    amount = sum((amount for _n, _cells, amount in rows), NOTHING)
    if len(rows) > 2 and amount and rows[-1][2] * 2 == amount:
        raise _is_sum(rows[-1][0])
    if abs(amount) > MOST:
        message = _("The costs add up to more than a bill can be. Is %(column)s the column of costs?")
        raise UnreadableFile(message % {"column": _shorten(table.columns[at])})
    return amount


def _is_sum(n: int) -> UnreadableFile:
    message = _("Row %(n)d seems to be the sum of the others. Leave it out of the file, or enter the amount yourself.")
    return UnreadableFile(message % {"n": n})


def _read_amount(n: int, cell: str) -> Decimal:
    """Dollars, with a point before the decimals and perhaps commas between thousands."""
    words = re.sub(r"USD|[\s$]", "", cell, flags=re.IGNORECASE)
    if not AMOUNT.fullmatch(words):
        message = _("Row %(n)d: “%(cell)s” is no amount in US dollars such as 1234.50.")
        raise UnreadableFile(message % {"n": n, "cell": _shorten(cell)})
    return Decimal(words.replace(",", ""))


def _read_day(n: int, cell: str) -> date:
    """A day, from a date or a time as ISO writes it, or from seconds since 1970."""
    words = cell.strip()
    try:
        if re.fullmatch(r"\d{9,11}", words):
            return datetime.fromtimestamp(int(words), tz=UTC).date()
        return date.fromisoformat(words[:10])
    except ValueError:
        message = _("Row %(n)d: “%(cell)s” is no date such as 2026-03-01.")
        raise UnreadableFile(message % {"n": n, "cell": _shorten(cell)}) from None


def _shorten(words: str) -> str:
    return Truncator(words.strip()).chars(LONGEST_CELL)


def _list(columns: Iterable[str]) -> str:
    return Truncator(", ".join(_shorten(column) for column in columns)).chars(LONGEST_LIST)
