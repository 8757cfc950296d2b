"""`manage.py launch STUDY`: plans it if it is not planned, freezes its protocol and opens it, all of it or nothing."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotation.design import launches
from studies import lifecycle
from studies.lookup import NoSuchStudy, find_study
from studies.protocol import current


class Command(BaseCommand):
    help = (
        "Freezes a study's protocol and opens it to anyone with a link; plans its places first if they are not "
        "planned. Refuses with everything that is in the way."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="slug of the study")

    def handle(self, *, study: str, **options: Any) -> None:
        try:
            draft = find_study(study)
            for finding in launches.collect_source_warnings(draft):
                self.stderr.write(f"Warning: {finding}")
            live = launches.launch(draft, by="manage.py launch", at=timezone.now())
        except (NoSuchStudy, lifecycle.NotReady) as error:
            raise CommandError(str(error)) from None
        version = current(live)
        self.stdout.write(f"{study} is live: protocol version {version.number} with SHA-256 {version.sha256}")
        self.stdout.write("Next: links for its raters, on the study's page in the admin.")
