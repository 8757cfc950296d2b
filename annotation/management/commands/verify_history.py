"""`manage.py verify_history [STUDY]`: proves that no answer was changed but through the history, and no question."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.responses import verification
from studies.lookup import NoSuchStudy, named


class Command(BaseCommand):
    help = (
        "Recomputes every chain of events, every receipt and every frozen protocol, of one study or of all. Prints "
        "what was read and each fault that was found; exits with 1 if there is one."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="STUDY", nargs="?", help="slug of the study; all if left out")

    def handle(self, *, study: str | None, **options: Any) -> None:
        try:
            found = verification.verify(named(study) if study else None)
        except NoSuchStudy as error:
            raise CommandError(str(error)) from None
        self.stdout.write(
            f"{found.n_assignments} assignments ({found.n_receipts} with a receipt), {found.n_responses} responses, "
            f"{found.n_events} events ({found.n_erased} erased), {found.n_protocols} frozen protocols"
        )
        for fault in found.faults:
            self.stdout.write(f"FAULT {fault}")
        if found.faults:
            raise CommandError(f"{len(found.faults)} faults found", returncode=1)
        self.stdout.write("Every chain, every receipt and every frozen protocol holds.")
