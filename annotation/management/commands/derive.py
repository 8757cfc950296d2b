"""`manage.py derive STUDY --slug S`: the fills of a cloze as the stories of a study of their own."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.models import Fill
from annotation.responses import derivation
from annotation.responses.derivation import NotDerivable
from studies.lookup import NoSuchStudy, find_study


class Command(BaseCommand):
    help = (
        "Makes a draft study in which raters judge what was written in another: every complete, submitted fill of its "
        "cloze becomes a blind story. Fills that are in a derived study already stay there."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="slug of the study in which a cloze was filled")
        parser.add_argument("--slug", required=True, help="slug of the study to make")
        parser.add_argument("--shortlisted", action="store_true", help="only what an editor has shortlisted")
        parser.add_argument(
            "--plain", action="store_true", help="without the numbers that say where blanks and sections begin and end"
        )
        parser.add_argument(
            "--coarse",
            action="store_true",
            help="ask every constraint once more in three steps (0, 0.5, 1), the control of the paper",
        )

    def handle(self, *, study: str, slug: str, shortlisted: bool, plain: bool, coarse: bool, **options: Any) -> None:
        try:
            original = find_study(study)
            fills = [
                f for f in derivation.derivable_fills(original) if not shortlisted or f.state == Fill.State.SHORTLISTED
            ]
            derived = derivation.derive(original, slug, fills, numbered=not plain, has_coarse=coarse)
        except (NoSuchStudy, NotDerivable) as error:
            raise CommandError(str(error)) from None
        summary = f"{derived.slug}: {len(fills)} stories, each in a group of its own"
        self.stdout.write(f"{summary}. Add consent and briefing in the admin; then: manage.py plan {derived.slug}")
