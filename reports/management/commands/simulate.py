"""`manage.py simulate STUDY --n 30 --seed 1`: a draft answered in a copy by simulated raters, with an effect to find.

The raters claim places, save answers and submit by the functions that the raters' pages call
(`annotation.simulated_panel`); no request is made. The copy is deleted at the end, and the study itself is not touched.
"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from annotation.design import deletion
from reports.simulated_studies import (
    FEWEST_RATERS,
    MOST_RATERS,
    CannotPlant,
    CopyGone,
    SimulatedStudy,
    Trial,
    run_trial,
)
from studies.lifecycle import NotReady
from studies.lookup import NoSuchStudy, find_study


class Command(BaseCommand):
    help = (
        "Simulates a draft in a copy that is deleted afterwards: raters of several kinds answer it, one source is made "
        "better by a known amount, and the report says how much of it is found."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="slug of a draft")
        parser.add_argument("--n", type=int, default=30, help="raters (30)")
        parser.add_argument("--seed", type=int, default=1, help="of all chance: the same gives the same answers (1)")
        parser.add_argument(
            "--effect", type=float, help="difference on the primary outcome, in its unit (a tenth of its width)"
        )

    def handle(self, *, study: str, n: int, seed: int, effect: float | None, **options: Any) -> None:
        if not FEWEST_RATERS <= n <= MOST_RATERS:
            raise CommandError(f"--n {n}: {FEWEST_RATERS} to {MOST_RATERS} raters can be simulated")
        if seed < 0:
            raise CommandError(f"--seed {seed}: must be 0 or more")
        if effect is not None and not 0 <= effect < 1e9:
            raise CommandError(f"--effect {effect}: must be 0 or more, in the unit of the primary outcome")
        try:
            original = find_study(study)
        except NoSuchStudy as error:
            raise CommandError(str(error)) from None
        try:
            summary = run_trial(
                original, Trial(n=n, seed=seed, effect=effect), by=None, sees_sources=True, at=timezone.now()
            )
        except (NotReady, CannotPlant, CopyGone) as error:
            raise CommandError(str(error)) from None
        finally:
            deletion.delete_copies_without_account(original)
        for line in describe(summary):
            self.stdout.write(line)


def describe(summary: SimulatedStudy) -> list[str]:
    """Who came, how it went, and what was planted and found."""
    outcomes = [
        f"  {outcome.name}: {outcome.sentence}{' points of percent' if outcome.is_percent else ''}"
        for outcome in summary.outcomes
    ]
    return [*summary.course, "", summary.between, *outcomes, "", *summary.naming]
