"""`manage.py import_scores STUDY FILE --metric NAME`: scores that were computed elsewhere, as by the page."""

from datetime import date
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotation.answer_import.files import hash_content
from judges import score_import
from judges.models import ScoreCard
from studies.documents import reader
from studies.documents.errors import InvalidValue
from studies.incoming_tables.errors import ImportRefused, UnreadableFile
from studies.lookup import NoSuchStudy, find_study
from studies.protocol import NotPlannable


class Command(BaseCommand):
    help = (
        "Brings in scores of stories or pairs from a file (CSV, TSV, Excel, JSON or JSON lines) with the columns story "
        "and value, or first, second and value; all of them or none. They stand beside people in the report."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="slug of the study")
        parser.add_argument("file", metavar="FILE", type=Path, help="the file of scores")
        parser.add_argument("--metric", required=True, metavar="NAME", help="what computed them, as skywork-reward")
        parser.add_argument("--by", required=True, dest="scored_by", metavar="WHO", help="who computed them")
        parser.add_argument("--better", choices=ScoreCard.Better.values, default="higher", help="which way is better")
        parser.add_argument("--metric-version", default="", metavar="NAME", help="its version; the next number if none")
        parser.add_argument(
            "--date", type=date.fromisoformat, metavar="DAY", help="when they were computed: 2027-01-31"
        )
        parser.add_argument("--note", default="", help="whatever else a reader must know")
        parser.add_argument(
            "--names", default="code", metavar="NAME", help="how the file names stories: code, title or a factor"
        )
        parser.add_argument("--allow-missing", action="store_true", help="some stories, or pairs, may have no score")

    def handle(self, *, study: str, file: Path, **options: Any) -> None:
        card = score_import.CardText(
            metric=options["metric"],
            version=options["metric_version"],
            better=options["better"],
            scored_by=options["scored_by"],
            scored_on=options["date"],
            note=options["note"],
        )
        try:
            content = reader.read_bytes(file, largest=reader.LARGEST_FILE)
            row = score_import.import_scores(
                find_study(study),
                score_import.read_scores(file.name, content),
                card,
                story_column=options["names"],
                may_be_missing=options["allow_missing"],
                sha256=hash_content(content),
                by="manage.py import_scores",
                at=timezone.now(),
            )
        except OSError as error:
            raise CommandError(f"{error.filename}: cannot be read: {error.strerror}") from None
        except InvalidValue as error:
            raise CommandError(f"{file.name}: {error}") from None
        except (NoSuchStudy, NotPlannable, UnreadableFile, ImportRefused) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{row.n_scores} scores of {row} came in, about {row.get_about_display()}.")
