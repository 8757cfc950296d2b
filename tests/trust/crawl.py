"""The crawl: every address of the site, as everybody, in every manner; does any answer hold what it may not?

A request is made, its answer read whole (body, headers, cookies, mail, log), and everything it changed is taken back,
so that each is asked of the same site.
"""

import json
import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import chain, product
from typing import Any
from zipfile import ZipFile

import numpy as np
from django.apps import apps
from django.contrib.contenttypes.models import ContentType
from django.contrib.staticfiles import finders
from django.core import mail
from django.db import transaction
from django.db.models import Q, QuerySet
from django.test import Client

from annotation.models import AnswerImport, ApplicationCall, BroughtFile, Invitation, ProlificRecruitment, Rater
from judges.models import Alignment, Call, Endpoint, Judge, Prompt, PromptChoice
from judges.requests import texts
from reports import figures
from reports.models import Report, ThemeSample
from reports.page.sections import SECTIONS
from studies.models import Instrument, Item, Step, Story, StoryGroup, StoryImport, Study
from tests.trust import world as worlds
from tests.trust.addresses import Pattern, patterns
from tests.trust.world import World

RATERS = ("arriving", "recognising", "reading", "comparing", "done", "withdrawn", "late", "filling")
NOWHERE = "nowhere"

# How a request is made: the method and what it carries.
MANNERS: dict[str, dict[str, Any]] = {
    "get": {"method": "GET"},
    "htmx": {"method": "GET", "headers": {"HX-Request": "true", "HX-Target": "questions"}},
    "post": {"method": "POST"},
    "htmx post": {"method": "POST", "headers": {"HX-Request": "true"}},
    "head": {"method": "HEAD"},
    "delete": {"method": "DELETE"},
    "query": {"method": "GET", "query_string": "provenance__source__name__startswith=c&ordering=source&format=api&q=c"},
    "foreign form": {"method": "POST", "without_token": True},
    "foreign host": {"method": "GET", "headers": {"Host": "example.net"}},
}
INSIDE = ("get", "htmx", "post", "htmx post")
# Fields that some form of ours reads, so that forms get beyond their first complaint.
FORM = {
    "agrees": "yes",
    "knows": "no",
    "rationale": "It is so.",
    "base": "0",
    "go": "next",
    "back": "/",
    "theme": "dark",
    "section": "1",
    "action": "delete_selected",
    "kinds": "dashes",
    "n": "1",
    "label": "new",
    "texts": "all",
    "sources": "open",
}


@dataclass(frozen=True)
class Ask:
    """One request: whose, for which address, in which manner."""

    visitor: str
    pattern: Pattern
    address: str
    manner: str


@dataclass(frozen=True)
class Hit:
    """A secret that was met where it may not be."""

    ask: Ask
    status: int
    kind: str
    place: str


def run(n: int = 6000, *, seed: int = 1) -> dict[str, Any]:
    """Make n requests (none of a superuser) and say what came of it; the database is left as it was."""
    with transaction.atomic():
        result = crawl(worlds.build(), n, seed=seed)
        transaction.set_rollback(True)
    return result


def crawl(world: World, n: int, *, seed: int = 1, only: str = "") -> dict[str, Any]:
    """n requests: first each pattern (of those whose name begins with `only`), then by everybody, then at random."""
    hits: list[Hit] = []
    failed: list[Ask] = []
    by_status: Counter[int] = Counter()
    by_visitor: Counter[str] = Counter()
    seen: set[str] = set()
    visitors = [name for name in world.visitors if name != "root"]
    found = [each for each in patterns() if each.name.startswith(only)]
    for ask in asks(world, found, visitors, n, np.random.default_rng(seed)):
        status, met = made(world, ask)
        hits += met
        failed += [ask] if status >= 500 else []
        by_status[status] += 1
        by_visitor[ask.visitor] += 1
        seen.add(ask.pattern.name)
    without = [who for who in visitors if who not in worlds.MAY_SEE["source"]]
    return {
        "responses": sum(by_status.values()),
        "to visitors without a right to provenance": sum(by_visitor[who] for who in without),
        "pages": by_status[200],
        "patterns": len(seen),
        "patterns left out": sorted({each.name for each in found} - seen),
        "by status": dict(sorted(by_status.items())),
        "prompts": world.run.calls.count() if world.run else 0,
        "failed": [str(ask) for ask in failed],
        "hits": [str(hit) for hit in [*hits, *in_prompts(world)]] + in_static_names(),
    }


