"""`manage.py measure_surprise STUDY --model ENDPOINT/MODEL`: how unlikely its stories are to a language model."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from judges import likelihoods, score_import
from studies.lookup import NoSuchStudy, find_study
from studies.protocol import NotPlannable


class Command(BaseCommand):
    help = (
        "Asks a language model for the log-probabilities of each story, given its group's premise, and stores their "
        "negative mean a token as scores. The server must echo a prompt with log-probabilities, as vLLM does "
        "(docs/judges.md). Broken off, it goes on where it was."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="slug of the study")
        parser.add_argument("--model", required=True, metavar="ENDPOINT/MODEL", help="which model is asked, and where")
        parser.add_argument("--metric", default="surprise", metavar="NAME", help="of the scores (default surprise)")

    def handle(self, *, study: str, model: str, metric: str, **options: Any) -> None:
        try:
            card = likelihoods.measure_surprise(
                find_study(study), model=model, metric=metric, by="manage.py measure_surprise", at=timezone.now()
            )
        except (NoSuchStudy, NotPlannable, likelihoods.CannotMeasureSurprise, score_import.RefusedScores) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{card.n_scores} values of {card} came in, by {model}.")
