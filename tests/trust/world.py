"""A site with something to leak in every place where there is anything, and everybody who might see it.

Every secret is a word that stands nowhere else. Whoever may not see its kind must never meet it.
"""

import copy
import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from django.apps import AppConfig, apps
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django_celery_beat.models import ClockedSchedule, CrontabSchedule, IntervalSchedule, PeriodicTask, SolarSchedule

import studies
from annotation import design, responses
from annotation.design import launches
from annotation.models import Assignment, Identity, Invitation, Rater, Withdrawal
from annotation.participation import claims, consents, invitations, visits
from annotation.responses import submission
from config import roles
from judges import catalogue, runs
from judges.models import DriftWatch, Price, Run
from reports.api.tokens import issue_token
from reports.export import issues
from reports.rationales import codings, queries
from studies import lifecycle, loader, protocol
from studies.models import Instrument, ProtocolVersion, Provenance, Source, Step, Story, StoryGroup, Study
from tests import factories
from tests.trust import judge_rows, newcomers
from tests.trust.canaries import secret

MYSTERY = Path(studies.__file__).parent / "demo" / "mystery"
FIRST_PK = 770_000_001  # primary keys that are no other number of a page

# kind → who may see it. Raters and strangers may see none.
MAY_SEE: dict[str, set[str]] = {
    "source": {"designer", "researcher"},
    "title": {"designer", "researcher"},
    "url": {"designer", "researcher"},
    "licence": {"designer", "researcher"},
    "factor": {"designer", "researcher"},
    "raw": {"designer", "researcher"},
    "identity": {"steward"},
    "payment": {"steward"},
    "answer": {"coordinator", "researcher"},
    "story": {"designer", "coordinator", "researcher"},
    "group": {"designer", "coordinator", "researcher"},
    "premise": {"designer", "coordinator", "researcher"},
    "description": {"designer", "coordinator", "researcher"},
    "label": {"designer", "coordinator", "researcher", "steward"},
    "key": {"designer", "coordinator", "researcher"},
}


def secrets(*, hidden_from: str) -> dict[str, bytes]:
    """What this visitor must not meet: the beginning of every secret of a kind, by kind."""
    words = {kind: secret(kind) for kind in MAY_SEE} | {"key": str(FIRST_PK)[:7]}
    return {kind: words[kind].encode() for kind, who in MAY_SEE.items() if hidden_from not in who}


@dataclass
class World:
    """studies : by slug; visitors : signed-in clients by name; at_work : the raters' assignments by visitor;
    packages : their sums, by slug of the study; reasons : ids of answers that count and give one"""

    studies: dict[str, Study] = field(default_factory=dict)
    visitors: dict[str, Client] = field(default_factory=dict)
    at_work: dict[str, Assignment] = field(default_factory=dict)
    tokens: list[str] = field(default_factory=list)
    packages: dict[str, str] = field(default_factory=dict)
    reasons: list[int] = field(default_factory=list)
    run: Run | None = None


def build() -> World:
    """Three studies (live, closed, a draft) and a cloze, raters at every stage, and one of the staff for every role."""
    world = World()
    for slug in ("plums", "pears", "quinces"):
        world.studies[slug] = _study(slug, first_pk=FIRST_PK + 20 * len(world.studies), n_stories=3)
    world.studies["mystery"] = _cloze()
    for slug in ("plums", "pears", "mystery"):
        design.plan(world.studies[slug])
        launches.launch(world.studies[slug], by="tests", at=timezone.now())
        _stranger(world.studies[slug])
    _raters(world)
    lifecycle.close(world.studies["pears"], at=timezone.now())
    for role in ("", *roles.ROLES):
        world.visitors[role or "helper"] = _signed_in(factories.staff(role))
    world.visitors["root"] = _signed_in(User.objects.create_superuser("root"))
    world.run = runs.start(world.studies["plums"], catalogue.make_stub_judge(), by="tests")
    Price.objects.create(
        adapter="openai", model="gpt", usd_per_million_in=1, usd_per_million_out=4, valid_from=date(2026, 1, 1)
    )
    for slug in ("plums", "pears"):
        runs.drain(runs.start(world.studies[slug], catalogue.make_metric_judge("length"), by="tests"))
    judge_rows.add_prompt_choice(world.run)
    judge_rows.add_alignment(world.run)
    judge_rows.add_generation(world.run)
    DriftWatch.objects.create(study=world.run.study, judge=world.run.judge, created_by="tests")
    _schedule()
    _reasons(world)
    _packages(world)
    return world


