"""Knocking at what is somebody else's: nothing is told, and nothing changes."""

import re
from collections import Counter

import numpy as np
import pytest
from django.contrib.sessions.models import Session
from django.db import transaction
from django.test import Client
from django.urls import reverse

from annotation import responses
from annotation.models import Assignment, Response
from annotation.participation import claims, invitations
from studies.models import Item, Step, Story, Study
from tests import factories, triggers
from tests.annotation import walk
from tests.trust import crawl
from tests.trust import world as worlds
from tests.trust.addresses import Pattern, patterns

pytestmark = pytest.mark.django_db
MINE, THEIRS = "plums", "pears"
SECRETS = [b"theirtext", b"theirtitle", b"theirpremise", b"theirquestion", b"theirstep", b"theirreasons"]
AtWork = list[tuple[Client, Assignment]]


@pytest.fixture
def at_work() -> AtWork:
    """Two raters of my study, one on the desk and one who has read all; the third is theirs."""
    found = []
    for slug in (MINE, MINE, THEIRS):
        if not Study.objects.filter(slug=slug).exists():
            _study(slug)
        client = Client()
        mine = walk.begin(client, Study.objects.get(slug=slug))
        factories.answer(mine, why="Theirreasons are these." if slug == THEIRS else "Mine are those.")
        found.append((client, mine))
    _, on_comparisons = found[1]
    for letter in responses.letters(on_comparisons.seat.order):
        factories.answer(on_comparisons, letter=letter)
    return found


def _study(slug: str) -> None:
    study = factories.study(slug, planned=False)
    if slug == THEIRS:
        study.title, study.shows_premise = "Theirtitle", True
        study.save()
        study.groups.update(premise="Theirpremise")
        Step.objects.filter(version__study=study).update(title="Theirstep", text="Their words.")
        with triggers.lifted():
            Item._base_manager.filter(instrument__step__version__study=study).update(question="Theirquestion?")
        for story in study.stories.all():
            story.text = f"Theirtext {story.code}."
            story.save()
    factories.plan(study)


# ── 500 probes between two studies ─────────────────────────────────────────────────────────────────────────────────


def probes(mine: Assignment, theirs: Assignment, n: int, seed: int) -> list[tuple[str, str, dict[str, str]]]:
    """n requests, each of which names something of theirs: manner, address, form."""
    rng = np.random.default_rng(seed)
    keys = [*theirs.version.steps.values_list("key", flat=True), "nowhere"]
    items = ["item-1", "item-2", "item-9"]
    coded = [each for each in patterns() if each.name.startswith("annotation:") and "code" in each.parameters]
    found = []
    for _ in range(n):
        pattern: Pattern = coded[int(rng.integers(len(coded)))]
        values = {
            "code": theirs.code,
            "step": str(rng.choice(keys)),
            "item": str(rng.choice(items)),
            "letter": str(rng.choice(list("ABCD"))),
        }
        named = {
            "assignment": mine.code,
            "code": mine.code,
            "rater": str(mine.rater_id),
            "story": str(Story.objects.filter(study=theirs.study).first().pk),
            "step": str(theirs.version.steps.first().pk),
        }
        manner = str(rng.choice(["get", "htmx", "post", "htmx post", "head"]))
        address = pattern.address(values)
        form = crawl.form_for(address) | named if "post" in manner else {}
        found.append((manner, address, form))
    return found


def send(client: Client, manner: str, address: str, form: dict[str, str]) -> tuple[int, bytes]:
    headers = {"HX-Request": "true"} if "htmx" in manner else {}
    method = "POST" if "post" in manner else "HEAD" if manner == "head" else "GET"
    response = getattr(client, method.lower())(address, form, headers=headers)
    return response.status_code, response.content + str(response.headers).encode()


@pytest.mark.slow
def test_five_hundred_probes_into_another_study_tell_and_change_nothing(at_work: AtWork) -> None:
    (client, mine), (other, _), (_, theirs) = at_work
    before = worlds.digests()
    by_status: Counter[int] = Counter()
    told = []
    for n, (manner, address, form) in enumerate(probes(mine, theirs, 500, seed=1)):
        status, said = send(other if n % 2 else client, manner, address, form)
        by_status[status] += 1
        told += [(address, secret) for secret in SECRETS if secret in said.lower()]

    assert told == []
    assert worlds.digests() == before
    assert set(by_status) <= {404, 405}
    assert by_status.total() == 500


@pytest.mark.slow
def test_at_home_the_same_probes_tell_all_of_it_and_change_something(at_work: AtWork) -> None:
    (_, mine), _, (client, theirs) = at_work
    before = worlds.digests()
    asked = [("get", walk.address(theirs), {}), *probes(mine, theirs, 500, seed=1)]

    found = [send(client, *each) for each in asked]

    everything = b" ".join(said.lower() for _, said in found)
    assert [secret for secret in SECRETS if secret not in everything] == []
    assert {200, 302} <= {status for status, _ in found}
    assert worlds.digests() != before


