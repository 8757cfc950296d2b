from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from studies.story_import import uploads


class Command(BaseCommand):
    help = (
        "Deletes files of stories that somebody brought and did not confirm for a day. Run every night by the schedule."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        n = uploads.forget_old_uploads(at=timezone.now())
        self.stdout.write(f"{n} deleted")
