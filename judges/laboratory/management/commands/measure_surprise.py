"""`manage.py measure_surprise STUDY --model ENDPOINT/MODEL`: how unlikely its stories are to a language model."""

import sys
from decimal import Decimal
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from judges.laboratory import likelihoods
from judges.laboratory.likelihoods import SurprisePlan
from judges.management.commands.run_judges import dollars
from studies.lookup import NoSuchStudy, find_study
from studies.protocol import NotPlannable

BY = "manage.py measure_surprise"


class Command(BaseCommand):
    help = (
        "Asks a language model for the log-probabilities of each story, given its group's writing prompt, and stores "
        "their negative mean a token as scores. The server must echo a prompt with log-probabilities, as vLLM does "
        "(docs/judges.md). Says first what it takes, and asks nothing that nobody approves. It is a run, whose calls "
        "stand on its page. Broken off, it goes on where it was."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="slug of the study")
        parser.add_argument("--model", required=True, metavar="ENDPOINT/MODEL", help="which model is asked, and where")
        parser.add_argument(
            "--metric", default=likelihoods.METRIC, metavar="NAME", help="of the scores (default surprise)"
        )
        parser.add_argument("--budget", type=dollars, metavar="USD", help="ask nothing if it could cost more than this")
        parser.add_argument("--dry-run", action="store_true", help="say what it would take, and ask nothing")
        parser.add_argument("--yes", action="store_true", help="approve it without being asked")

    def handle(self, *, study: str, model: str, metric: str, **options: Any) -> None:
        budget = options["budget"]
        try:
            plan = likelihoods.plan_surprise(find_study(study), model=model)
            self._approve(plan, budget, is_approved=options["yes"], is_dry=options["dry_run"])
            if options["dry_run"]:
                return
            run = likelihoods.write_run(plan, metric=metric, budget=budget, by=BY)
            card = likelihoods.work(run, by=BY)
        except (NoSuchStudy, NotPlannable, likelihoods.CannotMeasureSurprise) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{card.n_scores} values of {card} came in, by {model}.")

    def _approve(self, plan: SurprisePlan, budget: Decimal | None, *, is_approved: bool, is_dry: bool) -> None:
        """Say what it takes, and have a person approve it. Raises CommandError if nobody does, CannotMeasureSurprise
        if it could take more than the budget."""
        self.stdout.write(f"{plan.study}: {describe(plan)}")
        if budget is not None:
            likelihoods.check_budget(plan, budget)
        if is_dry or is_approved or not plan.missing:
            return
        if not sys.stdin.isatty():
            raise CommandError("Nothing was sent: approve it with --yes.")
        if input("Approve and send? [y/N] ").strip().lower() not in ("y", "yes"):
            raise CommandError("Nothing was sent.")


def describe(plan: SurprisePlan) -> str:
    """ "12 requests to be sent, about 5,200 tokens, about $ 0.01, at most $ 0.02; 3 values are there already"."""
    estimate, cost = plan.estimate, "cost unknown, since the model has no price"
    if estimate.cost is not None:
        cost = f"about $ {estimate.cost:,.4f}, at most $ {estimate.worst_cost:,.4f}"
    kept = f"; {len(plan.kept):,} values are there already" if plan.kept else ""
    return f"{len(plan.missing):,} requests to be sent, about {estimate.n_tokens_in:,} tokens, {cost}{kept}"