# ── what is asked ──────────────────────────────────────────────────────────────────────────────────────────────────


def asks(world: World, every: list[Pattern], visitors: list[str], n: int, rng: np.random.Generator) -> Iterator[Ask]:
    """Each pattern by somebody whom it is for; the raters' own in every manner; each by everybody; then at random."""
    visitors_by_name = {each.name: [who for who in visitors if is_for(each, who)] for each in every}
    somebody = [(each, str(rng.choice(visitors_by_name[each.name])), "get") for each in every]
    inside = list(product([each for each in every if is_for_raters(each)], RATERS, INSIDE))
    at_home = [(each, who, "get") for each in every for who in visitors_by_name[each.name]]
    everybody = list(product(every, visitors, ["get"]))
    planned = list(
        dict.fromkeys([*somebody, *(each for some in (inside, at_home, everybody) for each in mixed(some, rng))])
    )
    for pattern, who, manner in planned[:n]:
        yield Ask(who, pattern, pattern.address(values(world, pattern, who)[0]), manner)
    for _ in range(n - len(planned)):
        pattern, who, _get = at_home[int(rng.integers(len(at_home)))]
        choices = values(world, pattern, who)
        address = pattern.address(choices[int(rng.integers(len(choices)))])
        yield Ask(who, pattern, address, str(rng.choice(list(MANNERS))))


def mixed(some: list[Any], rng: np.random.Generator) -> list[Any]:
    return [some[i] for i in rng.permutation(len(some))]


def is_for_raters(pattern: Pattern) -> bool:
    return pattern.name.startswith("annotation:")


def is_for(pattern: Pattern, who: str) -> bool:
    """Whether the visitor is of those for whom the page is made: raters, or the staff."""
    return (who in (*RATERS, "anonymous")) == is_for_raters(pattern)


def values(world: World, pattern: Pattern, who: str) -> list[dict[str, Any]]:
    """What the parameters of a pattern can be, the visitor's own first. A parameter of a new name needs a line here."""
    pools = [[(name, value) for value in pool(world, pattern, name, who)] for name in pattern.parameters]
    return [dict(each) for each in product(*pools)]


