"""`manage.py withdraw STUDY CODE`: honours the request of a rater to be erased, whatever the state of the study."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotation.models import Rater
from annotation.participation import withdrawal
from studies.lookup import NoSuchStudy, find_study


class Command(BaseCommand):
    help = (
        "Withdraws a rater at their request: erases what they said and who they are, keeps the counts, and opens their "
        "seats again. Says what would be done, and does it with --yes. Works in every state of the study."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="slug of the study")
        parser.add_argument("code", metavar="CODE", help="code of the rater, such as E07")
        parser.add_argument("--yes", action="store_true", help="do it; it cannot be undone")

    def handle(self, *, study: str, code: str, yes: bool, **options: Any) -> None:
        try:
            rater = find_study(study).raters.get(code=code, kind=Rater.Kind.PERSON)
        except NoSuchStudy as error:
            raise CommandError(str(error)) from None
        except Rater.DoesNotExist:
            raise CommandError(f"there is nobody with the code “{code}” in {study}") from None
        n_answers = withdrawal.n_answers(rater)
        about = f"{code} in {study}: their answers ({n_answers}), who they are, and the label of their link"
        if not yes:
            self.stdout.write(f"Would erase of {about}. Nothing has been done; --yes does it, and it cannot be undone.")
            return
        withdrawal.withdraw(rater, at=timezone.now())
        self.stdout.write(f"Erased of {about}.")
