"""`manage.py plan STUDY`: plans the places, prints their balance and what stands in the way of launching."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotation import design
from annotation.design import balance, launches
from annotation.design.balance import Balance
from studies import protocol
from studies.lookup import NoSuchStudy, find_study
from studies.protocol import NotPlannable


class Command(BaseCommand):
    help = (
        "Plans a study's places and prints how they are balanced and what stands in the way of launching. It freezes "
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
        self.stdout.write(f"{study}: {len(seats)} places planned; nothing is frozen until it is launched")
        self.stdout.write("\n" + describe(balance.load_balance(planned)))
        findings = launches.findings(planned, at=timezone.now())
        errors = protocol.select_errors(findings, protocol.Purpose.LAUNCH)
        self.stdout.write("" if errors else f"\nNext: `launch {study}`, and links on the study's page in the admin.")
        for finding in findings:
            self.stdout.write(f"{finding.level}: {finding}")


def describe(planned: Balance) -> str:
    """What is balanced, and one table: a line for each group or story of a single one, a column for each position."""
    names = [] if planned.has_one_group else ["places"] + ["within"] * planned.has_several_stories
    cells = [["", *names, *planned.columns]]
    for line in planned.lines:
        texts = [] if planned.has_one_group else [line.taken] + [line.within] * planned.has_several_stories
        cells.append([line.code, *texts, *map(str, line.counts)])
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    rows = [
        "  ".join([f"  {row[0]:<{widths[0]}}", *(f"{text:>{w}}" for text, w in zip(row[1:], widths[1:], strict=True))])
        for row in cells
    ]
    return "\n".join([*planned.sentences, "", *rows])
