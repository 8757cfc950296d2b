"""manage.py report STUDY [--json]: what a study amounts to, computed now or taken from the stored report."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError
from django.utils import timezone

from reports import results
from reports.page import text
from studies.lookup import NoSuchStudy, find_study


class Command(BaseCommand):
    help = "Print what a study amounts to. While it is live, nothing by source."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="slug of the study")
        parser.add_argument("--json", action="store_true", help="print one JSON document of unrounded numbers")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            study = find_study(options["study"])
        except NoSuchStudy as error:
            raise CommandError(str(error)) from None
        document = results.fit_document(results.ensure_report(study, at=timezone.now(), by="report"))
        if options["json"]:
            self.stdout.write(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False, sort_keys=True))
        else:
            for line in text.lines(results.read_results(document)):
                self.stdout.write(line)
