from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from annotation.answer_import import files
from studies import jobs
from studies.story_import import imports


class Command(BaseCommand):
    help = (
        "Deletes files of stories, answers and scores that somebody brought and did not confirm for a day, and what "
        "workers computed for pages of stories a day ago. Run every night by the schedule."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        at = timezone.now()
        n = imports.forget_old_imports(at=at) + files.forget_old_files(at=at) + jobs.forget_old(at=at)
        self.stdout.write(f"{n} deleted")
