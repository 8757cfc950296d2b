"""`manage.py draw_subset STUDY --title TITLE (--n N | --each N)`: some of a study's stories, drawn into a new study."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from studies import creation, subsets
from studies.lookup import NoSuchStudy, find_study
from studies.strata import CannotDraw, SubsetDraw, SubsetRule, draw, parse_criterion


class Command(BaseCommand):
    help = (
        "Draws some of a study's stories, in strata or not, into a new draft (docs/study-files.md). "
        "The study itself stays as it is."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="slug of the study to draw from")
        parser.add_argument("--title", metavar="TITLE", default="", help="of the study to make; raters see it")
        amount = parser.add_mutually_exclusive_group(required=True)
        amount.add_argument("--n", type=int, metavar="N", help="stories in all, spread evenly over the strata")
        amount.add_argument("--each", type=int, metavar="N", help="stories from each stratum")
        parser.add_argument(
            "--by",
            action="append",
            default=[],
            metavar="CRITERION",
            help="source, group (its prompt), text=quarters (its length), or a property: tier, votes=thirds, "
            "date=2023-01-31; up to three times",
        )
        parser.add_argument("--seed", type=int, metavar="N", help="of the draw; one is drawn if left out")
        parser.add_argument("--dry-run", action="store_true", help="only say what would be drawn")

    def handle(self, *, study: str, title: str, dry_run: bool, **options: Any) -> None:
        if not (title.strip() or dry_run):
            raise CommandError("name the new study with --title, or use --dry-run to see what would be drawn")
        try:
            original = find_study(study)
            rule = SubsetRule(
                n=options["each"] if options["n"] is None else options["n"],
                seed=creation.draw_seed() if options["seed"] is None else abs(options["seed"]),
                is_each=options["each"] is not None,
                criteria=tuple(map(parse_criterion, options["by"])),
            )
            if dry_run:
                self._draw(subsets.read_population(original), rule)
                return
            with transaction.atomic():
                population = subsets.hold_population(original)
                drawn = self._draw(population, rule)
                subset = subsets.create_subset(original, population, drawn, title.strip()[:200], by=None)
        except (NoSuchStudy, CannotDraw) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{subset.slug}: {drawn.n_taken} stories. Next: manage.py plan {subset.slug}")

    def _draw(self, population: subsets.Population, rule: SubsetRule) -> SubsetDraw:
        drawn = draw(population.candidates, rule)
        self._write_draw(drawn, population)
        return drawn

    def _write_draw(self, drawn: SubsetDraw, population: subsets.Population) -> None:
        """Print what is drawn from each stratum, and what is not."""
        for stratum in drawn.strata:
            name = " · ".join(stratum.labels) or "all"
            missing = f", {stratum.n_lacking} missing" if stratum.n_lacking else ""
            self.stdout.write(
                f"{name}: {stratum.n_there:,} there, {stratum.n_asked:,} asked for, {stratum.n_taken:,} taken{missing}"
            )
        for criterion, n in drawn.left_out.items():
            self.stdout.write(f"{n:,} stories have no value for {criterion} and are left out")
        for n, why in (
            (population.n_withheld, "have a withheld text"),
            (population.n_in_no_group, "are in no group"),
        ):
            if n:
                self.stdout.write(f"{n:,} stories {why} and cannot be drawn")
        if n_split := population.count_split_groups(drawn):
            self.stdout.write(f"{n_split:,} groups keep only some of their stories")
        self.stdout.write(f"{drawn.n_taken:,} of {drawn.n_there:,} stories, seed {drawn.rule.seed}")
