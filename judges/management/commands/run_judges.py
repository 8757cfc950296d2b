"""Start a judge in a study, a model or a metric, go on where it stopped, pause it, or see to replies without an answer.

Exit codes: 0 every call has an answer, or the workers have been told; 1 refused, nothing was sent; 2 stopped or
waiting for a person; 3 finished, and some calls have no answer. As with every command, 2 stands for arguments that it
does not know, too.
"""

import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections import Counter, defaultdict
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from tqdm import tqdm

from annotation.models import Rater
from judges import catalogue, interventions, lifecycle, metrics, prompts, runs
from judges.models import Call, Judge, PersonaSet, Reading, Run
from judges.planning import MOST_EXAMPLES, CannotRun, Scope, extensions, metric_plans
from judges.planning.estimates import RunEstimate
from judges.settlement import rereads
from studies.lookup import NoSuchStudy, find_study
from studies.models import Study

REFUSED, HALTED, UNANSWERED = 1, 2, 3
LONGEST_REASON = 200  # letters; a provider may say much
BY = "run_judges"


class Command(BaseCommand):
    help = (
        "Start a judge in a study, or go on where it stopped. A model’s calls are left to the Celery workers, or made "
        "here with --wait. The judge “stub” needs no key: its answers are drawn by chance. A metric is computed here. "
        "A judge that has read in the study is asked only what it has not been asked. Exit codes: 0 all is answered or "
        "the workers have been told, 1 refused, 2 stopped or waiting for a person, 3 some calls have no answer."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="slug of the study")
        either = parser.add_mutually_exclusive_group(required=True)
        either.add_argument("--judge", metavar="J", help="slug of the judge; or “stub”")
        either.add_argument("--metric", metavar="M", help="a metric, such as “length”; docs/judges.md lists them")
        parser.add_argument("--stories", nargs="+", metavar="CODE", default=[], help="stories or groups; else all")
        parser.add_argument(
            "--orders", nargs="+", choices=Reading.Order.values, default=["planned"], help="of the stories in a group"
        )
        parser.add_argument(
            "--repeats", type=_repeats, default=1, metavar="N", help="times each story is read, earlier runs included"
        )
        parser.add_argument(
            "--steps", nargs="+", metavar="KEY", default=[], help="of the protocol; else all it can ask"
        )
        parser.add_argument("--personas", metavar="SET", help="read every story once as each of a set, such as “pds”")
        parser.add_argument(
            "--examples", type=int, choices=range(1, MOST_EXAMPLES + 1), metavar="N", help="before each question"
        )
        parser.add_argument("--probes", action="store_true", help="ask of each story whether the model knows it")
        parser.add_argument("--anchors", action="store_true", help="ask about the three fixed texts, too")
        parser.add_argument("--afresh", action="store_true", help="ask again what the study has a reply to already")
        parser.add_argument(
            "--interventions",
            nargs="+",
            choices=list(interventions.all_interventions()),
            default=[],
            metavar="KIND",
            help="read every story once more with each of these changes: %(choices)s",
        )
        parser.add_argument("--budget", type=dollars, metavar="USD", help="spend no more than this")
        parser.add_argument("--dry-run", action="store_true", help="say what it would take, and start nothing")
        parser.add_argument("--yes", action="store_true", help="approve it without being asked")
        parser.add_argument("--wait", action="store_true", help="make the calls in this process and show progress")
        instead = parser.add_mutually_exclusive_group()
        instead.add_argument("--pause", dest="action", action="store_const", const="pause", help="pause its run")
        instead.add_argument(
            "--retry",
            dest="action",
            action="store_const",
            const="retry",
            help="ask calls of its latest run that have no usable answer once more",
        )
        instead.add_argument(
            "--read-again",
            dest="action",
            action="store_const",
            const="read_again",
            help="read the replies of its latest run again, without a call",
        )

    def handle(self, *args: Any, study: str, judge: str | None, metric: str | None, **options: Any) -> None:
        try:
            of_study = find_study(study)
            of_judge = catalogue.make_metric_judge(metric) if metric else _judge(judge or "")
            run = (
                self._act(of_study, of_judge, options)
                if options["action"]
                else self._find_run(of_study, of_judge, options)
            )
        except (CannotRun, NoSuchStudy, metrics.UnknownMetric, prompts.InvalidPrompt) as error:
            raise CommandError(str(error), returncode=REFUSED) from None
        if run is not None:
            self._follow(run, wait=options["wait"])

    def _find_run(self, study: Study, judge: Judge, options: dict[str, Any]) -> Run | None:
        """The run at work, or the last one if nothing is left to ask; None after a dry run. Raises CannotRun."""
        scope = _scope(study, options)
        unfinished = Run.objects.filter(study=study, judge=judge).exclude(state=Run.State.FINISHED).first()
        if unfinished:
            return self._go_on(unfinished, scope, options)
        try:
            plan, estimate = runs.preview(study, judge, scope)
        except extensions.NothingToAsk:
            return Run.objects.filter(study=study, judge=judge).first()
        name = f"{judge} in {study}"
        if options["dry_run"]:
            self.stdout.write(f"{name}: {describe(estimate) or f'{plan.n_calls} stories would be measured'}")
            self._say_withheld(plan.withheld)
            return None
        self._approve(name, judge, estimate, is_approved=options["yes"])
        return runs.start(study, judge, by=BY, scope=scope, budget=options["budget"])

    def _act(self, study: Study, judge: Judge, options: dict[str, Any]) -> Run | None:
        """Do to the run at work, or to the last, what was asked for: the run if it is to go on. Raises CannotRun."""
        every = Run.objects.filter(study=study, judge=judge)
        run = every.exclude(state=Run.State.FINISHED).first() or every.first()
        if run is None:
            raise CannotRun(f"{judge} has no run in {study}")
        if _scope(study, options) != Scope() or options["dry_run"]:
            raise CannotRun(f"{run} is there already; leave out options that say what is asked, and --dry-run")
        if options["budget"] is not None:
            runs.set_budget(run, options["budget"])
        if options["action"] == "retry":
            self.stdout.write(f"{run}: {runs.retry(run)} of {run.n_planned} calls asked once more.")
            return run
        if options["action"] == "read_again":
            reread = rereads.read_again(run, at=timezone.now())
            self.stdout.write(f"{run}: {reread.n_read} replies read again, {reread.n_changed} of them otherwise.")
        elif runs.pause(run, lifecycle.PAUSED_BY, name=BY).state == Run.State.PAUSED:
            self.stdout.write(
                f"{run}: paused. Replies on their way are still recorded. The same command without --pause goes on."
            )
        else:
            raise CannotRun(f"{run} is {run.state}, so that it cannot be paused")
        return None

    def _go_on(self, run: Run, scope: Scope, options: dict[str, Any]) -> Run | None:
        """The unfinished run at work again. Raises CannotRun if another scope than its own is asked for."""
        if scope != Scope():
            raise CannotRun(f"{run} is unfinished; without options that say what is asked this command goes on with it")
        if options["dry_run"]:
            self.stdout.write(f"{run}: {run.state}. {progress(run, runs.count_calls(run))}")
            return None
        is_planned = run.state == Run.State.PLANNED
        if is_planned:
            self._approve(str(run), run.judge, RunEstimate.load(run.estimate), is_approved=options["yes"])
        if options["budget"] is not None:
            runs.set_budget(run, options["budget"])
        return runs.approve(run, by=BY) if is_planned else runs.resume(run)

    def _approve(self, name: str, judge: Judge, estimate: RunEstimate | None, *, is_approved: bool) -> None:
        """Have a person approve what costs something. Raises CommandError if nobody does."""
        if is_approved or estimate is None or judge.is_stub:
            return
        self.stdout.write(f"{name}: {describe(estimate)}")
        if not sys.stdin.isatty():
            raise CommandError("Nothing was started: approve it with --yes.", returncode=REFUSED)
        if input("Approve and start? [y/N] ").strip().lower() not in ("y", "yes"):
            raise CommandError("Nothing was started.", returncode=REFUSED)

    def _follow(self, run: Run, *, wait: bool) -> None:
        """Say how the run stands, after its calls were made here if that was asked for. Raises CommandError."""
        self._say_withheld(run.withheld)
        is_finished = run.state == Run.State.FINISHED
        if not is_finished and not wait and run.judge.kind == Rater.Kind.MODEL:
            self.stdout.write(f"{run}: {run.n_planned} calls planned; the workers have been told.")
            return
        if not is_finished:
            run = self._drain(run)
        counts = runs.count_calls(run)
        if run.state != Run.State.FINISHED:
            sentences = filter(None, (f"{run}: {run.state}.", run.note, "The same command goes on from here."))
            raise CommandError(" ".join(sentences), returncode=HALTED)
        already = " already" if is_finished else ""
        self.stdout.write(self.style.SUCCESS(f"{run}: finished{already}. {progress(run, counts)}"))
        if n_unanswered := sum(n for state, n in counts.items() if state != Call.State.OK):
            n_retryable = runs.find_retryable(run).count() if run.judge.endpoint_id else 0
            way_out = f"; --retry asks {n_retryable} of them once more." if n_retryable else "."
            message = f"Without an answer: {n_unanswered}. {describe_unanswered(run)} The run’s page shows each call"
            raise CommandError(message + way_out, returncode=UNANSWERED)

    def _drain(self, run: Run) -> Run:
        """The run worked off, with a bar if somebody looks on."""
        with tqdm(total=run.calls.count(), unit=" calls", disable=None, dynamic_ncols=True) as bar:

            def tell(counts: dict[str, int]) -> None:
                bar.n = sum(n for state, n in counts.items() if state not in Call.PENDING)
                bar.set_postfix({state: n for state, n in counts.items() if state not in Call.PENDING}, refresh=False)
                bar.refresh()

            try:
                return runs.drain(run, tell=tell)
            except KeyboardInterrupt:
                sentence = f"{run}: interrupted. Workers go on with it, if there are any; so does the same command."
                raise CommandError(sentence, returncode=HALTED) from None

    def _say_withheld(self, codes: list[str]) -> None:
        if withheld := metric_plans.describe_withheld(codes):
            self.stdout.write(withheld)


