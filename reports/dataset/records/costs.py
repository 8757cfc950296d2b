"""What the requests of each judge cost, and how many calls came of them."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Q, Sum

from judges.models import Attempt, Call, is_judging_run
from studies.models import Study


@dataclass(frozen=True, kw_only=True)
class Spending:
    """All runs of a judge in the study, in US dollars, without its readings of changed stories.

    cost : of all requests whose cost is known, what came to nothing among them; None if none is
    n_without_cost : requests that came back, of which nobody knows the cost
    n_paid_again : calls of which more than one request was paid
    n_without_reply : calls that the provider left without one; n_not_asked : calls that were never sent
    """

    judge: str
    cost: float | None
    n_stories: int
    n_calls: int
    n_requests: int
    n_without_cost: int
    n_paid_again: int
    n_tokens_in: int
    n_tokens_out: int
    n_without_reply: int = 0
    n_not_asked: int = 0


def read_spending(study: Study, *, without: frozenset[str]) -> list[Spending]:
    """What each judge that is reported cost, by name. Three queries. without : judges that are left out"""
    # Metrics have no endpoint: they are computed here and cost nothing.
    of_models = Attempt.objects.filter(call__run__study=study, call__run__judge__endpoint__isnull=False)
    attempts = of_models.filter(is_judging_run("call__run__")).exclude(outcome=Attempt.Outcome.REUSED)
    attempts = attempts.exclude(call__run__judge__slug__in=without).exclude(
        call__assignment__reading__intervention__gt=""
    )
    rows = attempts.values("call__run__judge__slug").annotate(
        total=Sum("cost"),
        n=Count("pk"),
        n_without_cost=Count("pk", filter=Q(cost=None) & ~Q(outcome=Attempt.Outcome.IN_FLIGHT)),
        n_in=Sum("n_tokens_in"),
        n_out=Sum("n_tokens_out"),
    )
    calls = Call.objects.filter(run__study=study, run__drift_check=None).exclude(
        assignment__reading__intervention__gt=""
    )
    counts = calls.values("run__judge__slug")
    counts = counts.annotate(
        n=Count("pk"),
        n_stories=Count("story", distinct=True),
        n_without_reply=Count("pk", filter=Q(state=Call.State.PROVIDER_ERROR)),
        n_not_asked=Count("pk", filter=Q(state__in=(Call.State.NOT_ASKED, Call.State.BUDGET_STOPPED))),
    )
    by_judge = {row["run__judge__slug"]: row for row in counts}
    paid = attempts.filter(cost__gt=0).values("call__run__judge__slug", "call").annotate(n=Count("pk"))
    again = [row["call__run__judge__slug"] for row in paid.filter(n__gt=1)]
    return [
        Spending(
            judge=judge,
            cost=None if row["total"] is None else float(row["total"]),
            n_stories=by_judge[judge]["n_stories"],
            n_calls=by_judge[judge]["n"],
            n_requests=row["n"],
            n_without_cost=row["n_without_cost"],
            n_paid_again=again.count(judge),
            n_tokens_in=row["n_in"] or 0,
            n_tokens_out=row["n_out"] or 0,
            n_without_reply=by_judge[judge]["n_without_reply"],
            n_not_asked=by_judge[judge]["n_not_asked"],
        )
        for row in rows.order_by("call__run__judge__slug")
        if (judge := row["call__run__judge__slug"])
    ]
