from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from annotation.participation import applications


class Command(BaseCommand):
    help = (
        "Deletes applications that were not accepted, with name and address, after the days that applicants were told "
        "of. Run every night by the schedule."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        n = applications.forget_old(at=timezone.now())
        self.stdout.write(f"{n} deleted")
