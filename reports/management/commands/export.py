"""manage.py export STUDY --to FILE.zip: everything of a study in one package."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError

from reports.export import issues
from reports.export.package import ReasonMissing
from studies.lookup import NoSuchStudy, find_study


class Command(BaseCommand):
    help = "Write the export package of a study: blind, unless a reason is given for which sources stand in it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="slug of the study")
        parser.add_argument("--to", required=True, type=Path, metavar="FILE.zip", help="the file to write")
        parser.add_argument("--with-sources", action="store_true", help="say who wrote the stories; needs --reason")
        parser.add_argument(
            "--reason", default="", help="why sources are needed; it is kept, and stands in the package"
        )
        parser.add_argument("--public", action="store_true", help="leave out texts that may not travel")

    def handle(self, *args: Any, to: Path, with_sources: bool, reason: str, public: bool, **options: Any) -> None:
        try:
            study = find_study(options["study"])
            package = issues.ask(
                study, by="manage.py export", with_sources=with_sources, is_public=public, reason=reason
            )
        except (NoSuchStudy, issues.CannotIssue) as error:
            raise CommandError(str(error)) from None
        try:
            with to.open("wb") as stream:
                issues.make(package, stream)
        except (OSError, ReasonMissing) as error:
            raise CommandError(f"{to} cannot be written: {error}") from None
        for file in package.files:
            rows = "" if file["n_rows"] is None else f"{file['n_rows']:>9} rows"
            self.stdout.write(f"{file['name']:<44} {file['n_bytes']:>12} bytes{rows}")
        self.stdout.write(f"{package.sha256}  {to}")
