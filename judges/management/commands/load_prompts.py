"""Load the built-in prompts and sets of personas, so that judges can be made of them in the admin."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from judges import catalogue, prompts


class Command(BaseCommand):
    help = (
        "Load the built-in prompts and sets of personas. Safe to call again; a file that changed under its version is "
        "refused."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            loaded = [*catalogue.load_prompts(), *catalogue.load_personas()]
        except prompts.InvalidPrompt as error:
            raise CommandError(str(error)) from None
        self.stdout.write("\n".join(str(row) for row in loaded))
