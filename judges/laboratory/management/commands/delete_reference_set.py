"""`manage.py delete_reference_set STUDY NAME`: a reference set that no analysis plan names is gone."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from judges.laboratory import reference_sets
from studies.lookup import NoSuchStudy, find_study


class Command(BaseCommand):
    help = "Delete a reference set that its study's analysis plan does not name. Its stories stay where they are."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="whose stories are measured against it")
        parser.add_argument("name", help="what the set is called in the report")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            row = reference_sets.delete(find_study(options["study"]), options["name"])
        except (NoSuchStudy, reference_sets.CannotDelete) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{row.name}: deleted; it held {len(row.stories)} stories of {row.corpus.slug}")