def pool(world: World, pattern: Pattern, name: str, who: str) -> list[Any]:
    """The values of one parameter."""
    if name in ("object_id", "pk", "id"):
        return [*rows(pattern), 0]
    if name == "code":
        mine = [world.at_work[who].code] if who in world.at_work else []
        return [*mine, *(a.code for a in world.at_work.values() if a.code not in mine), NOWHERE]
    study = world.at_work[who].study if who in world.at_work else world.studies["plums"]
    steps = Step.objects.filter(version__study=study)
    is_metric = Q(kind=Step.Kind.METRIC)
    asked, measured = (
        Item.objects.filter(instrument__step__in=some).values_list("key", flat=True).distinct()
        for some in (steps.exclude(is_metric), steps.filter(is_metric))
    )
    is_of_judges = pattern.name.startswith("judges:")
    is_of_plots = "plot" in pattern.parameters
    is_of_people = pattern.name.startswith("designer:") and bool(
        {"code", "person", "rater", "number"} & {*pattern.parameters}
    )
    recruiting = ProlificRecruitment if pattern.name == "annotation:prolific" else ApplicationCall
    live, closed = world.studies["plums"], world.studies["pears"]
    # Lazy, all of them: only the one that is asked for queries the database.
    found: dict[str, Iterable[Any]] = {
        "sha256": [*world.packages.values(), NOWHERE],
        "key": chain(recruiting.objects.values_list("key", flat=True), [NOWHERE]),
        "rater": ["E90", NOWHERE],
        "rater_id": keys(Rater.objects.filter(study=closed, kind=Rater.Kind.PERSON), 3),
        "reason": ["declined", "no_place", "screened", "timed_out"],
        "token": [*reversed(world.tokens), NOWHERE],
        # The closed one first: it has results by source; of judges' pages the one with the run, of plots the one that
        # has answers to draw.
        "slug": [*([] if is_of_judges or is_of_plots or is_of_people else ["pears"]), *world.studies, NOWHERE],
        "letter": ["A", "B", "C", "Z"],
        "step": chain(steps.filter(scope__in=STEP_OF.get(pattern.name, ())), steps, [NOWHERE]),
        "item": chain(asked[:3], measured[:1], [NOWHERE]),
        # First one that is written for LaTeX, too.
        "table": chain(["agreement"], figures.by_table(), [NOWHERE]),
        "ending": ["csv", "xlsx"],
        "tool": ["label-studio", "potato", NOWHERE],
        "plot": ["pass-rates", "comparisons", "comparisons-2", "tests-passed", NOWHERE],
        "name": ["ttcw", NOWHERE],
        "page": SECTIONS,
        "figure": ["all", "progress", "comparisons", "agreement", NOWHERE],
        "fingerprint": chain(stored_reports("plums" if is_of_plots else "pears"), [NOWHERE]),
        "action": [*(["pause", "resume"] if is_of_judges else ["plan", "launch", "close"]), NOWHERE],
        "import_id": keys(StoryImport.objects.all()),
        "file_id": keys(BroughtFile.objects.all()),
        "record": keys(AnswerImport.objects.all()),
        "run": [world.run.pk if world.run else 0, 0],
        "choice": keys(PromptChoice.objects.all()),
        "alignment": keys(Alignment.objects.all()),
        "call": keys(Call.objects.filter(run=world.run), 3),
        "instrument": keys(Instrument.objects.all(), 2),
        "score": [NOWHERE],
        "asked": chain(Instrument.objects.filter(status="published").values_list("slug", flat=True)[:1], [NOWHERE]),
        "endpoint": keys(Endpoint.objects.all()),
        "judge": keys(Judge.objects.all()),
        "prompt": keys(Prompt.objects.all(), 3),
        # Of the closed study, as `slug` begins with it.
        "story": keys(Story.objects.filter(study=closed), 2),
        "group": keys(StoryGroup.objects.filter(study=closed), 1),
        "response": [*world.reasons[:2], 0],
        "person": keys(Invitation.objects.filter(study=live), 3),
        "sample": keys(ThemeSample.objects.all(), 2),
        "number": [1, 2, 0],
        "section": [1, 2, 0],
        "step_id": keys(Step.objects.filter(version__study=closed), 3),
        "kind": ["consent", NOWHERE],
        "content_type_id": [ContentType.objects.get_for_model(Study).pk, 0],
        "app_label": ["studies", "annotation", "auth"],
        "url": [NOWHERE, "studies/story/1/../../provenance/"],
    }
    return list(found[name])


def keys(rows: QuerySet[Any], most: int | None = None) -> Iterator[int]:
    """The primary keys of the first of these rows, and one that no row has; asked for when they are needed."""
    yield from rows.order_by("pk").values_list("pk", flat=True)[:most]
    yield 0


def stored_reports(slug: str) -> Iterator[str]:
    """The fingerprints of stored reports: those of that study first, one with sources before a blind one."""
    reports = Report.objects.filter(kind=Report.Kind.RESULTS).order_by("is_sealed", "pk")
    pairs = list(reports.values_list("study__slug", "fingerprint"))
    yield from (fingerprint for _slug, fingerprint in sorted(pairs, key=lambda pair: pair[0] != slug))


# Where a step of a certain scope gives the page its life.
STEP_OF = {
    "annotation:once": ["once"],
    "annotation:part": ["group"],
    "annotation:item": ["group"],
    "annotation:story_item": ["story"],
}


