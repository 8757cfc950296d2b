"""Start a judge in a study, a model or a metric, or go on where it stopped."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.models import Rater
from judges import catalogue, measurements, metrics, prompts, runs
from judges.models import Call, Judge, Run
from judges.planning import CannotRun
from studies.lookup import NoSuchStudy, find_study
from studies.models import Study


class Command(BaseCommand):
    help = (
        "Start a judge in a study, or go on where it stopped. A model’s calls are left to the Celery workers, or made "
        "here with --wait. The judge “stub” needs no key: its answers are drawn by chance. A metric is computed here."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="slug of the study")
        either = parser.add_mutually_exclusive_group(required=True)
        either.add_argument("--judge", metavar="J", help="slug of the judge, as in the admin; or “stub”")
        either.add_argument("--metric", metavar="M", help="a metric, such as “length”; docs/judges.md lists them")
        parser.add_argument("--wait", action="store_true", help="make the calls in this process and show progress")

    def handle(self, *args: Any, study: str, judge: str | None, metric: str | None, wait: bool, **options: Any) -> None:
        try:
            run = self._run(find_study(study), catalogue.make_metric_judge(metric) if metric else _judge(judge or ""))
        except (CannotRun, NoSuchStudy, metrics.UnknownMetric, prompts.InvalidPrompt) as error:
            raise CommandError(str(error)) from None
        if withheld := measurements.describe_withheld(run.withheld):
            self.stdout.write(withheld)
        if run.state == Run.State.FINISHED:
            self.stdout.write(f"{run}: finished already. {progress(run, runs.count_calls(run))}")
            return
        if not wait and run.judge.kind == Rater.Kind.MODEL:
            self.stdout.write(f"{run}: {run.n_planned} calls planned; the workers have been told.")
            return
        run = runs.drain(run, tell=lambda counts: self.stdout.write(progress(run, counts)))
        if run.state != Run.State.FINISHED:
            raise CommandError(f"{run}: {run.state}. {run.note} The same command goes on from here.")
        self.stdout.write(self.style.SUCCESS(f"{run}: finished. {progress(run, runs.count_calls(run))}"))

    def _run(self, study: Study, judge: Judge) -> Run:
        if run := Run.objects.filter(study=study, judge=judge).first():
            return run if run.state == Run.State.FINISHED else runs.resume(run)
        return runs.start(study, judge, by="run_judges")


def progress(run: Run, counts: dict[str, int]) -> str:
    """ "12 of 56 calls done: 10 ok, 2 refused"; of a metric "4 of 4 stories measured: 4 ok"."""
    n_by_end = {state.replace("_", " "): n for state, n in counts.items() if state not in Call.PENDING}
    noun = "stories measured" if run.judge.kind == Rater.Kind.METRIC else "calls done"
    ends = ", ".join(f"{n} {state}" for state, n in n_by_end.items())
    return f"{sum(n_by_end.values())} of {run.n_planned} {noun}" + (f": {ends}" if ends else "")


def _judge(slug: str) -> Judge:
    judge = Judge.objects.select_related("endpoint", "prompt").filter(slug=slug).first()
    if judge is not None:
        return judge
    if slug == catalogue.STUB:
        return catalogue.make_stub_judge()
    slugs = ", ".join(Judge.objects.order_by("slug").values_list("slug", flat=True)) or "none yet"
    raise CommandError(f"There is no judge “{slug}”; there are: {slugs}. Make one in the admin.")
