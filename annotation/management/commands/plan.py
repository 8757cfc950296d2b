"""`manage.py plan STUDY`: makes the seats, prints their balance and what stands in the way of launching."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotation import design
from annotation.design import balance, launches
from annotation.design.balance import GroupBalance
from studies.lookup import NoSuchStudy, find_study
from studies.protocol import NotPlannable


class Command(BaseCommand):
    help = (
        "Makes a study's seats and prints how they are balanced and what stands in the way of launching. It freezes "
        "nothing and can be repeated until the study is launched."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="slug of the study")

    def handle(self, *, study: str, **options: Any) -> None:
        try:
            planned = find_study(study)
            seats = design.plan(planned)
        except (NoSuchStudy, NotPlannable) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{study}: {len(seats)} seats planned; nothing is frozen until it is launched")
        for group in balance.load_groups(planned):
            self.stdout.write("\n" + table(group))
        findings = launches.findings(planned, at=timezone.now())
        self.stdout.write("" if findings else f"\nNext: `launch {study}`, and links on the study's page in the admin.")
        for finding in findings:
            self.stdout.write(f"{finding.level}: {finding}")


def table(group: GroupBalance) -> str:
    """One group as lines of text: a row for each story, a column for each place."""
    width = max(map(len, group.positions), default=0)
    head = " ".join(f"{name:>5}" for name in group.ordinals)
    rows = [f"  {code:<{width}} {' '.join(f'{n:>5}' for n in counts)}" for code, counts in group.positions.items()]
    even = "every story in every place equally often, but for one at most" if group.is_even else "not balanced"
    return "\n".join([f"{group.code}: {group.n_seats} seats, {even}", f"  {'':<{width}} {head}", *rows])
