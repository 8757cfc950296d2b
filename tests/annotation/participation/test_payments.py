"""The ledger of pay: what is owed by groups and hours, entries that stay, and files without formulas."""

import csv
import io
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from annotation.models import Assignment, Identity, Payment, PayRate, Rater, Timing
from annotation.participation import claims, ledger_tables, payments, withdrawal
from annotation.responses import submission
from studies.models import Study
from tests import factories
from tests.annotation.participation.test_recruitment import come, recruit
from tests.factories import NOON

pytestmark = pytest.mark.django_db
DAY = date(2026, 3, 2)


def rate(study: Study, **fields: Any) -> PayRate:
    return PayRate.objects.create(study=study, **({"currency": "€", "per_group": Decimal(45)} | fields))


def work(study: Study) -> Rater:
    """Somebody who has submitted a group and given up another after half an hour."""
    rater = factories.rater(study)
    submission.submit(claims.claim(rater), at=NOON)
    part = claims.claim(rater)
    step = part.version.steps.get(key="tests")
    Timing.objects.create(assignment=part, step=step, story=study.stories.first(), active_seconds=1805)
    claims.give_up(part, at=NOON)
    return rater


def pay(rater: Rater, amount: str, reference: str = "") -> Payment:
    return payments.record(rater, amount=Decimal(amount), paid_on=DAY, reference=reference, by="steward", at=NOON)


@pytest.mark.parametrize(
    ("part", "amount", "owed"), [("nothing", None, "45.00"), ("fixed", 10, "55.00"), ("hours", 20, "55.03")]
)
def test_what_is_owed_follows_from_groups_and_hours(part: str, amount: int | None, owed: str) -> None:
    study = factories.study(n_groups=2)
    work(study)
    rate(study, part=part, part_amount=amount)

    ledger = payments.load_ledger(study)

    assert [(a.n_groups, a.n_parts, a.seconds, str(a.owed)) for a in ledger.accounts] == [(1, 1, 1805, owed)]


def test_nothing_is_owed_for_work_that_goes_on_or_was_given_back_unread_or_without_a_rate() -> None:
    study = factories.study(n_groups=2)
    known, open_place = factories.assignment(study), factories.assignment(study)
    claims.give_up(known, at=NOON)
    Assignment.objects.filter(pk=known.pk).update(read_before=True)

    before = [account.owed for account in payments.load_ledger(study).accounts]
    rate(study, part="fixed", part_amount=10)
    after = [account.owed for account in payments.load_ledger(study).accounts]

    assert open_place.status == Assignment.Status.OPEN
    assert (before, after) == ([None, None], [Decimal(0), Decimal(0)])


def test_a_correction_is_the_difference_and_the_entry_stays_as_it_was() -> None:
    study = factories.study(n_groups=2)
    rater = work(study)
    rate(study)
    entry = pay(rater, "54.00")

    payments.correct(entry, amount=Decimal("45"), reason="digits swapped", by="steward", at=NOON)
    second = payments.correct(entry, amount=Decimal("46"), reason="fee", by="steward", at=NOON)

    assert [str(row.amount) for row in payments.list_entries(rater)] == ["54.00", "-9.00", "1.00"]
    account = payments.load_ledger(study).accounts[0]
    assert (account.paid, account.due) == (Decimal(46), Decimal(-1))
    for wrong in (
        lambda: payments.correct(entry, amount=Decimal(46), reason="x", by="s", at=NOON),
        lambda: payments.correct(second, amount=Decimal(1), reason="x", by="s", at=NOON),
    ):
        with pytest.raises(payments.CannotCorrect):
            wrong()


@pytest.mark.parametrize("change", ["update", "delete"])
def test_the_database_refuses_to_change_what_was_entered(change: str) -> None:
    entry = pay(factories.rater(factories.study()), "5.00")
    rows = Payment.objects.filter(pk=entry.pk)

    with pytest.raises(IntegrityError, match="add a correction"), transaction.atomic():
        rows.update(amount=6) if change == "update" else rows._raw_delete("default")

    assert Payment.objects.get().amount == Decimal(5)


def test_withdrawal_erases_references_and_keeps_what_was_paid() -> None:
    study = factories.study(n_groups=2)
    rater = work(study)
    Rater.objects.filter(pk=rater.pk).update(identity=Identity.objects.create(name="Canary Jones"))
    rater.refresh_from_db()
    entry = pay(rater, "45.00", "transfer to Canary Jones")
    payments.correct(entry, amount=Decimal(40), reason="Canary said so", by="steward", at=NOON)

    withdrawal.withdraw(rater, at=NOON)

    assert [(row.reference, row.reason) for row in payments.list_entries(rater)] == [("", ""), ("", "")]
    account = payments.load_ledger(study).accounts[0]
    assert (account.name, account.paid, account.n_parts) == ("", Decimal(40), 2)


def test_the_table_runs_no_formula_and_keeps_amounts_as_numbers() -> None:
    study = factories.study(n_groups=2)
    rater = work(study)
    identity = Identity.objects.create(name="=HYPERLINK(1)", email="a@example.org")
    Rater.objects.filter(pk=rater.pk).update(identity=identity)
    rate(study)
    pay(rater, "50.00")

    rows = list(csv.DictReader(io.StringIO(ledger_tables.write_ledger(payments.load_ledger(study))[1:])))

    assert len(rows) == 1
    assert rows[0]["name"] == "'=HYPERLINK(1)"
    assert [rows[0][name] for name in ("groups", "owed", "paid", "due", "currency")] == [
        *("1", "45.00", "50.00", "-5.00", "€")
    ]


def test_prolifics_list_says_whom_to_approve_and_with_which_code_they_came_back() -> None:
    study = factories.study(n_groups=1, k=2)
    row = recruit(study)
    submission.submit(claims.claim(come(row, 1)), at=NOON)
    come(row, 2)
    rate(study)

    rows = list(csv.DictReader(io.StringIO(ledger_tables.write_prolific(study, payments.load_ledger(study))[1:])))

    assert [(r["participant id"], r["ending"], r["code"], r["advice"], r["due"]) for r in rows] == [
        (f"{1:024x}", "completed", "CDONE1", "approve", "45.00"),
        (f"{2:024x}", "", "", "", "0.00"),
    ]
