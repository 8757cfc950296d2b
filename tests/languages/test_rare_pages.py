"""Pages that a rater meets when something is unusual: two windows, a pause, a way that ends.

Every template of theirs is rendered here or in `test_every_word`.
"""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.test.signals import template_rendered
from django.urls import reverse
from django.utils import timezone

from annotation.design.amendments import HoldsFor
from annotation.models import ApplicationCall, Assignment, ProlificArrival, Seat, Timing
from annotation.participation import claims, invitations
from studies.models import Item, Step, Study
from tests import factories, triggers
from tests.annotation import clozes, walk
from tests.annotation.design.test_amendments import amend, live_study
from tests.annotation.participation.test_applications import call_for
from tests.annotation.participation.test_recruitment import recruit
from tests.languages import pseudo
from tests.languages import test_every_word as every_word
from tests.languages.test_every_word import FOREIGN, OURS, found_on
from tests.trust import world as worlds

pytestmark = pytest.mark.django_db
TEMPLATES = Path(settings.BASE_DIR) / "templates"
PASSAGES = [
    '{"paragraph": 1, "start": 0, "end": 3, "text": "%s"}',
    '{"paragraph": 1, "start": 4, "end": 6, "text": "%s"}',
]


class Visit:
    """A browser of which everything that it is shown is kept."""

    def __init__(self) -> None:
        self.client = Client()
        self.shown: list[tuple[str, str]] = []

    def get(self, address: str, **more: Any) -> HttpResponse:
        return self._kept(address, self.client.get(address, follow=True, **more))

    def post(self, address: str, form: dict[str, Any] | None = None, **more: Any) -> HttpResponse:
        return self._kept(address, self.client.post(address, form or {}, **more))

    def _kept(self, address: str, response: HttpResponse) -> HttpResponse:
        self.shown.append((f"{address} {response.status_code}", response.content.decode()))
        return response


def two_windows(visit: Visit, languages: dict[str, str]) -> None:
    """An answer that was changed elsewhere, with passages quoted in both versions; and one that is not allowed."""
    mine = walk.begin(visit.client, factories.study(n_stories=2))
    every_word.rewrite(languages)
    story = mine.study.stories.get(code=mine.seat.order[0])
    first, second = (PASSAGES[0] % story.text[0:3], PASSAGES[1] % story.text[4:6])
    where, name = walk.address(mine), "answer-tests-A-item-1"
    visit.post(where, {name: "yes", "rationale": "1.", "base": 0, "quotes": [first]})
    for headers in ({}, walk.HTMX):
        stale = {name: "no", "rationale": "2.", "base": 0, "quotes": [second]}
        assert visit.post(where, stale, headers=headers).status_code == 409
        assert visit.post(where, {name: "maybe", "base": 1}, headers=headers).status_code == 400
    visit.get(where)


def a_long_time(visit: Visit, languages: dict[str, str]) -> None:
    """Time for a break, on the desk; and what is lacking, said at the items too."""
    mine = walk.begin(visit.client, factories.study(n_stories=2))
    every_word.rewrite(languages)
    visit.get(walk.address(mine))
    Timing.objects.create(assignment=mine, step=Step.objects.get(key="tests"), active_seconds=4000)
    assert 'class="break"' in visit.get(walk.address(mine)).content.decode()
    visit.post(reverse("annotation:check", args=[mine.code]))
    visit.get(walk.address(mine))
    visit.get(walk.address(mine), headers=walk.HTMX | {"HX-Target": "questions"})


def the_whole_way(visit: Visit, languages: dict[str, str]) -> None:
    """From the link to the farewell, with a refusal wherever there is one."""
    world = worlds.build()
    every_word.rewrite(languages)
    visit.client = world.visitors["arriving"]
    visit.get("/")
    visit.post(reverse("annotation:consent"))
    visit.post(reverse("annotation:consent"), {"agrees": "yes"})
    visit.get("/")
    visit.post(reverse("annotation:briefing", args=["welcome"]))
    visit.post(reverse("annotation:once", args=["background"]))
    with triggers.lifted():
        Item._base_manager.filter(instrument__slug="plums-background").update(is_skippable=True)
        factories.freeze_anew(world.studies["plums"])
    visit.post(reverse("annotation:once", args=["background"]))
    visit.get("/")
    taken = list(Seat.objects.filter(is_taken=False).values_list("pk", flat=True))
    Seat.objects.update(is_taken=True)
    visit.post(reverse("annotation:begin"))
    Seat.objects.filter(pk__in=taken).update(is_taken=False)
    visit.post(reverse("annotation:begin"))
    visit.get("/")
    mine = Assignment.objects.filter(rater=visit.client.session["rater"]).exclude(seat=None).get()
    assert visit.post(reverse("annotation:recognition", args=[mine.code])).status_code == 400
    visit.post(reverse("annotation:recognition", args=[mine.code]), {"knows": "no"})
    visit.get("/")
    visit.client = world.visitors["done"]
    visit.get("/")
    visit.post(reverse("annotation:done"))
    assert "annotation/done.html" in [t.name for t in visit.get("/").templates]
    visit.client = world.visitors["comparing"]
    visit.post(reverse("annotation:withdraw"))
    visit.get(reverse("annotation:withdrawn"))


