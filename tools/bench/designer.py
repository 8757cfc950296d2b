"""What a designer's pages of a large study take: seconds as the browser waits, and CPU of the web server."""

import statistics
import time
from collections.abc import Callable

from django.conf import settings
from django.db import connection
from django.test import Client
from django.urls import reverse

from annotation.models import Invitation
from annotation.participation import invitations, people
from studies.access import make_lead
from studies.models import Study
from tests import factories
from tools import measurement
from tools.bench import large_study
from tools.trials.person import Person
from tools.trials.server import Server

PAGES = {
    "Stories": "studies:stories",
    "People": "designer:people",
    "Monitor": "designer:monitor",
    "Overview": "studies:overview",
}


def run(n_stories: int = 10_000, n_people: int = 500, n: int = 9) -> dict[str, float]:
    """A live study in groups of four, whose people have come in and answered about their first story: n visits of each
    page, one after another, of which the middle one counts."""
    study = _make(n_stories, n_people)
    user = factories.staff("designer")
    make_lead(study, user)
    client = Client()
    client.force_login(user)
    costs: dict[str, float] = {"stories": study.stories.count(), "people": study.raters.count()}
    with Server(workers=1) as server:
        cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
        person = Person(server.port, {settings.SESSION_COOKIE_NAME: cookie}, compresses=True)
        for page, name in PAGES.items():
            address = reverse(name, args=[study.slug])
            assert person.get(address).status == 200, address
            costs |= _measure(page, lambda address=address: person.get(address).n_bytes, server, n)  # type: ignore[misc]
        person.hang_up()
    connection.close()
    return costs


def _make(n_stories: int, n_people: int) -> Study:
    study = factories.study("designer", comparative=False, planned=False, state=Study.State.DRAFT)
    large_study.add_groups(study, n_stories // large_study.N_STORIES)
    Study.objects.filter(pk=study.pk).update(state=Study.State.LIVE)
    factories.plan(study)
    people.note(study, [people.Person(n, f"Poet {n}", email=f"{n}@example.org") for n in range(1, n_people + 1)])
    for invitation in Invitation.objects.filter(study=study).select_related("study"):
        assignment = factories.assignment(study, invitations.ensure_rater(invitation))
        for item in (1, 2):
            factories.answer(assignment, item=item)
    return study


def _measure(page: str, get: Callable[[], int], server: Server, n: int) -> dict[str, float]:
    assert server.process is not None
    seconds, cpu_before, n_bytes = [], measurement.thread_seconds(server.process.pid), 0
    for _ in range(n):
        began = time.perf_counter()
        n_bytes = get()
        seconds.append(time.perf_counter() - began)
    cpu = (measurement.thread_seconds(server.process.pid) - cpu_before) / n
    return {f"{page} s": statistics.median(seconds), f"{page}, CPU s": cpu, f"{page}, kB": n_bytes / 1000}
