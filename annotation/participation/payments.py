"""The ledger of pay: what each person is owed by the rate of the study, what was paid, and what is still due.

It counts groups and hours, and reads no answer and no source. Entries are only added, and the database holds to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal

from django.db import transaction
from django.db.models import Sum
from django.utils.translation import gettext as _

from annotation.models import Assignment, Payment, PayRate, ProlificArrival, Rater
from studies.models import Study

CENT = Decimal("0.01")
ENDED = (Assignment.Status.GIVEN_UP, Assignment.Status.WITHDRAWN)


@dataclass
class Account:
    """One person of a study. owed : nothing as long as the study has no rate

    n_groups : submitted; n_parts : begun and ended before that; seconds : active ones in such parts
    session, ending : of a rater from Prolific
    """

    rater: Rater
    label: str = ""
    n_groups: int = 0
    n_parts: int = 0
    seconds: int = 0
    owed: Decimal | None = None
    paid: Decimal = Decimal("0.00")
    session: str = ""
    arrival: int = 0

    @property
    def name(self) -> str:
        """Who it is, as stewards read it."""
        identity = self.rater.identity
        return (identity.name or identity.email or identity.platform_id) if identity else ""

    @property
    def hours(self) -> Decimal:
        return (Decimal(self.seconds) / 3600).quantize(CENT)

    @property
    def due(self) -> Decimal | None:
        return None if self.owed is None else self.owed - self.paid


@dataclass
class PayLedger:
    """The accounts of a study, by code, and what they come to."""

    rate: PayRate | None
    accounts: list[Account] = field(default_factory=list)

    @property
    def owed(self) -> Decimal:
        return sum((account.owed or Decimal(0) for account in self.accounts), Decimal(0))

    @property
    def paid(self) -> Decimal:
        return sum((account.paid for account in self.accounts), Decimal(0))

    @property
    def due(self) -> Decimal:
        return self.owed - self.paid


def find_rate(study: Study) -> PayRate | None:
    """What the study pays; None if no steward has said it."""
    return PayRate.objects.filter(study=study).first()


@dataclass(frozen=True)
class PayTotal:
    """What the study pays if every place is submitted."""

    rate: PayRate
    amount: Decimal


def estimate_total(study: Study, n_places: int) -> PayTotal | None:
    """The pay for so many places; None if no steward has said the rate."""
    rate = find_rate(study)
    return PayTotal(rate, (rate.per_group * n_places).quantize(CENT)) if rate else None


def load_ledger(study: Study, *, code: str = "") -> PayLedger:
    """The ledger of all who have come in, or of the person of that code. Five queries."""
    ledger = PayLedger(find_rate(study))
    raters = Rater.objects.filter(study=study, kind=Rater.Kind.PERSON, is_simulated=False)
    raters = raters.select_related("identity", "invitation").order_by("code")
    for rater in raters.filter(code=code) if code else raters:
        label = rater.invitation.label if hasattr(rater, "invitation") else ""
        ledger.accounts.append(Account(rater, label))
    account_by_rater = {account.rater.pk: account for account in ledger.accounts}
    _count_work(study, account_by_rater)
    sums = Payment.objects.filter(rater__study=study).values_list("rater").order_by().annotate(n=Sum("amount"))
    for rater_id, amount in sums:
        if account := account_by_rater.get(rater_id):
            account.paid = amount.quantize(CENT)  # SQLite adds numbers, not decimals
    arrivals = ProlificArrival.objects.filter(study=study, invitation__rater__isnull=False)
    for pk, rater_id, session in arrivals.values_list("pk", "invitation__rater", "session"):
        if account := account_by_rater.get(rater_id):
            account.session, account.arrival = session, pk
    for account in ledger.accounts:
        account.owed = compute_owed(account, ledger.rate)
    return ledger


def _count_work(study: Study, account_by_rater: dict[int, Account]) -> None:
    places = Assignment.objects.filter(study=study, rater_kind=Rater.Kind.PERSON, seat__isnull=False)
    timed = places.order_by().annotate(seconds=Sum("timings__active_seconds"))
    for rater, status, read_before, seconds in timed.values_list("rater", "status", "read_before", "seconds"):
        account = account_by_rater.get(rater)
        if account is None:
            continue
        if status == Assignment.Status.SUBMITTED:
            account.n_groups += 1
        elif status in ENDED and not read_before:
            account.n_parts += 1
            account.seconds += seconds or 0


def compute_owed(account: Account, rate: PayRate | None) -> Decimal | None:
    """What the person is owed by that rate, to the cent; None without one."""
    if rate is None:
        return None
    owed = rate.per_group * account.n_groups
    if rate.part == PayRate.Part.FIXED:
        owed += (rate.part_amount or 0) * account.n_parts
    elif rate.part == PayRate.Part.HOURS:
        owed += (rate.part_amount or 0) * Decimal(account.seconds) / 3600
    return owed.quantize(CENT, ROUND_HALF_UP)


class CannotCorrect(ValueError):
    """The entry is not corrected so; the message says why."""


def record(rater: Rater, *, amount: Decimal, paid_on: date, reference: str = "", by: str, at: datetime) -> Payment:
    """A payment to that person, entered."""
    return Payment.objects.create(rater=rater, amount=amount, paid_on=paid_on, reference=reference, by=by, at=at)


def correct(payment: Payment, *, amount: Decimal, reason: str, by: str, at: datetime) -> Payment:
    """The entry that makes of that payment one of that amount: the difference to what stands. Raises CannotCorrect."""
    with transaction.atomic():
        # Held, so that of two corrections at once the second counts from what the first one left.
        entry = Payment.objects.select_for_update(of=("self",)).get(pk=payment.pk)
        if entry.corrects_id:
            raise CannotCorrect(_("This is a correction itself; correct the payment that it belongs to."))
        difference = amount - amount_now(entry, entry.corrections.all())
        if not difference:
            raise CannotCorrect(_("The payment is of that amount already."))
        return Payment.objects.create(
            rater_id=entry.rater_id,
            amount=difference,
            paid_on=entry.paid_on,
            corrects=entry,
            reason=reason,
            by=by,
            at=at,
        )


def amount_now(payment: Payment, corrections: Iterable[Payment]) -> Decimal:
    """What the payment amounts to after its corrections."""
    return payment.amount + sum((correction.amount for correction in corrections), Decimal(0))


def list_entries(rater: Rater) -> Sequence[Payment]:
    """The entries of one person, first to last. One query."""
    return list(Payment.objects.filter(rater=rater).select_related("corrects").order_by("pk"))


def forget(rater: Rater) -> None:
    """Erase what entries say in words; the amounts and days of what was paid stay."""
    Payment.objects.filter(rater=rater).update(reference="", reason="")
