"""The ledger as CSV files that a spreadsheet can open, and the list by which submissions at Prolific are approved."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

from django.utils.translation import gettext as _

from annotation.participation import recruitment
from annotation.participation.payments import PayLedger
from annotation.participation.recruitment import Ending
from studies.models import Study

BYTE_ORDER_MARK = "\ufeff"
# Where a spreadsheet would begin to compute: names and references are written by people.
FORMULA = re.compile(r"\A[=+\-@\t\r]")
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")


def write_ledger(ledger: PayLedger) -> str:
    """One row a person: who it is, what was done, what is owed, paid and due."""
    header = ("code", "label", "name", "e-mail", "platform", "platform id", "groups", "parts", "hours in parts")
    rows = []
    for account in ledger.accounts:
        identity = account.rater.identity
        person = (identity.name, identity.email, identity.platform, identity.platform_id) if identity else ("",) * 4
        work = (account.n_groups, account.n_parts, account.hours)
        money = (account.owed, account.paid, account.due, ledger.rate.currency if ledger.rate else "")
        rows.append((account.rater.code, account.label, *person, *work, *money))
    return _write((*header, "owed", "paid", "due", "currency"), rows)


def write_prolific(study: Study, ledger: PayLedger) -> str:
    """One row for everybody who came from Prolific: their id, their submission, how it ended, the code, what is due."""
    endings = recruitment.list_endings(study)
    account_by_arrival = {account.arrival: account for account in ledger.accounts if account.arrival}
    rows = []
    for arrival in study.arrivals.select_related("identity", "study__prolific").order_by("pk"):
        ending = endings[arrival.pk]
        code = recruitment.find_code(arrival.study.prolific, ending) if ending else None
        account = account_by_arrival.get(arrival.pk)
        rows.append(
            (
                arrival.identity.platform_id if arrival.identity else "",
                arrival.session,
                ending or "",
                code.code if code else "",
                _("approve") if ending == Ending.COMPLETED else "",
                account.rater.code if account else "",
                account.due if account else "",
            )
        )
    return _write(("participant id", "submission", "ending", "code", "advice", "rater", "due"), rows)


def _write(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(header)
    writer.writerows([_harmless(cell) for cell in row] for row in rows)
    return BYTE_ORDER_MARK + file.getvalue()


def _harmless(cell: object) -> str:
    text = "" if cell is None else str(cell)
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text