def test_steps_and_stories_of_another_study_are_not_there_under_my_code(at_work: AtWork) -> None:
    (client, mine), _, (_, theirs) = at_work
    with triggers.lifted():
        Step.objects.filter(version=theirs.version, key="tests").update(key="their-tests")
    before = worlds.digests()

    answers = [
        client.get(walk.address(mine, step="their-tests")).status_code,
        walk.give(client, mine, step="their-tests").status_code,
        client.get(walk.address(mine, letter="Z")).status_code,
        walk.give(client, mine, letter="Z").status_code,
        client.get(reverse("annotation:story", args=[mine.code, "Z"])).status_code,
    ]

    assert answers == [404] * 5
    assert worlds.digests() == before


# ── what a form may not say ────────────────────────────────────────────────────────────────────────────────────────


def test_fields_that_nobody_asked_for_are_ignored(at_work: AtWork) -> None:
    (client, mine), (_, other), (_, theirs) = at_work
    before = worlds.digests()
    more = {
        "assignment": other.code,
        "code": theirs.code,
        "rater": str(other.rater_id),
        "study": THEIRS,
        "story": str(Story.objects.filter(study__slug=THEIRS).first().pk),
        "value": "yes",
        "outcome": "declined",
        "status": "submitted",
        "revision": "99",
        "receipt": "0" * 64,
        "id": "1",
        "pk": "1",
        "is_simulated": "on",
        "head": "0" * 64,
    }

    form = {"answer-tests-A-item-2": "no", "rationale": "Because.", "base": "0"}
    answer = client.post(walk.address(mine, item=2), form | more)

    after = worlds.digests()
    stored = Response.objects.get(assignment=mine, item__key="item-2")
    assert answer.status_code == 302
    assert (stored.value, stored.rationale, stored.outcome, stored.revision) == ("no", "Because.", "answered", 1)
    assert stored.story.code == mine.seat.order[0]
    changed = {table for table in before if before[table] != after[table]}
    assert changed <= {"annotation.Response", "annotation.ResponseEvent", "annotation.Assignment"}
    mine.refresh_from_db()
    assert (mine.status, mine.receipt) == ("open", "")


def test_a_form_cannot_choose_its_seat_or_its_group() -> None:
    study = factories.study(n_groups=3)
    client = Client()
    rater = walk.come_in(client, study)
    client.post(reverse("annotation:consent"), {"agrees": "yes", "rater": "1", "step": "1", "text_sha256": "0" * 64})
    best = claims.take_row_and_find_seat(rater)
    last = claims.eligible_seats(rater).exclude(pk=best and best.pk).last()
    assert best is not None
    assert last is not None

    client.post(reverse("annotation:begin"), {"seat": last.pk, "group": last.group.code, "study": "other", "rank": "0"})

    assert Assignment.objects.get(rater=rater).seat == best


# ── parameters that blind pages do not know ────────────────────────────────────────────────────────────────────────


PAGED = (
    *("index", "rationales", "rationales_of_story", "rationales_of_group", "theme_sample", "theme_reasons"),
    *("story_list", "story", "rater_list"),
)
NOT_BLIND = (
    "replications",
    "replication",
    "schedule",
    "rehearsal",
    "simulation",
    "share_norms",
    "further_study",
)  # which refuse a coordinator altogether


def test_unknown_query_parameters_are_refused_on_every_blind_page() -> None:
    world = worlds.build()
    blind = [each for each in patterns() if re.match("annotation:|reports:|api:", each.name)]
    blind = [each for each in blind if each.name not in [f"reports:{name}" for name in NOT_BLIND]]
    queries = [
        "source=GPT4",
        "story__provenance__title__startswith=A",
        "ordering=source",
        "fields=all",
        "page=2",
        "_=1",
    ]

    found = {}
    for each in blind:
        who = "reading" if each.name.startswith("annotation:") else "coordinator"
        address = each.address(crawl.values(world, each, who)[0])
        for n, query in enumerate(queries):
            if query == "page=2" and each.name in [f"reports:{name}" for name in PAGED]:
                continue
            with transaction.atomic():
                for method in ("get", "post"):
                    status = getattr(world.visitors[who], method)(f"{address}?{query}").status_code
                    found[each.name, n, method] = status
                transaction.set_rollback(True)

    refused = {key: status for key, status in found.items() if status not in (400, 405)}
    assert refused == {}
    assert {name for name, _, _ in found} == {name for (name, _, _), status in found.items() if status == 400}


def test_a_session_of_a_revoked_or_withdrawn_rater_is_a_strangers(at_work: AtWork) -> None:
    (client, mine), *_ = at_work
    stranger = Client().get(reverse("annotation:assignment", args=[mine.code]))
    invitations.revoke(mine.rater.invitation, at=factories.NOON)

    found = client.get(reverse("annotation:assignment", args=[mine.code]))

    assert (found.status_code, found.headers["Location"]) == (stranger.status_code, stranger.headers["Location"])
    assert Session.objects.exists()
