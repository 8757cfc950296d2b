"""`manage.py answer_pairs STUDY --model M`: a preference model as a judge on the pairs of a study."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from judges.laboratory import preference_models
from judges.models import PreferenceModel
from studies.lookup import NoSuchStudy, find_study


class Command(BaseCommand):
    help = (
        "Have a preference model choose in the pairs of a study that it did not learn from. It answers as a rater of "
        "kind metric, beside judges and people in the report (docs/pairs.md)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="slug of a study that compares pairs")
        parser.add_argument("--model", metavar="M", required=True, help="slug of the preference model")

    def handle(self, *, study: str, model: str, **options: Any) -> None:
        stored = PreferenceModel.objects.filter(slug=model).first()
        if stored is None:
            names = (
                ", ".join(PreferenceModel.objects.values_list("slug", flat=True)) or "none yet; see train_preference"
            )
            raise CommandError(f"There is no preference model “{model}”; there are: {names}")
        try:
            answers = preference_models.answer_pairs(stored, find_study(study), at=timezone.now())
        except (NoSuchStudy, preference_models.CannotAnswer) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{model} chose in {answers.n_answered} pairs of {study}.")
        if answers.n_seen:
            self.stdout.write(f"{answers.n_seen} were left out: it learnt from their texts or prompt.")
        if answers.n_even:
            self.stdout.write(f"{answers.n_even} were left out: both texts have the same reward.")
