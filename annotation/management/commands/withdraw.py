"""`manage.py withdraw STUDY CODE`: honours the request of a rater to be erased, whatever the state of the study."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from annotation.management import raters
from annotation.participation import withdrawal


class Command(BaseCommand):
    help = (
        "Withdraws a rater at their request: erases what they said and who they are, keeps the counts, and opens their "
        "places again. Says what would be done, and does it with --yes. Works in every state of the study."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        raters.add_arguments(parser)
        parser.add_argument("--yes", action="store_true", help="do it; it cannot be undone")

    def handle(self, *, study: str, code: str, yes: bool, **options: Any) -> None:
        rater = raters.find_person(study, code)
        n_answers = withdrawal.count_answers(rater)
        about = f"{code} in {study}: their answers ({n_answers}), who they are, and the label of their link"
        if not yes:
            self.stdout.write(f"Would erase of {about}. Nothing has been done; --yes does it, and it cannot be undone.")
            return
        withdrawal.withdraw(rater, at=timezone.now())
        self.stdout.write(f"Erased of {about}.")
