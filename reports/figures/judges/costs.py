"""What a judge cost, as its endpoint billed it; beside agreement, never divided by it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Count, Q, Sum
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from judges.models import Attempt, Call
from reports.document import columns
from reports.document.columns import LEAD, decimals
from reports.document.model import DocumentSection, Files, Head, ReportTable, TextBlock
from reports.document.phrases import phrase
from reports.figures.base import Figure, Listing
from reports.numbers import whole

if TYPE_CHECKING:
    from reports.dataset import Dataset


@dataclass(frozen=True, kw_only=True)
class JudgeCost:
    """All runs of a judge in the study, in US dollars.

    cost : of all requests whose cost is known, what came to nothing among them; None if none is
    n_without_cost : requests that came back, of which nobody knows the cost
    n_paid_again : calls of which more than one request was paid
    n_without_reply : calls that the provider left without one; n_not_asked : calls that were never sent
    """

    judge: str
    cost: float | None
    per_story: float | None
    n_stories: int
    n_calls: int
    n_requests: int
    n_without_cost: int
    n_paid_again: int
    n_tokens_in: int
    n_tokens_out: int
    n_without_reply: int = 0
    n_not_asked: int = 0


class JudgeCosts(Figure[Listing[JudgeCost]]):
    key = "judge_costs"
    title = gettext_lazy("What judges cost")
    position = 132
    edition = 2
    result = Listing[JudgeCost]
    tables = ("judge-costs",)

    def compute(self, dataset: Dataset) -> Listing[JudgeCost]:
        # Metrics have no endpoint: they are computed here and cost nothing.
        of_models = Attempt.objects.filter(call__run__study=dataset.study, call__run__judge__endpoint__isnull=False)
        attempts = of_models.filter(
            call__run__judge__is_trial=False, call__run__judge__is_writer=False, call__run__judge__is_measurer=False
        ).exclude(outcome=Attempt.Outcome.REUSED)
        attempts = attempts.exclude(call__run__judge__slug__in=dataset.without)
        rows = attempts.values("call__run__judge__slug").annotate(
            total=Sum("cost"),
            n=Count("pk"),
            n_without_cost=Count("pk", filter=Q(cost=None) & ~Q(outcome=Attempt.Outcome.IN_FLIGHT)),
            n_in=Sum("n_tokens_in"),
            n_out=Sum("n_tokens_out"),
        )
        counts = Call.objects.filter(run__study=dataset.study).values("run__judge__slug")
        counts = counts.annotate(
            n=Count("pk"),
            n_stories=Count("story", distinct=True),
            n_without_reply=Count("pk", filter=Q(state=Call.State.PROVIDER_ERROR)),
            n_not_asked=Count("pk", filter=Q(state__in=(Call.State.NOT_ASKED, Call.State.BUDGET_STOPPED))),
        )
        by_judge = {row["run__judge__slug"]: row for row in counts}
        paid = attempts.filter(cost__gt=0).values("call__run__judge__slug", "call").annotate(n=Count("pk"))
        again = [row["call__run__judge__slug"] for row in paid.filter(n__gt=1)]
        return Listing(
            tuple(
                JudgeCost(
                    judge=judge,
                    cost=None if row["total"] is None else float(row["total"]),
                    per_story=_per_story(row["total"], by_judge[judge]["n_stories"]),
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
            )
        )

    def describe(self, result: Listing[JudgeCost], head: Head) -> Iterator[DocumentSection]:
        table = ReportTable(
            name="judge-costs",
            label=_("What judges cost, table"),
            caption=_("In US dollars, as counted by the endpoint, with what came to nothing."),
            rows=result.rows,
            columns=[
                columns.words("judge", _("Judge"), is_head=True),
                columns.number("per_story", _("A story"), write=decimals(4), css=LEAD),
                columns.number("cost", _("All"), write=decimals(2)),
                columns.number("n_stories", _("Stories")),
                columns.number("n_requests", _("Requests")),
                columns.number("n_without_cost", phrase(_("Of unknown<br>cost"))),
                columns.number("n_paid_again", phrase(_("Calls paid<br>again"))),
                columns.number(
                    "n_tokens_in",
                    phrase(_("Tokens<br>in, out")),
                    shown=lambda row: f"{whole(row.n_tokens_in)}, {whole(row.n_tokens_out)}",
                ),
                columns.fields("n_tokens_out", "n_calls", "n_without_reply", "n_not_asked"),
            ],
        )
        note = _("Agreement and cost are listed beside one another, never as a ratio: an invalid verdict is not cheap.")
        yield DocumentSection(
            heading=_("What judges cost"),
            body=[table, Files(words=_("Every judge"), table="judge-costs")],
            margin=[TextBlock(words=note)],
        )


def _per_story(cost: object, n_stories: int) -> float | None:
    return None if cost is None or not n_stories else float(str(cost)) / n_stories
