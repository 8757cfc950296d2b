"""`manage.py verify_history [STUDY]`: proves that no answer was changed but through the history, and no question."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.template.defaultfilters import pluralize

from annotation.responses import verification
from studies.lookup import NoSuchStudy, find_study


class Command(BaseCommand):
    help = (
        "Recomputes every chain of events, every receipt and every frozen protocol, of one study or of all, and looks "
        "whether the triggers are there that keep them. Prints what was read and each fault that was found; exits "
        "with 1 if there is one."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="STUDY", nargs="?", help="slug of the study; all if left out")

    def handle(self, *, study: str | None, **options: Any) -> None:
        try:
            summary = verification.verify(find_study(study) if study else None)
        except NoSuchStudy as error:
            raise CommandError(str(error)) from None
        self.stdout.write(
            f"{summary.n_assignments} assignment{pluralize(summary.n_assignments)} "
            f"({summary.n_receipts} with a receipt), "
            f"{summary.n_responses} responses, {summary.n_events} events "
            f"({summary.n_erased} erased), {summary.n_protocols} frozen protocol{pluralize(summary.n_protocols)}"
        )
        faults = [*verification.find_missing_triggers(), *summary.faults]
        for fault in faults:
            self.stdout.write(f"FAULT {fault}")
        if faults:
            raise CommandError(f"{len(faults)} faults found", returncode=1)
        self.stdout.write("Every chain, every receipt and every frozen protocol holds.")
