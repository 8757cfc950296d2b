from typing import Any

from django.apps import apps
from django.core.management.base import BaseCommand
from django.utils import timezone

from annotation.answer_import import files
from studies import jobs
from studies.incoming_tables import uploads
from studies.models import WaitingTable
from studies.story_import import imports


class Command(BaseCommand):
    help = (
        "Deletes files of stories, answers, scores and logs that somebody brought and did not confirm for a day, and "
        "what workers computed for pages of stories a day ago. Run every night by the schedule."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        at = timezone.now()
        n = imports.forget_old_imports(at=at) + files.forget_old_files(at=at) + jobs.forget_old(at=at)
        # Of whichever app: logs of judges stand above this one.
        for model in apps.get_models():
            if issubclass(model, WaitingTable):
                n += uploads.forget(model._default_manager.filter(created_at__lt=at - uploads.KEPT))
        self.stdout.write(f"{n} deleted")
