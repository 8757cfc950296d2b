"""`manage.py plan STUDY`: freezes the protocol, makes the seats, prints the balance."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotation import balance, design
from annotation.balance import GroupBalance
from studies.naming import NoSuchStudy, named
from studies.protocol import NotPlannable


class Command(BaseCommand):
    help = "Freezes version 1 of a study's protocol, makes its seats, and prints how they are balanced."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="slug of the study")

    def handle(self, *, study: str, **options: Any) -> None:
        try:
            found = named(study)
            seats = design.plan(found, by="manage.py plan", at=timezone.now())
        except (NoSuchStudy, NotPlannable) as error:
            raise CommandError(str(error)) from None
        version = found.versions.get(number=1)
        self.stdout.write(f"{study}: {len(seats)} seats, protocol version 1 with SHA-256 {version.sha256}")
        for group in balance.read(found):
            self.stdout.write("\n" + table(group))
        self.stdout.write("\nNext: launch it and issue links, on the study's page in the admin.")


def table(group: GroupBalance) -> str:
    """One group as lines of text: a row for each story, a column for each place."""
    width = max(map(len, group.positions), default=0)
    head = " ".join(f"{name:>5}" for name in group.ordinals)
    rows = [f"  {code:<{width}} {' '.join(f'{n:>5}' for n in counts)}" for code, counts in group.positions.items()]
    even = "every story in every place equally often, but for one at most" if group.is_even else "not balanced"
    return "\n".join([f"{group.code}: {group.n_seats} seats, {even}", f"  {'':<{width}} {head}", *rows])