def a_cloze(visit: Visit, languages: dict[str, str]) -> None:
    """A blank changed above others, in two windows, with what cannot be kept; and a way that ends."""
    mine = walk.begin(visit.client, clozes.study())
    every_word.rewrite(languages)

    def save(blank: int, text: str, base: int) -> HttpResponse:
        where = reverse("annotation:item", args=[mine.code, "fill", f"blank-{blank:02}"])
        return visit.post(where, {f"answer-fill-blank-{blank:02}": text, "base": base}, headers=walk.HTMX)

    for blank, text, base in [(2, "12", 0), (4, "14", 0), (2, "13", 1), (4, "1\x00", 1), (2, "15", 1)]:
        save(blank, text, base)
    page = reverse("annotation:part", args=[mine.code, "fill"])
    visit.get(page)
    visit.post(page, {"answer-fill-blank-02": "16", "base-fill-blank-02": 1})
    visit.post(page, {"answer-fill-blank-01": "1\x00", "base-fill-blank-01": 0})
    visit.post(reverse("annotation:check", args=[mine.code]))
    visit.get(page)
    visit.post(reverse("annotation:stop", args=[mine.code, "fill"]), {"section": "1"})
    assert "annotation/stopped.html" in [t.name for t in visit.get(f"/a/{mine.code}/stopped/").templates]
    visit.get("/")


def a_practice(visit: Visit, languages: dict[str, str]) -> None:
    """A story to practise on, with an answer lacking, and compared."""
    rater = walk.come_in(visit.client, factories.practising_study())
    every_word.rewrite(languages)
    visit.post(reverse("annotation:consent"), {"agrees": "yes"})
    page = reverse("annotation:once", args=["practice"])
    visit.get(page)
    assert visit.post(page).status_code == 400
    walk.give(visit.client, rater.assignments.get(), why="1.", step="practice", item=2, letter="")
    assert 'class="sample-answer"' in visit.post(page).content.decode()


def a_pause(visit: Visit, languages: dict[str, str]) -> None:
    """In the midst of a group the study is paused: the page that says so, and a save that is refused."""
    mine = walk.begin(visit.client, factories.study(n_stories=2))
    every_word.rewrite(languages)
    Study.objects.update(state=Study.State.PAUSED)
    assert "annotation/paused.html" in [t.name for t in visit.get(reverse("annotation:closed")).templates]
    for headers in ({}, walk.HTMX):
        assert visit.post(walk.address(mine), {"base": 0}, headers=headers).status_code == 409


def a_link_of_a_study_that_is_not_open(visit: Visit, languages: dict[str, str]) -> None:
    """Before the launch, in a pause and after closing, of whoever has taken part and of whoever has not."""
    study = factories.study()
    every_word.rewrite(languages)
    addresses = [reverse("annotation:invitation", args=[invitations.issue(study)[1]]) for _ in range(2)]
    visit.post(addresses[0])
    for state in (Study.State.DRAFT, Study.State.PAUSED, Study.State.CLOSED):
        Study.objects.update(state=state)
        for address in addresses:
            assert visit.get(address).status_code == 200


def a_replaced_link(visit: Visit, languages: dict[str, str]) -> None:
    """A link in whose place there is a newer one says so."""
    invitation, token = invitations.issue(factories.study())
    every_word.rewrite(languages)
    where = reverse("annotation:invitation", args=[token])
    visit.post(where)
    invitations.replace_link(invitation, at=timezone.now())
    assert visit.get(where).status_code == 410


def an_amended_consent(visit: Visit, languages: dict[str, str]) -> None:
    """What is agreed to was worded anew for everybody: the difference, agreed to, and told again on the overview."""
    study = live_study(closes_at=None)
    walk.come_in(visit.client, study)
    every_word.rewrite(languages)
    visit.post(reverse("annotation:consent"), {"agrees": "yes"})
    visit.post(reverse("annotation:begin"))
    study.refresh_from_db()
    amend(study, holds_for=HoldsFor.EVERYBODY, consent=pseudo.written("Other words.", "study"))
    assert "<ins" in visit.get("/").content.decode()
    visit.post(reverse("annotation:consent"), {"agrees": "yes"})
    visit.get("/")


