"""Start a judge in a study, or go on where it stopped."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from judges import catalogue, prompts, runs
from judges.models import Judge, Run
from judges.planning import CannotRun
from studies.models import Study
from studies.naming import NoSuchStudy, named


class Command(BaseCommand):
    help = (
        "Start a judge in a study, or go on where it stopped. The calls are left to the Celery workers, or made here "
        "with --wait. The judge “stub” needs no key: its answers are drawn by chance."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="slug of the study")
        parser.add_argument("--judge", metavar="J", required=True, help="slug of the judge, as in the admin; or “stub”")
        parser.add_argument("--wait", action="store_true", help="make the calls in this process and show progress")

    def handle(self, *args: Any, study: str, judge: str, wait: bool, **options: Any) -> None:
        try:
            run = self._run(named(study), _judge(judge))
        except (CannotRun, NoSuchStudy, prompts.InvalidPrompt) as error:
            raise CommandError(str(error)) from None
        if run.state == Run.State.FINISHED:
            self.stdout.write(f"{run}: finished already. {progress(run, runs.counts(run))}")
            return
        if not wait:
            self.stdout.write(f"{run}: {run.n_planned} calls planned; the workers have been told.")
            return
        run = runs.drain(run, tell=lambda counts: self.stdout.write(progress(run, counts)))
        if run.state != Run.State.FINISHED:
            raise CommandError(f"{run}: {run.state}. {run.note} The same command goes on from here.")
        self.stdout.write(self.style.SUCCESS(f"{run}: finished. {progress(run, runs.counts(run))}"))

    def _run(self, study: Study, judge: Judge) -> Run:
        if run := Run.objects.filter(study=study, judge=judge).first():
            return run if run.state == Run.State.FINISHED else runs.resume(run)
        return runs.start(study, judge, by="run_judges")


def progress(run: Run, counts: dict[str, int]) -> str:
    """ "12 of 56 calls done: 10 ok, 2 refused"."""
    done = {state: n for state, n in counts.items() if state not in ("planned", "leased")}
    said = ", ".join(f"{n} {state.replace('_', ' ')}" for state, n in done.items())
    return f"{sum(done.values())} of {run.n_planned} calls done" + (f": {said}" if said else "")


def _judge(slug: str) -> Judge:
    found = Judge.objects.select_related("endpoint", "prompt").filter(slug=slug).first()
    if found is not None:
        return found
    if slug == catalogue.STUB:
        return catalogue.stub_judge()
    known = ", ".join(Judge.objects.order_by("slug").values_list("slug", flat=True)) or "none yet"
    raise CommandError(f"There is no judge “{slug}”; there are: {known}. Make one in the admin.")