def rows(pattern: Pattern) -> list[Any]:
    """Primary keys of the first rows of the table that a page of the admin is about."""
    about = {"studies.provenance": "studies.study"} if pattern.name.endswith("_formatting") else {}
    model = about.get(pattern.model, pattern.model) or "studies.study"
    return list(apps.get_model(model)._default_manager.order_by("pk").values_list("pk", flat=True)[:3])


# ── what comes back ────────────────────────────────────────────────────────────────────────────────────────────────


class Log(logging.Handler):
    """Everything that is logged, as it would be written."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


def made(world: World, ask: Ask, *, forbidden: dict[str, bytes] | None = None) -> tuple[int, list[Hit]]:
    """The status of the answer, and what it gave away: of the secrets that the visitor may not meet, unless others are
    named. All that the request changed is taken back."""
    client, log = world.visitors[ask.visitor], Log()
    cookies = client.cookies.copy()
    root = logging.getLogger()
    level = root.level
    root.addHandler(log)
    root.setLevel(logging.DEBUG)  # what is logged on the day when somebody looks for a fault
    try:
        with transaction.atomic():
            status, told = answered(client, ask)
            transaction.set_rollback(True)
    finally:
        root.setLevel(level)
        root.removeHandler(log)
        client.cookies = cookies
    told["log"] = "\n".join(log.lines).encode()
    outbox = getattr(mail, "outbox", [])
    told["mail"] = "\n".join(str(each.message()) for each in outbox).encode()
    outbox.clear()
    forbidden = worlds.secrets(hidden_from=ask.visitor) if forbidden is None else forbidden
    # Where the address itself names a row by its key, the answer may repeat the address.
    found = [
        Hit(ask, status, kind, place)
        for place, text in told.items()
        for kind, secret in forbidden.items()
        if secret in text.lower().replace(ask.address.encode(), b"")
    ]
    return status, found


def answered(client: Client, ask: Ask) -> tuple[int, dict[str, bytes]]:
    """The status and everything that came back, by place."""
    manner = dict(MANNERS[ask.manner])
    client.handler.enforce_csrf_checks = manner.pop("without_token", False)
    form = form_for(ask.address) if manner["method"] == "POST" else {}
    address = ask.address + (f"?{query}" if (query := manner.pop("query_string", "")) else "")
    response = client.generic(
        manner["method"],
        address,
        "&".join(f"{name}={value}" for name, value in form.items()),
        content_type="application/x-www-form-urlencoded",
        headers=manner.get("headers"),
    )
    body = b"".join(response) if response.streaming else response.content
    if response.headers.get("Content-Type") == "application/zip":
        with ZipFile(BytesIO(body)) as package:
            body = b"\n".join(package.read(name) for name in package.namelist())
    headers = "\n".join(f"{name}: {value}" for name, value in response.headers.items())
    return response.status_code, {
        "body": body,
        "headers": headers.encode(),
        "cookies": response.cookies.output().encode(),
    }


def form_for(address: str) -> dict[str, str]:
    """The fields that some form reads, with the answer under the name that the page of this address would give it."""
    parts = [part for part in address.split("/")[3:] if part]
    name = "answer-" + "-".join(parts[1:]) if parts[:1] == ["s"] else "answer"
    return FORM | {name: "yes"}


def in_prompts(world: World) -> list[Hit]:
    """What models would be sent that they may not know."""
    forbidden = worlds.secrets(hidden_from="judge")
    asked = [(call.pk, json.dumps(texts.render(call.request)).lower().encode()) for call in world.run.calls.all()]
    nowhere = Ask("judge", Pattern("judges.prompts.render", ""), "", "call")
    return [
        Hit(nowhere, 0, kind, f"call {pk}") for pk, text in asked for kind, word in forbidden.items() if word in text
    ]


def in_static_names() -> list[str]:
    """Static files whose name holds a secret."""
    names = [name for finder in finders.get_finders() for name, _ in finder.list([])]
    return [name for name in names if any(word in name.encode() for word in worlds.secrets(hidden_from="").values())]
