"""`manage.py load_study FILE`: a study with its stories into the database."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.template.defaultfilters import pluralize

from studies import loader
from studies.documents.errors import DocumentError


class Command(BaseCommand):
    help = "Loads a study from study.toml and the stories beside it (docs/study-files.md). All of it, or nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="FILE", type=Path, help="study.toml, or the folder that holds it")

    def handle(self, *, study: Path, **options: Any) -> None:
        try:
            row = loader.load_study(study)
        except DocumentError as error:
            raise CommandError(str(error)) from None
        n_stories, n_groups = row.stories.count(), row.groups.count()
        stories, groups = f"stor{pluralize(n_stories, 'y,ies')}", f"group{pluralize(n_groups)}"
        summary = f"{row.slug}: {n_stories} {stories} in {n_groups} {groups}"
        self.stdout.write(f"{summary}. Next: manage.py plan {row.slug}")
