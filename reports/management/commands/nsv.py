"""manage.py nsv STUDY [--json]: what the report says of the novelty, surprise and value of a study's ideas."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError
from django.utils import timezone

from reports import results
from reports.figures import all_figures
from studies import lifecycle, protocol
from studies.lookup import NoSuchStudy, find_study

KEYS = ("nsv", "nsv_feedback")


class Command(BaseCommand):
    help = (
        "Print how far a score of novelty, surprise and value goes with the panel of a closed study, as the report "
        "does: on prompts that nothing was fitted on. The analysis plan says what stands for creativity. "
        "Exit status: 1 if there is no such score."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="slug of the study")
        parser.add_argument("--json", action="store_true", help="print one JSON document of unrounded numbers")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            study = find_study(options["study"])
        except NoSuchStudy as error:
            raise CommandError(str(error)) from None
        plan = protocol.frozen_plan(study)
        if plan is None or not plan.nsv_target:
            raise CommandError(
                f"The frozen analysis plan of {study.slug} does not say what stands for creativity; it is chosen "
                "before the launch, as nsv_target in the study file or on the page Analysis plan."
            )
        if lifecycle.is_sealed(study):
            raise CommandError(f"{study.slug} is sealed until it is closed; then this prints the score.")
        document = results.fit_document(results.ensure_report(study, at=timezone.now(), by="nsv"))
        if options["json"]:
            part = {key: document[key] for key in KEYS}
            self.stdout.write(json.dumps(part, indent=1, ensure_ascii=False, allow_nan=False, sort_keys=True))
        else:
            figures = results.read_results(document).figures
            for key in KEYS:
                for line in all_figures()[key].lines(figures[key]) if figures[key] else ():
                    self.stdout.write(line)
        if document["nsv"]["scores"] is None:
            raise CommandError("There is no score; the reason stands above.")