def describe(estimate: RunEstimate | None) -> str:
    """ "504 calls to be sent, about 1,152,000 tokens in and 96,000 out, about $ 4.10, at most $ 32.40, about 2 min"."""
    if estimate is None:
        return ""
    cost = "cost unknown, since the model has no price"
    if estimate.cost is not None:
        cost = f"about $ {estimate.cost:,.2f}, at most $ {estimate.worst_cost:,.2f}"
    tokens = f"about {estimate.n_tokens_in:,} tokens in and {estimate.n_tokens_out:,} out"
    earlier = f"; {estimate.n_reused:,} more take earlier replies" if estimate.n_reused else ""
    return f"{estimate.n_calls:,} calls to be sent, {tokens}, {cost}, about {estimate.minutes} min{earlier}"


def progress(run: Run, counts: dict[str, int]) -> str:
    """ "12 of 56 calls done: 10 ok, 2 refused"; of a metric "4 of 4 stories measured: 4 ok"."""
    n_by_end = {state.replace("_", " "): n for state, n in counts.items() if state not in Call.PENDING}
    noun = "stories measured" if run.judge.kind == Rater.Kind.METRIC else "calls done"
    ends = ", ".join(f"{n} {state}" for state, n in n_by_end.items())
    return f"{sum(n_by_end.values())} of {run.n_planned} {noun}" + (f": {ends}" if ends else "")


