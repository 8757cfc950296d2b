"""`manage.py import_responses STUDY FILE --map MAP`: answers that were given elsewhere, as the page brings them in."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotation.answer_import import files
from annotation.answer_import.column_map import parse_mapping, write_mapping
from annotation.answer_import.guesses import guess_mapping
from studies.documents import reader
from studies.documents.errors import DocumentError, InvalidValue
from studies.incoming_tables.errors import ImportRefused, UnreadableFile
from studies.lookup import NoSuchStudy, find_study
from studies.protocol import NotPlannable


class Command(BaseCommand):
    help = (
        "Brings in answers from a file (CSV, TSV, Excel, JSON or JSON lines), all of them or none. How its columns are "
        "read is said by a mapping, which is kept. Without one, a first draft of it is printed and nothing comes in."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="slug of the study")
        parser.add_argument("file", metavar="FILE", type=Path, help="the file of answers")
        parser.add_argument("--map", type=Path, metavar="MAP", help="the mapping, a TOML file; see docs/imports.md")
        parser.add_argument("--dry-run", action="store_true", help="only say what would come in")

    def handle(self, *, study: str, file: Path, map: Path | None, dry_run: bool, **options: Any) -> None:
        try:
            row = find_study(study)
            content = _read(file, largest=reader.LARGEST_FILE)
            table = files.read_answers(file.name, content)
            if map is None:
                self.stdout.write(write_mapping(guess_mapping(table, row)))
                self.stderr.write("Nothing was imported: save this as a file, complete it, and give it with --map.")
                return
            mapping = parse_mapping(_read(map, largest=reader.LARGEST_TEXT), map)
            examination = files.examine(row, table, mapping)
            if examination.warning:
                self.stderr.write(examination.warning.sentence)
            if dry_run:
                if examination.problems:
                    raise files.refuse(examination.problems)
                n, n_raters = len(examination.rows), examination.n_raters
                self.stdout.write(f"{n} answers of {n_raters} raters would come in. Nothing has been done.")
                return
            sha256, by = files.hash_content(content), "manage.py import_responses"
            record = files.bring_in(row, table, mapping, sha256=sha256, by=by, at=timezone.now())
        except OSError as error:
            raise CommandError(f"{error.filename}: cannot be read: {error.strerror}") from None
        except (NoSuchStudy, UnreadableFile, DocumentError, NotPlannable, ImportRefused) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(
            f"{record.n_responses} answers of {record.n_raters} raters came in from {record.n_rows} rows."
        )


def _read(file: Path, *, largest: int) -> bytes:
    try:
        return reader.read_bytes(file, largest=largest)
    except InvalidValue as error:
        raise CommandError(f"{file.name}: {error}") from None
