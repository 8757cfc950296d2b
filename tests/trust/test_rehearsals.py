"""A rehearsal is nowhere: every page, file, list and command is asked, with one there that somebody has walked through
and that simulated raters have filled."""

import copy
from contextlib import suppress
from io import StringIO

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation import walkthrough
from annotation.design import rehearsals
from annotation.models import Assignment, Rater
from reports import results, schedules
from studies.models import Study
from tests.trust import crawl
from tests.trust.addresses import Pattern, patterns
from tests.trust.crawl import Ask, Hit
from tests.trust.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture(scope="module")
def rehearsed(built: World) -> Study:
    """Made once for all tests, with what would be computed for every page that is asked for, and taken back."""
    designer = User.objects.get(username="designer")
    made = rehearsals.renew(built.studies["quinces"], by=designer, sees_sources=True, at=timezone.now())
    walkthrough.go_to(made, None, at=timezone.now())
    walkthrough.fill(made, at=timezone.now())
    for study in (made, built.studies["quinces"]):
        results.ensure_report(study, at=timezone.now(), by="designer")
    return made


@pytest.fixture
def rehearsal(rehearsed: Study, world: World) -> Study:
    return copy.deepcopy(rehearsed)


def marks(rehearsal: Study) -> dict[str, bytes]:
    """Words that stand in nothing but this rehearsal: its name, and the codes of its assignments."""
    codes = Assignment.objects.filter(study=rehearsal).values_list("code", flat=True)
    return {"slug": rehearsal.slug.encode()} | {code: code.encode() for code in codes}


def hits_on(world: World, who: str, pattern: Pattern, forbidden: dict[str, bytes]) -> list[Hit]:
    """What a page gives away: that of the study that is rehearsed, or of another one where that has no such page."""
    values = crawl.values(world, pattern, who)[0]
    hits: list[Hit] = []
    for study in dict.fromkeys(["quinces", values["slug"]] if "slug" in values else [""]):
        address = pattern.address(values | {"slug": study})
        status, more = crawl.made(world, Ask(who, pattern, address, "get"), forbidden=forbidden)
        hits += more
        if status == 200:
            break
    return hits


def test_it_is_there_to_leak(world: World, rehearsal: Study) -> None:
    assert Assignment.objects.filter(study=rehearsal, status="submitted").exists()
    assert Rater.objects.filter(study=rehearsal).count() > 1
    assert world.visitors["root"].get("/studies/quinces/rehearsal/").status_code == 200


@pytest.mark.parametrize("who", ["root", "designer", "reading"])
def test_no_page_names_it(world: World, rehearsal: Study, who: str) -> None:
    forbidden = marks(rehearsal)

    hits = [
        (pattern.name, hit.kind, hit.place)
        for pattern in patterns()
        for hit in hits_on(world, who, pattern, forbidden)
        if hit.place != "log"
    ]

    assert hits == []


@pytest.mark.parametrize("who", ["root", "designer"])
def test_nothing_opens_under_its_own_name(world: World, rehearsal: Study, who: str) -> None:
    asked = [each for each in patterns() if "slug" in each.parameters]

    statuses = {
        each.name: crawl.made(world, Ask(who, each, each.address(values | {"slug": rehearsal.slug}), manner))[0]
        for each in asked
        for manner in ("get", "post")
        for values in crawl.values(world, each, who)[:1]
    }

    assert set(statuses.values()) <= {400, 403, 404, 405}


def test_the_records_have_none_of_its_rows(world: World, rehearsal: Study) -> None:
    root = world.visitors["root"]

    for model in ("study", "story", "storygroup", "protocolversion", "provenance"):
        of_rehearsal = _rows("studies", model, rehearsal)
        assert of_rehearsal, "there to be listed"
        for pk in of_rehearsal[:2]:
            assert root.get(f"/admin/studies/{model}/{pk}/change/").status_code in (302, 404)
    for model in ("rater", "seat", "assignment", "response", "responseevent", "consent"):
        of_rehearsal = _rows("annotation", model, rehearsal)
        assert of_rehearsal
        assert root.get(f"/admin/annotation/{model}/{of_rehearsal[0]}/change/").status_code == 302


WAYS = {
    "study": "pk",
    "provenance": "story__study",
    "response": "assignment__study",
    "responseevent": "response__assignment__study",
    "consent": "rater__study",
}


def _rows(app: str, model: str, rehearsal: Study) -> list[int]:
    rows = apps.get_model(app, model)._base_manager.filter(**{WAYS.get(model, "study"): rehearsal.pk})
    return list(rows.values_list("pk", flat=True))


def test_commands_do_not_know_it(world: World, rehearsal: Study) -> None:
    for command in (["report", rehearsal.slug], ["plan", rehearsal.slug], ["launch", rehearsal.slug]):
        with pytest.raises(Exception, match="there is no study"):
            call_command(*command)
    out = StringIO()
    with suppress(CommandError):  # the world's own rows have been changed by hand
        call_command("verify_history", stdout=out)
    n = Assignment.objects.exclude(study=rehearsal).count()
    assert f"{n} assignments" in out.getvalue()


def test_the_nightly_reports_leave_it_out(world: World, rehearsal: Study) -> None:
    assert rehearsal.is_live
    assert rehearsal not in schedules.find_studies(None, at=timezone.now())