def describe_unanswered(run: Run) -> str:
    """ "Refused: 2, most often: I cannot judge this." for each end without an answer, the commonest first."""
    calls = run.calls.exclude(state=Call.State.OK)
    n_by_reason: dict[str, Counter[str]] = defaultdict(Counter)
    for state, reason in calls.order_by("pk").values_list("state", "reason"):
        n_by_reason[state][reason] += 1
    ends = []
    for state, reasons in sorted(n_by_reason.items(), key=lambda end: -end[1].total()):
        reason = reasons.most_common(1)[0][0][:LONGEST_REASON].rstrip(".")
        ends.append(f"{state.replace('_', ' ')}: {reasons.total()}" + (f", most often: {reason}." if reason else "."))
    return " ".join(ends)


def _scope(study: Study, options: dict[str, Any]) -> Scope:
    """What the options say is asked. Raises CannotRun for a set of personas that is not there."""
    personas = None
    if options["personas"]:
        personas = PersonaSet.objects.filter(name=options["personas"]).order_by("pk").last()
        if personas is None:
            raise CannotRun(f"There is no set of personas “{options['personas']}”; load_prompts loads Quire’s own.")
    return Scope(
        selection=extensions.find_codes(study, options["stories"]),
        orders=tuple(options["orders"]),
        n_repeats=options["repeats"],
        steps=tuple(options["steps"]),
        persona_set=personas,
        n_examples=options["examples"] or Scope.n_examples,
        probes=options["probes"],
        anchors=options["anchors"],
        afresh=options["afresh"],
        interventions=tuple(options["interventions"]),
    )


def dollars(text: str) -> Decimal:
    """The sum that was typed. Raises ArgumentTypeError."""
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("nan")
    if not amount.is_finite() or not 0 <= amount < 10**8:
        raise ArgumentTypeError(f"“{text}” is no sum of dollars, such as 12.50")
    return amount.quantize(Decimal("0.0001"))


def _repeats(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= extensions.MOST_REPEATS:
        raise ArgumentTypeError(f"“{text}” is no number from 1 to {extensions.MOST_REPEATS}")
    return int(text)


def _judge(slug: str) -> Judge:
    judge = (
        Judge.objects.select_related("endpoint", "prompt").filter(slug=slug, is_writer=False, is_measurer=False).first()
    )
    if judge is not None:
        return judge
    if slug == catalogue.STUB:
        return catalogue.make_stub_judge()
    slugs = ", ".join(Judge.objects.judging().order_by("slug").values_list("slug", flat=True)) or "none yet"
    raise CommandError(
        f"There is no judge “{slug}”; there are: {slugs}. Make one on a study’s page of judges.", returncode=REFUSED
    )
