"""Choose among prompts for pairs by a model's agreement with people on a validation split, and judge the rest."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from judges import catalogue, prompts, runs
from judges.laboratory import prompt_choices
from judges.models import Judge, Prompt, PromptChoice, Run
from judges.planning import CannotRun
from studies.lookup import NoSuchStudy, find_study
from studies.models import Study

BY = "choose_prompt"


class Command(BaseCommand):
    help = (
        "Try LitBench’s six templates with a judge’s model on pairs that are set apart, name the one that agrees best "
        "with people, and start a run with it about the other pairs. The calls of the trial are made here. A page of "
        "the study does the same by workers."
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
        model = Judge.objects.judging().filter(slug=judge, metric="").select_related("endpoint").first()
        if model is None:
            raise CommandError(f"There is no judge “{judge}” that is a model.")
        try:
            candidates = [row for row in catalogue.load_prompts() if row.name.startswith(prompt_choices.PRESELECTED)]
            choice = _try(find_study(study), model, candidates, share=share, seed=seed)
            run = choice.run or prompt_choices.start_chosen(choice, by=BY)
        except (CannotRun, NoSuchStudy, prompts.InvalidPrompt) as error:
            raise CommandError(str(error)) from None
        self._tell(choice)
        if wait:
            run = runs.drain(run)
            prompt_choices.compare(choice, at=timezone.now())
            self._tell_held_out(choice)
        self.stdout.write(f"{run}: {run.n_planned} calls about the other {len(choice.judged)} pairs, {run.state}.")

    def _tell(self, choice: PromptChoice) -> None:
        self.stdout.write(f"Accuracy on {len(choice.validation)} pairs in both orders, which are judged no more:")
        for name, accuracy in choice.document["accuracy"].items():
            self.stdout.write(f"  {name}: {accuracy:.3f}{' (chosen)' if name == str(choice.prompt) else ''}")

    def _tell_held_out(self, choice: PromptChoice) -> None:
        if accuracy := prompt_choices.load_accuracy(choice.held_out):
            self.stdout.write(f"Of the {accuracy.n_pairs} other pairs that people judged: {accuracy.accuracy:.3f}.")


def _try(study: Study, model: Judge, candidates: list[Prompt], *, share: float, seed: int) -> PromptChoice:
    """The choice among the candidates, decided: one that was begun before goes on. Raises CannotRun."""
    choice = prompt_choices.find_same(study, model, candidates, share=share, seed=seed)
    if choice is None:
        choice = prompt_choices.plan(study, model, candidates, share=share, seed=seed, by=BY)
    if choice.approved_at is None:
        prompt_choices.approve(choice, by=BY)
    for trial in choice.trials.select_related("run__judge__endpoint", "run__study"):
        if trial.run.state != Run.State.FINISHED:
            runs.drain(trial.run)
    return prompt_choices.decide(choice, at=timezone.now())
