"""What a run has spent, and which of its calls its budget bears.

Spent is what requests have cost. What those under way may cost is set aside, and so is what those may have cost of
which nobody said it, until a bill says it. So a budget holds wherever providers keep to the limits that are sent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, Q, Sum

from judges.models import Attempt, Call, Run
from judges.planning.prices import ReplyLengths, Reserve

NOTHING = Decimal(0)
# To which costs are kept; SQLite adds them up in floating point.
SMALLEST = Decimal("1e-8")
# Ended after a model may have worked at it: at these a server in between gave up waiting for one that went on.
GAVE_UP_WAITING = (504, 524)
# Ended, and perhaps paid for, though nobody said how much: unheard of, late, broken off, tokens not counted.
# What was refused with a status of its own costs nothing, and what never reached a model has nothing reserved any more.
COST_UNKNOWN = Q(cost=None, reserved__isnull=False) & (
    Q(outcome__in=[Attempt.Outcome.UNKNOWN, Attempt.Outcome.ANSWERED, Attempt.Outcome.LATE])
    | (Q(outcome=Attempt.Outcome.FAILED) & (Q(status=None) | Q(status__in=[200, *GAVE_UP_WAITING])))
)
IN_FLIGHT = Q(outcome=Attempt.Outcome.IN_FLIGHT, cost=None)


@dataclass(frozen=True)
class RunSpending:
    """In US dollars.

    spent : what requests have cost as their tokens were counted; where a bill says more, what it says
    is_known : whether of any request it is known what it did cost, or a bill says it
    n_paid : calls whose requests make up what was spent
    reserved : what those under way, and those of unknown cost that no bill covers, may cost at most
    unknown : of that what those n_unknown of unknown cost may
    n_in_flight : requests under way
    """

    spent: Decimal
    is_known: bool
    n_paid: int
    reserved: Decimal
    unknown: Decimal
    n_unknown: int
    n_in_flight: int

    @property
    def total(self) -> Decimal:
        """What may have been spent, at most."""
        return self.spent + self.reserved


@dataclass(frozen=True)
class BudgetShare:
    """What is set aside for a call that may be sent.

    limit : tokens to which its reply is limited; None if nothing limits it
    """

    reserved: Decimal
    limit: int | None = None


def load_spending(run: Run) -> RunSpending:
    """What the run has spent and set aside. Two queries.

    A bill of the run covers all that it had sent by then: the costs that nobody knew are in it, and it is taken to be
    no lower than those that were known.
    """
    bill = run.bills.order_by("entered_at", "pk").last()
    is_billed = ~Q(outcome=Attempt.Outcome.IN_FLIGHT) & Q(pk__lte=bill.last_attempt) if bill else Q(pk=None)
    sums = Attempt.objects.filter(call__run=run).aggregate(
        spent=Sum("cost"),
        billed=Sum("cost", filter=is_billed),
        in_flight=Sum("reserved", filter=IN_FLIGHT),
        unknown=Sum("reserved", filter=COST_UNKNOWN & ~is_billed),
        n_unknown=Count("pk", filter=COST_UNKNOWN & ~is_billed),
        n_paid=Count("call", distinct=True, filter=Q(cost__isnull=False) | (COST_UNKNOWN & is_billed)),
        n_in_flight=Count("pk", filter=Q(outcome=Attempt.Outcome.IN_FLIGHT)),
    )
    spent, billed, in_flight, unknown = (
        (sums[name] or NOTHING).quantize(SMALLEST) for name in ("spent", "billed", "in_flight", "unknown")
    )
    return RunSpending(
        spent=spent + (max(bill.amount - billed, NOTHING) if bill else NOTHING),
        is_known=bill is not None or sums["spent"] is not None,
        n_paid=sums["n_paid"],
        reserved=in_flight + unknown,
        unknown=unknown,
        n_unknown=sums["n_unknown"],
        n_in_flight=sums["n_in_flight"],
    )


def sum_costs(run: Run) -> Decimal:
    """What the run's requests have cost, and may still cost: at most, those under way and those of unknown cost."""
    return load_spending(run).total


def within_budget(
    run: Run, due: Sequence[Call], reserves: Mapping[int, Reserve], lengths: ReplyLengths, *, is_batch: bool = False
) -> tuple[list[Call], dict[int, BudgetShare]]:
    """Of the calls the first ones, as many as the budget bears, and what is set aside for each, by its id.

    reserves : what each may cost, by its id; empty if there is no price, and then a budget bears none
    is_batch : whether they are handed in together, so that none can be awaited before the next
    """
    if run.budget is None or (not reserves and run.judge.required_endpoint.is_stub):
        return list(due), {pk: BudgetShare(r.worst, r.limit if r.is_limited else None) for pk, r in reserves.items()}
    if not reserves:
        return [], {}
    Run.objects.select_for_update(no_key=True).get(pk=run.pk)  # two workers must not spend the same rest of it
    ordered = {call.pk: reserves[call.pk] for call in due}
    shares = divide(run.budget, load_spending(run), ordered, lengths, is_batch=is_batch)
    return [call for call in due if call.pk in shares], shares


def divide(
    budget: Decimal,
    spending: RunSpending,
    reserves: Mapping[int, Reserve],
    lengths: ReplyLengths,
    *,
    is_batch: bool = False,
) -> dict[int, BudgetShare]:
    """The shares of the first calls whose reserves fit into what is left of the budget.

    Where it does not bear the longest reply, replies are limited. Until enough of them have kept to their limits no
    more calls are under way than the rest would bear if none did, or else one, which alone could go over.
    """
    shares: dict[int, BudgetShare] = {}
    balance, n_in_flight = budget - spending.total, spending.n_in_flight
    rest = balance + spending.reserved - spending.unknown
    for pk, reserve in reserves.items():
        is_limited = reserve.is_limited or balance < reserve.worst
        cost = reserve.usual if is_limited else reserve.worst
        is_trusted = not is_limited or is_batch or lengths.are_limits_kept or not reserve.unlimited
        if cost > balance or not (is_trusted or n_in_flight < max(1, int(rest // reserve.unlimited))):
            break
        shares[pk] = BudgetShare(cost, reserve.limit if is_limited else None)
        balance -= cost
        n_in_flight += 1
    return shares