def a_rehearsal(visit: Visit, languages: dict[str, str]) -> None:
    """What a designer walks through as a rater, under a bar that says so."""
    factories.study(planned=False, state=Study.State.DRAFT)
    every_word.rewrite(languages)
    visit.client.force_login(factories.staff("designer"))
    visit.client.post(reverse("designer:rehearsal", args=["plums"]), {"action": "begin", "step": ""}, follow=True)
    assert 'class="rehearsal-bar"' in visit.get("/").content.decode()


def a_way_back_to_prolific(visit: Visit, languages: dict[str, str]) -> None:
    """Somebody from Prolific, whose time there is nearly over, then over, and who stops with the code."""
    recruitment = recruit(factories.study(), minutes=60)
    every_word.rewrite(languages)
    door = reverse("annotation:prolific", args=[recruitment.key])
    visit.get(door)
    visit.get(f"{door}?PROLIFIC_PID={'5f' * 12}&SESSION_ID=s1")
    visit.post(f"{door}?PROLIFIC_PID={'5f' * 12}&SESSION_ID=s1")
    assert 'class="time-limit"' in visit.get("/").content.decode()
    ProlificArrival.objects.update(session_began_at=timezone.now() - timedelta(minutes=61))
    visit.get(reverse("annotation:time_over"))
    visit.post(reverse("annotation:stop_prolific", args=["timed_out"]))
    assert "submissions/complete" in visit.get(reverse("annotation:ended")).content.decode()


def a_full_study(visit: Visit, languages: dict[str, str]) -> None:
    """No place is free: the waiting list, joined and left. Then a group whose time was over, gone on with."""
    study = factories.study("pears", planned=False, k=1, n_groups=1)
    Study.objects.filter(pk=study.pk).update(hours_per_group=24)
    study.refresh_from_db()
    factories.plan(study)
    rater = walk.come_in(visit.client, study)
    other = factories.assignment(study)
    every_word.rewrite(languages)
    page = reverse("annotation:full")
    visit.get(page)
    assert visit.post(page, {"act": "join", "email": "1"}).status_code == 400
    visit.post(page, {"act": "join", "email": "1@example.org"})
    visit.get(page)
    visit.post(page, {"act": "leave"})
    claims.give_up(other, at=timezone.now())
    visit.post(reverse("annotation:consent"), {"agrees": "yes"})
    visit.post(reverse("annotation:begin"))
    mine = rater.assignments.exclude(seat=None).get()
    visit.get(walk.address(mine))
    claims.give_up(mine, at=timezone.now(), is_taken_back=True)
    visit.get("/")
    Seat.objects.update(is_taken=True)
    visit.get("/")


def an_application(visit: Visit, languages: dict[str, str]) -> None:
    """Answers lacking, an eligible person, one who is not, and a page that is closed."""
    call = call_for(factories.study())
    every_word.rewrite(languages)
    page, who = reverse("annotation:application", args=[call.key]), {"name": "1", "email": "1@example.org"}
    assert visit.post(page).status_code == 400
    for answer in ("yes", "no"):
        visit.post(page, who | {"question-item-1": answer, "question-item-2": "no"})
    for ending in ("applied", "not_eligible"):
        visit.get(reverse(f"annotation:{ending}", args=[call.key]))
    ApplicationCall.objects.update(is_open=False)
    assert visit.get(page).status_code == 409


WAYS = [
    a_way_back_to_prolific,
    a_full_study,
    an_application,
    an_amended_consent,
    a_rehearsal,
    a_pause,
    a_link_of_a_study_that_is_not_open,
    a_replaced_link,
    two_windows,
    a_long_time,
    the_whole_way,
    a_cloze,
    a_practice,
]


@pytest.mark.parametrize("languages", [FOREIGN, OURS], ids=["foreign study", "study in our languages"])
@pytest.mark.parametrize("go", WAYS, ids=lambda go: go.__name__)
def test_every_word_is_translated_or_the_studys_own_and_marked_as_what_it_is(
    monkeypatch: pytest.MonkeyPatch, go: Callable[[Visit, dict[str, str]], None], languages: dict[str, str]
) -> None:
    every_word.speak(monkeypatch, languages)
    visit = Visit()

    go(visit, languages)

    assert "\n".join(found_on(visit.shown, languages)) == ""


@pytest.fixture
def rendered() -> Iterator[set[str]]:
    """The names of the templates that are rendered while a test runs."""
    names: set[str] = set()

    def note(template: Any, **_: Any) -> None:
        names.add(template.name)

    template_rendered.connect(note)
    yield names
    template_rendered.disconnect(note)


@pytest.mark.slow
def test_no_template_of_raters_is_left_out(rendered: set[str]) -> None:
    for go in [*WAYS, lambda *_: every_word.pages(worlds.build(), ["get", "post"])]:
        with transaction.atomic():
            go(Visit(), FOREIGN)
            transaction.set_rollback(True)

    every = {str(path.relative_to(TEMPLATES)) for path in (TEMPLATES / "annotation").glob("*.html")}
    assert every - rendered == set()