def copied(world: World) -> World:
    """The same rows with browsers of their own: what a test does to these, the next does not find."""
    made = copy.copy(world)
    made.tokens = [*world.tokens]
    made.studies = copy.deepcopy(world.studies)
    made.at_work = copy.deepcopy(world.at_work)
    made.visitors = {}
    for name, visitor in world.visitors.items():
        made.visitors[name] = Client(raise_request_exception=False)
        made.visitors[name].cookies = copy.deepcopy(visitor.cookies)
    return made


def digests(*only: AppConfig) -> dict[str, tuple[int, str]]:
    """Of every table, or of those of these apps, how many rows it has and a hash over all that they say; but for
    sessions, which every visit touches."""
    found = {}
    for model in [
        model for app in only or apps.get_app_configs() for model in app.get_models(include_auto_created=True)
    ]:
        if model is not Session:
            rows = sorted(map(repr, model._base_manager.values_list()))
            found[model._meta.label] = (len(rows), hashlib.sha256("\n".join(rows).encode()).hexdigest())
    return found


@contextmanager
def watched() -> Iterator[list[str]]:
    """The statements sent within that could change a row of any table but the sessions'."""
    statements: list[str] = []

    def watch(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if not sql.startswith(("SELECT", "SAVEPOINT", "RELEASE", "ROLLBACK")) and "django_session" not in sql:
            statements.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(watch):
        yield statements


# ── what is asked, about which texts ───────────────────────────────────────────────────────────────────────────────


def _study(slug: str, *, first_pk: int, n_stories: int) -> Study:
    """Two groups; consent, a text, a question about the rater, tests, a ranking that locks, a guess, and a farewell."""
    study = Study.objects.create(
        slug=slug,
        title="Fourteen tests of a story",
        description=secret("description"),
        seats_per_group=8,
        seed=7,
        organiser="Us",
        contact="us@example.org",
    )
    for g in (1, 2):
        codes = [secret("story", f"{g}{n}") for n in range(1, n_stories + 1)]
        made = [_story(study, code, pk=first_pk + 5 * g + n) for n, code in enumerate(codes)]
        group = StoryGroup.objects.create(
            pk=first_pk + g, study=study, code=secret("group", g), premise=secret("premise", g)
        )
        group.stories.set(made)
    _steps(study)
    study.analysis_plan = {"outcome": "verdicts", "reference": secret("source", first_pk % 10 + 6)}
    study.save()
    return study


def _story(study: Study, code: str, *, pk: int) -> Story:
    story = Story(pk=pk, study=study, code=code, text="It began by the sea.\n\nIt went on.\n\nIt ended.")
    story.save(force_insert=True)
    _provenance(story)
    return story


def _provenance(story: Story) -> None:
    n = story.pk % 10
    source, _ = Source.objects.get_or_create(name=secret("source", n), defaults={"kind": Source.Kind.values[n % 4]})
    Provenance.objects.update_or_create(
        story=story,
        defaults={
            "source": source,
            "title": secret("title", n),
            "url": f"https://example.org/{secret('url', n)}",
            "licence": secret("licence", n),
            "factors": {secret("factor", "name"): secret("factor", n)},
            "raw_text": secret("raw", n),
            "raw_sha256": secret("raw", "hash"),
            "may_send_out": True,
        },
    )


def _steps(study: Study) -> None:
    slug, version = study.slug, ProtocolVersion.objects.create(study=study, number=1)
    none = {"rationale": "none", "rationale_least": 0}
    asked: list[tuple[str, str, Instrument]] = [
        ("background", "once", factories.instrument(f"{slug}-background", n_items=1, type="text", **none)),
        ("tests", "story", factories.instrument(f"{slug}-tests")),
        ("ranking", "group", factories.instrument(f"{slug}-ranking", n_items=1, type="ranking", **none)),
        (
            "guess",
            "stories",
            factories.instrument(f"{slug}-guess", n_items=1, type="choice", options=factories.AUTHORS, **none),
        ),
    ]
    steps: list[dict[str, Any]] = [
        {"key": "consent", "kind": "consent", "title": "Consent", "text": "You can stop at any time."},
        {"key": "welcome", "kind": "briefing", "title": "Welcome", "text": "Read slowly."},
        *({"key": k, "kind": "rating", "title": k.title(), "scope": s, "instrument": i} for k, s, i in asked),
        {"key": "farewell", "kind": "briefing", "title": "Thank you", "text": "That was all."},
    ]
    for position, step in enumerate(steps, start=1):
        Step.objects.create(version=version, position=position, locks=step["key"] == "ranking", **step)


def _cloze() -> Study:
    """The demonstration's cloze, with secrets in the places where its one text has any."""
    study = loader.load_study(MYSTERY)
    Study.objects.filter(pk=study.pk).update(description=secret("description"))
    study.groups.update(code=secret("group", 9), premise=secret("premise", 9))
    for story in study.stories.all():
        Story.objects.filter(pk=story.pk).update(code=secret("story", 9))
        _provenance(story)
    study.refresh_from_db()
    return study


def _schedule() -> None:
    """One row of every kind that the scheduler has."""
    every = IntervalSchedule.objects.create(every=1, period="days")
    CrontabSchedule.objects.create()
    ClockedSchedule.objects.create(clocked_time=timezone.now())
    SolarSchedule.objects.create(event="sunrise", latitude=0, longitude=0)
    PeriodicTask.objects.create(name="nightly", task="reports.tasks.nightly", interval=every)


def _packages(world: World) -> None:
    """Of the closed study a package with sources, of the live one a blind one; and a token."""
    for slug, fields in {"pears": {"with_sources": True, "reason": "To compare them."}, "plums": {}}.items():
        package = issues.ask(world.studies[slug], by="tests", **fields)
        issues.make_and_keep(package)
        world.packages[slug] = package.sha256
    issue_token(User.objects.get(username="researcher"), name="notebook", at=timezone.now())


def _reasons(world: World) -> None:
    """In the closed study and the live one somebody's submitted reasons, and a sample of them that is coded by nobody
    yet; with another that two people have coded."""
    for slug in ("pears", "plums"):
        study = world.studies[slug]
        work = Assignment.objects.filter(study=study, rater__code="E90", group__isnull=False)
        work.update(status=Assignment.Status.SUBMITTED)
        world.reasons += queries.reasons(study).values_list("pk", flat=True)
        theme = codings.add_theme(study, name="Voice", definition=secret("answer", "theme"))
        codings.draw_sample(study, item="", kind="person", n=2, by="tests")
        coded = codings.draw_sample(study, item="", kind="person", n=1, by="tests")
        for role in ("coordinator", "researcher"):
            user = User.objects.get(username=role)
            codings.record_coding(coded, 1, user=user, themes=[theme.pk] if role == "researcher" else [])


# ── who is there ───────────────────────────────────────────────────────────────────────────────────────────────────


def _signed_in(user: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


def _stranger(study: Study) -> None:
    """Somebody whose answers nobody else among the raters may see, and whose name only the steward may."""
    identity = Identity.objects.create(
        name=secret("identity", "name"),
        email=f"{secret('identity', 'mail')}@example.org",
        platform=secret("identity", "site"),
        platform_id=secret("identity", "id"),
        payment=secret("payment"),
    )
    rater = factories.rater(study, "E90", identity=identity)
    mine = factories.assignment(study, rater)
    for step in protocol.load_protocol(mine.version).ratings:
        if step.scope == Step.Scope.STORY:
            factories.answer(mine, why=secret("answer", "reasons"))
        if step.layout == Step.Layout.CLOZE:
            factories.answer(mine, step=step.key, value=secret("answer", "fill"), why="")
            claims.give_up(mine, at=timezone.now(), stopped_at=1)


def _raters(world: World) -> None:
    """Raters at every stage of the way; each visitor is a browser in which one of them has come in."""
    world.visitors["anonymous"] = Client(raise_request_exception=False)
    live, closed, cloze = (world.studies[slug] for slug in ("plums", "pears", "mystery"))
    for name in ("arriving", "recognising", "reading", "comparing", "done"):
        _come_in(world, name, live)
    for name, study in [("withdrawn", live), ("late", closed), ("filling", cloze)]:
        _come_in(world, name, study)
    for name in ("recognising", "reading", "comparing", "done", "withdrawn", "late", "filling"):
        _begin(world, name)
    for name in ("reading", "comparing", "done", "withdrawn", "late"):
        page = reverse("annotation:recognition", args=[world.at_work[name].code])
        world.visitors[name].post(page, {"knows": "no"})
    factories.answer(world.at_work["reading"])
    for name in ("comparing", "done"):
        _read_all(world, name)
    factories.answer_all(world.at_work["done"])
    submission.submit(world.at_work["done"], at=timezone.now())
    Withdrawal.objects.create(rater=world.at_work["withdrawn"].rater)
    issued, unopened = invitations.issue(live, label=secret("label", "fresh"))
    revoked, gone = invitations.issue(live, label=secret("label", "revoked"))
    invitations.revoke(revoked, at=timezone.now())
    issued.groups.set(live.groups.all())
    wanted = Identity.objects.create(
        name=secret("identity", "invited"), email=f"{secret('identity', 'to')}@example.org"
    )
    Invitation.objects.filter(pk=issued.pk).update(identity=wanted)
    world.tokens += [gone, unopened]
    newcomers.arrive(live, secret)


def _come_in(world: World, name: str, study: Study) -> None:
    client = world.visitors[name] = Client(raise_request_exception=False)
    _, token = invitations.issue(study, label=secret("label", name), expires_at=timezone.now() + timedelta(days=9))
    client.post(reverse("annotation:invitation", args=[token]))
    assert "sessionid" in client.cookies, f"{name} was not let in"
    world.tokens.append(token)


def _rater(world: World, name: str) -> Rater:
    return Rater.objects.get(pk=world.visitors[name].session["rater"])


def _begin(world: World, name: str) -> None:
    """Agree, read what comes first, answer what is asked once, and take a group."""
    rater = _rater(world, name)
    for step in protocol.load_protocol(protocol.current(rater.study)).steps:
        if step.kind == Step.Kind.CONSENT:
            consents.record_consent(rater, step)
        elif step.key in ("briefing", "welcome", "background"):
            visits.record_step_taken(rater, step)
    if rater.study.slug != "mystery":
        factories.answer(visits.ensure_visit(rater), step="background", value="Ten years of it.", why="")
    world.at_work[name] = claims.claim(rater)


def _read_all(world: World, name: str) -> None:
    """Answer about every story, and open the part that locks these answers."""
    mine = world.at_work[name]
    for letter in responses.letters(mine.seat.order):
        for item in (1, 2):
            factories.answer(mine, letter=letter, item=item)
    opened = world.visitors[name].post(reverse("annotation:part", args=[mine.code, "ranking"]))
    assert opened.status_code == 302, f"the ranking did not open: {opened.status_code}"
