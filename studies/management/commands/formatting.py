"""`manage.py formatting STUDY`: which formatting tells sources apart, and making it alike before planning."""

from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from studies import formatting
from studies.lookup import NoSuchStudy, find_study
from studies.models import Study
from studies.typography.comparison import SignRow, Table
from studies.typography.normalisation import NORMALISATIONS


class Command(BaseCommand):
    help = (
        "Prints which formatting of a study's stories differs by source, group by group. "
        "With --normalise it makes it alike; the texts as they came are kept with their provenance."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="slug of the study")
        parser.add_argument(
            "--normalise",
            nargs="+",
            metavar="KIND",
            choices=[*NORMALISATIONS, "all"],
            help=f"any of {', '.join(NORMALISATIONS)}; or all",
        )

    def handle(self, *, study: str, normalise: list[str] | None, **options: Any) -> None:
        try:
            row = find_study(study)
        except NoSuchStudy as error:
            raise CommandError(str(error)) from None
        if normalise:
            kinds = list(NORMALISATIONS) if "all" in normalise else normalise
            try:
                self.stdout.write(f"{study}: {formatting.normalise(row, kinds)} stories changed")
            except formatting.CannotNormalise as error:
                raise CommandError(str(error)) from None
        for line in lines(row):
            self.stdout.write(line)


def lines(study: Study) -> Iterator[str]:
    """The report as text."""
    for code, source in formatting.find_telling_codes(study):
        yield f"story {code}: its code tells its source (“{source}”)"
    for table in formatting.report(study):
        yield f"\n{table.title}: {', '.join(table.sources)}"
        yield from _rows(table)
    obstacle = formatting.find_obstacle(study)
    yield f"\n{obstacle}" if obstacle else "\nWhat --normalise would change:"
    for effect in [] if obstacle else formatting.list_effects(study):
        yield f"  {effect.kind:<10} {effect.n_stories:>4} stories  {effect.meaning}"


def _rows(table: Table) -> Iterator[str]:
    if not table.telling:
        yield "  no formatting differs by source"
    for row in table.telling:
        title, mends = (row.sign.title, row.sign.mends) if isinstance(row, SignRow) else (row.title, "")
        yield f"  {title}: {row.why}" + (f" [{mends}]" if mends else "")
