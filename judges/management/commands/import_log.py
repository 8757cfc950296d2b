"""`manage.py import_log STUDY FILE`: replies that another tool has got from a model, as by the page."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotation.answer_import.files import hash_content
from judges import foreign_logs
from judges.foreign_logs.imports import import_log
from judges.foreign_logs.matches import LogChoices
from judges.models import Prompt
from studies.documents import reader
from studies.documents.errors import InvalidValue
from studies.incoming_tables.errors import ImportRefused, UnreadableFile
from studies.lookup import NoSuchStudy, find_study
from studies.protocol import NotPlannable


class Command(BaseCommand):
    help = (
        "Brings in a finished log of Inspect, promptfoo or OpenAI's evals as a judge with its replies, which are read "
        "as a run's own are; all of them or none. Nothing is sent."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="slug of the study")
        parser.add_argument("file", metavar="FILE", type=Path, help="the log: .json, .jsonl or .eval")
        parser.add_argument("--judge", required=True, metavar="NAME", help="what the judge is called")
        parser.add_argument("--model", default="", metavar="NAME", help="whose replies come in; needed if several have")
        parser.add_argument(
            "--protocol", choices=Prompt.Protocol.values, default="reasoning_first", help="how the replies are read"
        )
        parser.add_argument("--story-key", default="", metavar="NAME", help="what of the log names the story")
        parser.add_argument("--item-key", default="", metavar="NAME", help="what of the log names the item")
        parser.add_argument("--leave-out", action="store_true", help="leave out replies that fit no story or item")

    def handle(self, *, study: str, file: Path, **options: Any) -> None:
        try:
            content = reader.read_bytes(file, largest=reader.LARGEST_FILE)
            log = foreign_logs.read_log(file.name, content)
            model = options["model"] or (log.models[0] if len(log.models) == 1 else "")
            if model not in log.models:
                raise CommandError(f"Say by --model whose replies come in; there are: {', '.join(log.models)}")
            choices = LogChoices(
                model=model,
                judge=options["judge"],
                protocol=options["protocol"],
                story_key=options["story_key"],
                item_key=options["item_key"],
                may_be_left_out=options["leave_out"],
            )
            run = import_log(
                find_study(study),
                log,
                choices,
                sha256=hash_content(content),
                by="manage.py import_log",
                at=timezone.now(),
            )
        except OSError as error:
            raise CommandError(f"{error.filename}: cannot be read: {error.strerror}") from None
        except InvalidValue as error:
            raise CommandError(f"{file.name}: {error}") from None
        except (NoSuchStudy, NotPlannable, UnreadableFile, ImportRefused) as error:
            raise CommandError(str(error)) from None
        counts = run.frozen["log"]
        self.stdout.write(
            f"{counts['n_replies']} replies of {run.judge} came in, {counts['n_left_out']} were left out."
        )
