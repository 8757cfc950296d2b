"""`manage.py train_preference STUDY | --pairs FOLDER`: a preference model from pairs, stored with its card."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from judges.laboratory import preference_models
from judges.laboratory.embeddings import first_offered
from judges.models import PreferenceModel
from studies.lookup import NoSuchStudy, find_study

BY = "train_preference"


class Command(BaseCommand):
    help = (
        "Learn from pairs which of two texts is preferred: from people’s votes in a study, or from a folder that "
        "build_pairs made. The model is stored with what it was trained on and how well it does (docs/pairs.md)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        either = parser.add_mutually_exclusive_group(required=True)
        either.add_argument("study", metavar="STUDY", nargs="?", default="", help="slug of a study that compares pairs")
        either.add_argument("--pairs", metavar="FOLDER", type=Path, help="a folder that build_pairs made")
        usual = first_offered()
        parser.add_argument("--embedding", default=usual, metavar="E", help=f"of the texts (default {usual})")
        parser.add_argument(
            "--run-in",
            metavar="STUDY",
            help="in whose runs the requests of an endpoint’s embedding stand, where pairs come from a folder",
        )
        parser.add_argument("--name", default="", metavar="N", help="of the model, as its rater will be called")
        parser.add_argument("--seed", type=int, default=0, help="decides what is held out (default 0)")

    def handle(self, *, study: str, pairs: Path | None, embedding: str, name: str, seed: int, **options: Any) -> None:
        now = timezone.now()
        try:
            row = find_study(study) if study else None
            material = (
                preference_models.collect_study(row) if row else preference_models.collect_folder(pairs or Path())
            )
            run_in = find_study(options["run_in"]) if options["run_in"] else None
            model = preference_models.request(row, embedding=embedding, seed=seed, at=now, by=BY, slug=name)
            try:
                preference_models.train(model, material, run_in=run_in, at=now)
            except BaseException:  # broken off, too: nobody would train it later
                model.delete()
                raise
        except (NoSuchStudy, preference_models.CannotTrain) as error:
            raise CommandError(str(error)) from None
        self._print(model)

    def _print(self, model: PreferenceModel) -> None:
        card = model.card
        held_out = card["held_out"]
        ends = "no interval"
        if held_out["interval"]:
            low, high = held_out["interval"]
            ends = f"95 % {low:.1f} to {high:.1f} over {held_out['n_prompts']:,} prompts"
        self.stdout.write(f"{model.slug}: {card['pairs_trained_on']:,} of {card['pairs']:,} pairs, {model.sha256[:12]}")
        self.stdout.write(f"  {card['embedding']['name']} {card['embedding']['version']}, {card['dimensions']} numbers")
        self.stdout.write(f"  held out: {held_out['accuracy']:.1f} % of {held_out['n_pairs']:,} pairs ({ends})")
        self.stdout.write(f"  AUC {held_out['auc']:.3f}, log loss {held_out['log_loss']:.3f} (a coin: .693)")
        length = card["length"].get("accuracy")
        self.stdout.write(f"  control, length alone: {'–' if length is None else f'{length:.1f} %'}")
        self.stdout.write(f"  control, shuffled preferences: {card['shuffled']['mean']:.1f} %")
        if card["pairs_trained_on"] < preference_models.ENOUGH_PAIRS:
            self.stdout.write(f"  Fewer than {preference_models.ENOUGH_PAIRS:,} pairs: it says little (docs/pairs.md).")
        if model.study:
            self.stdout.write(f"Next: manage.py answer_pairs {model.study.slug} --model {model.slug}")
