"""`manage.py demo`: a study of every kind to look at, seeded once, with links and a password that stay."""

import base64
import socket
from argparse import ArgumentParser
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from textwrap import wrap
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import salted_hmac

import studies
from annotation import simulation
from annotation.design import launches
from annotation.models import Invitation, Rater
from annotation.participation import claims, invitations
from annotation.simulation import Tendency
from judges import catalogue, runs
from judges.endpoints.presets import LOCAL, all_presets
from judges.laboratory import reference_sets
from judges.models import Endpoint, Judge, Price, ReferenceSet, Run
from judges.runs import Scope
from reports import results
from studies import lifecycle, loader
from studies.models import Provenance, Study

FOLDER = Path(studies.__file__).parent / "demo"
CLOSED, FIRST, SCORED = "harbour", "orchard", "workshop"
# Of the first live study several experts can be tried, of the others one.
N_LINKS = {FIRST: 3}
REFERENCES = "workshop-references"
WIDTH = 96
SEED = 20261107
# What the small model of `make model` is asked where it answers: fourteen calls, which take it some minutes.
LOCAL_STORY, LOCAL_STEP, LOCAL_PROMPT = "h1a", "tests", "plain-structured"
LOCAL_PARAMETERS = {"temperature": 0, "seed": 1, "max_tokens": 100}

# What the simulated raters tend to make of each manner, so that the report has something to find.
TENDENCY_BY_SOURCE = {
    "Manner A": Tendency(1.5, {"expert": 6, "amateur": 2, "ai": 2}),
    "Manner B": Tendency(-0.9, {"expert": 1, "amateur": 6, "ai": 3}),
    "Manner C": Tendency(0.1, {"expert": 2, "amateur": 2, "ai": 6}),
    "Manner D": Tendency(-0.2, {"expert": 3, "amateur": 2, "ai": 5}),
}


class Command(BaseCommand):
    help = (
        "Seeds a study of every kind, two closed with simulated answers and the others live, and prints where to look. "
        "Safe to run again: the studies, the answers, the links and the password stay."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, help="the port that will serve it (8000); refused if it is in use")

    def handle(self, *, port: int | None, **options: Any) -> None:
        if not settings.IS_EMBEDDED:
            raise CommandError("the demo resets a password, so it does not run where ALLOWED_HOSTS names a public host")
        if port and is_in_use(port):
            raise CommandError(f"port {port} is in use; choose another: make demo PORT={port + 1}")
        now = timezone.now()
        closed, scored = seed_closed(CLOSED, at=now), seed_scored(at=now)
        live = [seed_live(slug, at=now) for slug in live_slugs()]
        ensure_stub_run(closed)
        asked = ensure_local_run(closed)
        results.ensure_report(closed, at=now, by="demo")
        tokens = [ensure_links(study) for study in live]
        site = f"http://127.0.0.1:{port or 8000}"
        self.stdout.write(addresses([closed, scored], live, tokens, site=site, password=ensure_password()))
        if asked is not None:
            address = f"{site}{reverse('judges:run', args=[closed.slug, asked.pk])}"
            self.stdout.write(f"The model of `make model` is asked about one story there: {address}\n")
        self.stdout.write("Ctrl-C ends the demo; `make demo` goes on where it was, `make clean` forgets it.\n")


