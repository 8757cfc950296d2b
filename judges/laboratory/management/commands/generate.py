"""Have a model write for a study in draft, or take in what one has written.

Exit codes: 0 done, or the workers have been told; 1 refused, nothing was sent or taken in; 2 stopped or waiting for a
person; 3 finished, and some texts are missing. As with every command, 2 stands for arguments that it does not know,
too.
"""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from judges import catalogue, runs
from judges.laboratory import generation, recipes
from judges.laboratory.generation import CannotAccept, GenerationOrder, GenerationPlan, Terms
from judges.laboratory.generation.acceptance import PLACEMENTS
from judges.laboratory.generation.plans import split_premises
from judges.management.commands.run_judges import HALTED, REFUSED, UNANSWERED, describe, dollars
from judges.models import Draft, Endpoint, GeneratedText, Generation, Run
from judges.planning import CannotRun
from studies.documents import reader
from studies.documents.errors import InvalidValue
from studies.lookup import NoSuchStudy, find_study
from studies.models import Instrument, Study

BY = "generate"


class Command(BaseCommand):
    help = (
        "Have a model write for a study in draft, by a recipe; with --accept, take in what a run has written. Calls "
        "are left to the Celery workers, or made here with --wait. The endpoint “stub” needs no key: its texts say "
        "that they are a stub’s. Exit codes: 0 done or the workers have been told, 1 refused, 2 stopped or waiting for "
        "a person, 3 some texts are missing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="slug of the study")
        either = parser.add_mutually_exclusive_group(required=True)
        either.add_argument("--recipe", metavar="R", help=f"one of: {', '.join(recipes.find_writing())}")
        either.add_argument("--accept", type=int, metavar="RUN", help="take in what this run has written")
        parser.add_argument("--endpoint", metavar="E", help="name of the endpoint; or “stub”")
        parser.add_argument("--model", metavar="M", default="", help="as the endpoint calls it")
        parser.add_argument("--groups", nargs="+", metavar="CODE", default=[], help="whose prompts are taken")
        parser.add_argument("--premises", type=Path, metavar="FILE", help="writing prompts, a blank line between two")
        parser.add_argument("--may-send-premises", action="store_true", help="they may go to an outside provider")
        parser.add_argument("--stories", nargs="+", metavar="CODE", default=[], help="stories to write from; else all")
        parser.add_argument("--instrument", metavar="SLUG@VERSION", help="draft whose questions are explained")
        parser.add_argument("--sizes", nargs="+", type=int, metavar="N", default=[], help="lengths in words")
        parser.add_argument("--temperatures", nargs="+", type=float, metavar="T", help="else the model’s own")
        parser.add_argument("--texts", type=int, default=1, metavar="N", help="of each prompt, length and temperature")
        parser.add_argument("--rounds", type=int, metavar="N", help="else as many as usual")
        parser.add_argument("--reference", metavar="CODE", default="", help="story that is shown as a measure")
        parser.add_argument("--budget", type=dollars, metavar="USD", help="spend no more than this")
        parser.add_argument("--dry-run", action="store_true", help="say what it would take, and start nothing")
        parser.add_argument("--yes", action="store_true", help="approve it without being asked")
        parser.add_argument("--wait", action="store_true", help="make the calls in this process")
        parser.add_argument("--cleaned", action="store_true", help="take texts in as cleaned; else as they came")
        parser.add_argument("--source", metavar="NAME", default="", help="what the model is called; else its name")
        parser.add_argument("--licence", metavar="L", default="", help="of the texts that are taken in")
        parser.add_argument("--may-send-out", action="store_true", help="they may go to outside models; say --reason")
        parser.add_argument("--reason", metavar="WHY", default="", help="why they may go there; kept with the texts")
        parser.add_argument("--may-redistribute", action="store_true", help="they may be in exports")
        parser.add_argument("--place", choices=PLACEMENTS, default="premise", help="into which groups they go")

    def handle(self, *args: Any, study: str, **options: Any) -> None:
        try:
            of_study = find_study(study)
            if options["accept"] is not None:
                self._accept(of_study, options)
                return
            planned = generation.plan(of_study, _order(options))
            if run := self._start(of_study, planned, options):
                self._follow(run, wait=options["wait"])
        except (CannotRun, CannotAccept, NoSuchStudy, recipes.UnknownRecipe) as error:
            raise CommandError(str(error), returncode=REFUSED) from None

    def _start(self, study: Study, planned: GenerationPlan, options: dict[str, Any]) -> Run | None:
        """The run, approved; None after a dry run. Raises CannotRun, or CommandError if nobody approves it."""
        role = generation.separation.find_role(planned.order.recipe)
        besides = (role, planned.judge.model)
        for row in generation.find_shared_families(study, besides=besides):
            self.stderr.write(self.style.WARNING(str(row)))
        self.stdout.write(f"{len(planned.drafts)} texts: {describe(planned.estimate)}; {planned.n_calls} calls at most")
        if options["dry_run"]:
            return None
        if not options["yes"] and not planned.order.endpoint.is_stub:
            if not sys.stdin.isatty():
                raise CommandError("Nothing was started: approve it with --yes.", returncode=REFUSED)
            if input("Approve and start? [y/N] ").strip().lower() not in ("y", "yes"):
                raise CommandError("Nothing was started.", returncode=REFUSED)
        return runs.approve(generation.write(study, planned, budget=options["budget"], by=BY), by=BY)

    def _follow(self, run: Run, *, wait: bool) -> None:
        """Say how the run stands, after its calls were made here if that was asked for. Raises CommandError."""
        if not wait:
            self.stdout.write(f"run {run.pk}: the workers have been told.")
            return
        run = runs.drain(run)
        if run.state != Run.State.FINISHED:
            raise CommandError(f"run {run.pk}: {run.state}. {run.note}", returncode=HALTED)
        drafts = list(Draft.objects.filter(generation=run.pk))
        n_written = sum(draft.state == Draft.State.COMPLETE for draft in drafts)
        n_replies, n_discards = sum(d.n_attempts for d in drafts), sum(d.n_discards for d in drafts)
        sentence = (
            f"run {run.pk}: {n_written} of {len(drafts)} texts written, {n_replies} replies, {n_discards} discarded."
        )
        self.stdout.write(self.style.SUCCESS(sentence))
        for draft in drafts:
            if draft.state != Draft.State.COMPLETE:
                self.stdout.write(f"text {draft.number}: {draft.note}")
        if n_written < len(drafts):
            raise CommandError(f"Not written: {len(drafts) - n_written}.", returncode=UNANSWERED)

    def _accept(self, study: Study, options: dict[str, Any]) -> None:
        """Take in all that the run has written and that is not in yet. Raises CannotAccept."""
        row = Generation.objects.filter(run=options["accept"], run__study=study).select_related("run__judge").first()
        if row is None:
            raise CannotAccept(f"{study} has no run {options['accept']} that writes texts")
        keys = GeneratedText.objects.filter(draft__generation=row, accepted_at=None).values_list("pk", flat=True)
        terms = Terms(
            source=options["source"],
            licence=options["licence"],
            may_send_out=options["may_send_out"],
            reason=options["reason"],
            may_redistribute=options["may_redistribute"],
            placement=options["place"],
        )
        stories = generation.accept(row, dict.fromkeys(keys, options["cleaned"]), terms, by=BY, at=timezone.now())
        self.stdout.write(self.style.SUCCESS(f"run {row.pk}: {len(stories)} stories are in {study} now."))


def _order(options: dict[str, Any]) -> GenerationOrder:
    """What the options ask for. Raises CannotRun, UnknownRecipe."""
    return GenerationOrder(
        recipes.find_recipe(options["recipe"]),
        _find_endpoint(options["endpoint"]),
        options["model"] or (catalogue.STUB if options["endpoint"] == catalogue.STUB else ""),
        groups=tuple(options["groups"]),
        premises=_read_premises(options["premises"]),
        may_send_premises=options["may_send_premises"],
        stories=tuple(options["stories"]),
        instrument=_find_instrument(options["instrument"]),
        sizes=tuple(options["sizes"]),
        temperatures=tuple(options["temperatures"] or (None,)),
        n_texts=options["texts"],
        n_rounds=options["rounds"],
        reference=options["reference"],
    )


def _find_endpoint(name: str | None) -> Endpoint:
    if name == catalogue.STUB:
        return catalogue.make_stub_judge().required_endpoint
    endpoint = Endpoint.objects.filter(name=name).first() if name else None
    if endpoint is None:
        names = ", ".join(Endpoint.objects.order_by("name").values_list("name", flat=True)) or "none yet"
        raise CannotRun(f"Name an endpoint with --endpoint; there are: {names}.")
    return endpoint


def _read_premises(path: Path | None) -> tuple[str, ...]:
    if path is None:
        return ()
    try:
        return split_premises(reader.read_text(path, largest=reader.LARGEST_TEXT))
    except InvalidValue as error:
        raise CannotRun(f"{path}: {error}") from None
    except OSError as error:
        raise CannotRun(f"{path}: cannot be read: {error.strerror}") from None


def _find_instrument(name: str | None) -> Instrument | None:
    if not name:
        return None
    slug, _at, version = name.partition("@")
    instrument = Instrument.objects.filter(slug=slug, version=version).first()
    if instrument is None:
        raise CannotRun(f"There is no instrument {name}; name one as SLUG@VERSION.")
    return instrument
