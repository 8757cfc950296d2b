"""Choose among prompts for pairs by a model's agreement with people on a validation split, and judge the rest."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from judges import catalogue, prompts, runs, validation
from judges.models import Judge
from judges.planning import CannotRun
from studies.lookup import NoSuchStudy, find_study

LITBENCH = "litbench-"


class Command(BaseCommand):
    help = (
        "Try LitBench’s six templates with a judge’s model on pairs that are set apart, name the one that agrees best "
        "with people, and start a run with it about the other pairs. The calls of the trial are made here."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="slug of the study, which compares pairs")
        parser.add_argument(
            "--judge", metavar="J", required=True, help="whose endpoint, model and parameters are tried"
        )
        parser.add_argument("--share", type=float, default=0.2, help="of the pairs that are set apart (default .2)")
        parser.add_argument("--seed", type=int, default=0, help="decides which pairs those are (default 0)")
        parser.add_argument(
            "--wait", action="store_true", help="make the calls of the run with the chosen one here, too"
        )

    def handle(self, *args: Any, study: str, judge: str, share: float, seed: int, wait: bool, **options: Any) -> None:
        model = Judge.objects.filter(slug=judge, metric="").select_related("endpoint").first()
        if model is None:
            raise CommandError(f"There is no judge “{judge}” that is a model.")
        try:
            rows = find_study(study)
            candidates = [row for row in catalogue.load_prompts() if row.name.startswith(LITBENCH)]
            split = validation.split_groups(rows, share=share, seed=seed)
            choice = validation.choose_prompt(rows, model, candidates, split, by="choose_prompt")
            run = validation.start_chosen(rows, model, choice, by="choose_prompt")
        except (CannotRun, NoSuchStudy, prompts.InvalidPrompt) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"Accuracy on {choice.n_pairs} pairs in both orders, which are judged no more:")
        for name, accuracy in choice.accuracy.items():
            self.stdout.write(f"  {name}: {accuracy:.3f}{' (chosen)' if name == str(choice.prompt) else ''}")
        if wait:
            run = runs.drain(run)
        self.stdout.write(f"{run}: {run.n_planned} calls about the other {len(split.judged)} pairs, {run.state}.")
