"""manage.py replicate NAME --data DIR: a published study computed anew from its public data."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError, call_command
from django.db import connection
from django.utils import timezone

from reports import replications
from reports.replications import comparison, replicate
from studies.documents.errors import DocumentError
from studies.incoming_tables.problems import InvalidRow
from studies.loader import VersionConflict
from studies.models import Study


class Command(BaseCommand):
    help = (
        "Bring in the public release of a published study, and print what was published beside what its data give. "
        "Exit status: 0 if every figure of the experts is as the data must give it, 1 if not, 2 if the input is unfit."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", choices=replications.list_names(), help="which replication")
        parser.add_argument("--data", required=True, type=Path, metavar="DIR", help="the folder of the release")
        parser.add_argument(
            "--judges", type=Path, metavar="DIR", help="the folder of judges' answers; DIR/judges if there is one"
        )
        parser.add_argument(
            "--study", metavar="SLUG", help="the study to bring it into, if not the one of the data file"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON document of unrounded numbers")

    def handle(self, *args: Any, name: str, data: Path, judges: Path | None, json: bool, **options: Any) -> None:
        self._migrate()
        spec = replications.load_spec(name)
        slug = options["study"] or spec["study"]["slug"]
        try:
            for folder in filter(None, [data, judges]):
                if not folder.is_dir():
                    raise DocumentError(folder, "folder", f"there is no folder {folder}")
            release = replications.load_reader(spec["reader"]).read_release(
                data, judges or data / spec["files"]["judges"], spec
            )
            study = replicate.load_release(release, spec, slug=slug, at=timezone.now())
        except (DocumentError, InvalidRow, VersionConflict, replicate.StudyConflict) as error:
            raise CommandError(str(error), returncode=2) from None
        evidence = replicate.collect_evidence(study, spec, judges=[judge.name for judge in release.judges])
        blocks = comparison.compare(evidence, spec)
        files = dict(release.sha256_by_file) | {f"judges/{judge.name}": judge.sha256 for judge in release.judges}
        document = comparison.write_document(name, slug, blocks, files=files, caution=spec.get("caution", ""))
        command = " ".join(["manage.py replicate", name, *(["--study", slug] if options["study"] else [])])
        replicate.store_comparison(study, document, command=command, at=timezone.now())
        self._print(document, blocks, as_json=json)
        for figure in comparison.list_differences(blocks, of_judges=True):
            self.stderr.write(f"A judge's figure differs: {comparison.difference_sentence(figure)}")
        if differ := comparison.list_differences(blocks, of_judges=False):
            raise CommandError(
                "\n".join(["Not replicated.", *map(comparison.difference_sentence, differ)]), returncode=1
            )

    def _migrate(self) -> None:
        """A database without tables gets them, so that the command works right after the installation."""
        if Study._meta.db_table not in connection.introspection.table_names():
            self.stderr.write("The database is empty; creating its tables.")
            call_command("migrate", verbosity=0, interactive=False)

    def _print(self, document: dict[str, Any], blocks: list[comparison.Block], *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False))
            return
        if document["caution"]:
            self.stdout.write(document["caution"])
        for line in comparison.lines(blocks):
            self.stdout.write(line)
        n = sum(f.is_to_be_met and not f.is_of_judge for block in blocks for f in block.figures)
        n_differ = len(document["differences"])
        self.stdout.write(
            f"\n{n - n_differ} of {n} figures are as the data must give them, those of judges not counted."
        )
        slug = document["study"]
        self.stdout.write(f"The study is {slug}: manage.py report {slug}, or /reports/{slug}/")