def is_in_use(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return True
    return False


def lasting_secret(name: str) -> str:
    """A secret that is the same on every run, and another on every machine: it hangs on the machine's SECRET_KEY."""
    digest = salted_hmac("quire.demo", name, algorithm="sha256").digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def live_slugs() -> list[str]:
    """The demo's studies that are to be live: every folder but those of the closed ones, the first first."""
    slugs = {path.parent.name for path in FOLDER.glob("*/study.toml")} - {CLOSED, SCORED}
    return sorted(slugs, key=lambda slug: (slug != FIRST, slug))


def addresses(
    closed: Sequence[Study], live: Sequence[Study], tokens: Sequence[Sequence[str]], *, site: str, password: str
) -> str:
    """Where to look, with the password and the links: they are known from here only.

    tokens : those of the links of each live study
    """
    lines = ["", "To answer as an expert would. Each link is one expert's:"]
    for study, tokens_of_study in zip(live, tokens, strict=True):
        lines += ["", *summary(study, f"live, {seats_left(study)}")]
        lines += [f"    Expert  {site}{reverse('annotation:invitation', args=[token])}" for token in tokens_of_study]
    return "\n".join(
        [
            *lines,
            "",
            "To read what it amounts to:",
            *(line for study in closed for line in ["", *summary(study, "closed"), _report_address(study, site)]),
            "",
            "To design, to monitor, to read reports:",
            f"    Admin   {site}{reverse('admin:index')}   name: admin   password: {password}",
            "",
        ]
    )


def _report_address(study: Study, site: str) -> str:
    return f"    Report  {site}{reverse('reports:show', args=[study.slug])}"


def summary(study: Study, state: str) -> list[str]:
    """A study in a line or two: its title, how it stands, and the first sentence of its description."""
    shows = study.description.strip().partition(". ")[0].removesuffix(".")
    return [f"  {study.title} ({state})", *wrap(f"{shows}.", WIDTH, initial_indent="    ", subsequent_indent="    ")]


def seats_left(study: Study) -> str:
    n_free = study.seats.filter(rater_kind=Rater.Kind.PERSON, is_taken=False).count()
    return f"{n_free} of its places are free" if n_free else "all of its places are taken; `make clean` begins anew"


@transaction.atomic
def seed_closed(slug: str, *, at: datetime) -> Study:
    """A closed study: three weeks ago it was planned, since then simulated raters have filled its seats."""
    if study := Study.objects.filter(slug=slug).first():
        return study
    study = loader.load_study(FOLDER / slug)
    begins = at - timedelta(days=21)
    launches.launch(study, by="demo", at=begins + timedelta(days=1))
    raters = simulation.simulate(study, tendencies(study), seed=SEED, begins=begins + timedelta(days=2))
    ends = max(a.ended_at for r in raters for a in r.assignments.all() if a.ended_at)
    lifecycle.close(study, at=ends + timedelta(days=1))
    return study


def seed_scored(*, at: datetime) -> Study:
    """The closed study of ideas, with the ideas that those of it are held against stored as its reference set."""
    study = seed_closed(SCORED, at=at)
    name = (study.analysis_plan or {})["nsv_references"]
    if not ReferenceSet.objects.filter(study=study, name=name).exists():
        corpus = Study.objects.filter(slug=REFERENCES).first() or loader.load_study(FOLDER / SCORED / "references")
        reference_sets.store(study, name, corpus=corpus, by="demo", at=at)
    return study


def tendencies(study: Study) -> dict[str, Tendency]:
    """What each story tends to be given, by its code."""
    source_by_code = Provenance.objects.filter(story__study=study).values_list("story__code", "source__name")
    return {code: TENDENCY_BY_SOURCE[source] for code, source in source_by_code}


@transaction.atomic
def seed_live(slug: str, *, at: datetime) -> Study:
    """A live study, planned and launched, with every seat free at first."""
    if study := Study.objects.filter(slug=slug).first():
        return study
    study = loader.load_study(FOLDER / slug)
    return launches.launch(study, by="demo", at=at)


def ensure_stub_run(study: Study) -> Run:
    """The stub's run in that study, started if there is none and brought to its end; it needs neither a key nor the
    network."""
    stub = catalogue.make_stub_judge()
    catalogue.load_personas()
    run = Run.objects.filter(study=study, judge=stub).first() or runs.start(study, stub, by="demo")
    if run.state == Run.State.FINISHED:
        return run
    return runs.drain(runs.resume(run) if run.state == Run.State.STOPPED else run)


def ensure_local_run(study: Study) -> Run | None:
    """The run of the small model of `make model` on one story there, for the workers; None where it does not answer."""
    preset = all_presets()[LOCAL]
    address = urlsplit(preset.base_url)
    if address.netloc not in settings.ALLOWED_PRIVATE_ENDPOINTS or not is_in_use(int(address.port or 0)):
        return None
    endpoint, _ = Endpoint.objects.get_or_create(name=preset.slug, defaults=preset.fields | {"is_allowed": True})
    free = {"usd_per_million_in": 0, "usd_per_million_out": 0, "valid_from": timezone.now().date()}
    Price.objects.get_or_create(endpoint=endpoint, model=preset.model, defaults=free)
    prompt = next(row for row in catalogue.load_prompts() if row.name == LOCAL_PROMPT)
    fields = {"endpoint": endpoint, "model": preset.model, "prompt": prompt, "parameters": LOCAL_PARAMETERS}
    judge, _ = Judge.objects.get_or_create(slug=preset.model, defaults=fields)
    if run := Run.objects.filter(study=study, judge=judge).first():
        return run
    return runs.start(study, judge, by="demo", scope=Scope(selection=(LOCAL_STORY,), steps=(LOCAL_STEP,)))


def ensure_links(study: Study) -> list[str]:
    """Tokens of its invitations, the same on every run until their holder is done."""
    tokens = []
    for label in [f"Demo link {n + 1}" for n in range(N_LINKS.get(study.slug, 1))]:
        invitation = study.invitations.filter(label=label, revoked_at=None).order_by("-pk").first()
        if invitation is None or is_done(invitation):
            invitation, _ = invitations.issue(study, label=label)
        token = lasting_secret(f"{study.slug}/{invitation.pk}")
        invitations.set_token(invitation, token)
        tokens.append(token)
    return tokens


def is_done(invitation: Invitation) -> bool:
    """Whether its holder has nothing left to do, or has withdrawn: then the next visitor begins as somebody new."""
    rater = invitation.rater
    if rater is None:
        return False
    has_work = claims.find_open_assignment(rater) is not None or claims.n_groups_left(rater) > 0
    return hasattr(rater, "withdrawal") or not has_work


def ensure_password() -> str:
    """The password of the demo's administrator, who is made on the first run."""
    word = lasting_secret("password")[:12]
    admin, _ = get_user_model().objects.get_or_create(username="admin")
    admin.is_staff = admin.is_superuser = admin.is_active = True
    if not admin.check_password(word):  # setting it anew would end the sessions that it began
        admin.set_password(word)
    admin.save()
    return word
