"""The demonstration: seeded once, said to be simulated, and open to whoever runs it."""

import re
import socket
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from annotation import claims, invitations
from annotation.models import Assignment, Invitation, Rater, Response, Withdrawal
from judges.models import Run
from reports.management.commands import demo as seeding
from reports.models import Report
from studies.models import Provenance, Story, Study

pytestmark = pytest.mark.django_db


def demo() -> str:
    said = StringIO()
    call_command("demo", stdout=said)
    return said.getvalue()


def rows() -> dict[str, int]:
    counted = (Study, Story, Rater, Assignment, Response, Invitation, Run, Report)
    return {model.__name__: model._default_manager.count() for model in counted}


def test_the_demo_seeds_a_study_of_every_folder_and_seeds_it_once() -> None:
    demo()
    first = rows()

    demo()

    assert rows() == first
    state_by_slug = dict(Study.objects.values_list("slug", "state"))
    assert state_by_slug.pop("harbour") == "closed"
    assert sorted(state_by_slug) == sorted(seeding.live_slugs())
    assert set(state_by_slug.values()) == {"live"}
    assert first["Invitation"] == 3 + len(state_by_slug) - 1


def test_the_closed_study_is_complete_simulated_and_says_so() -> None:
    demo()

    study = Study.objects.get(slug="harbour")
    assert "its answers are simulated" in study.notice
    assert not study.raters.filter(is_simulated=False).exists()
    people = study.assignments.filter(rater_kind="person")
    assert set(people.values_list("status", flat=True)) == {"submitted"}
    assert people.count() == study.seats.filter(rater_kind="person").count() == 9
    assert study.launched_at < min(people.values_list("started_at", flat=True))
    assert max(people.values_list("ended_at", flat=True)) < study.closed_at < timezone.now()


def test_the_demos_report_recovers_what_was_planted() -> None:
    demo()

    result = Report.objects.get().result
    tier_by_source = dict(Provenance.objects.values_list("source__name", "factors__tier"))
    means = {row["source"]: row["value"] for row in result["pass_rates"]["mean"]["by_source"]}
    assert tier_by_source[max(means, key=means.__getitem__)] == "upper"
    assert tier_by_source[min(means, key=means.__getitem__)] == "lower"
    assert result["judges"]


def test_the_stub_judge_has_finished() -> None:
    demo()

    run = Run.objects.get()
    assert (run.state, run.study.slug, run.judge.endpoint.is_stub) == ("finished", "harbour", True)


def links() -> list[str]:
    """What a run does for the live study alone, which is quick."""
    return seeding.links(seeding.seed_live("orchard", at=timezone.now()))


def opened(token: str) -> Invitation | None:
    return invitations.opened(token, at=timezone.now())


def test_the_live_study_has_free_seats_and_three_links_that_open_it() -> None:
    study = seeding.seed_live("orchard", at=timezone.now())

    said = seeding.addresses(study, [study], site="http://127.0.0.1:8765")

    found = [opened(token) for token in re.findall(r"http://127\.0\.0\.1:8765/r/([\w-]+)/", said)]
    assert [invitation.study.slug for invitation in found if invitation] == ["orchard"] * 3
    assert len(set(found)) == 3
    assert "(live, 6 of its seats are free)" in said


def test_links_are_the_same_on_every_run_and_lead_back_to_the_same_place() -> None:
    first = links()
    begun = opened(first[0])
    assert begun is not None
    rater = invitations.rater_of(begun)
    claims.claim(rater)

    second = links()

    assert second == first
    again = opened(second[0])
    assert again is not None
    assert again.rater == rater


def test_links_and_password_are_others_where_the_secret_key_is_another(settings: pytest.FixtureRequest) -> None:
    here = {*links(), seeding.password()}

    settings.SECRET_KEY = "another"  # type: ignore[attr-defined]

    assert here.isdisjoint({*links(), seeding.password()})


def test_whoever_withdrew_is_not_asked_again_and_the_next_begins_anew() -> None:
    begun = opened(links()[0])
    assert begun is not None
    Withdrawal.objects.create(rater=invitations.rater_of(begun))

    fresh = opened(links()[0])

    assert fresh is not None
    assert (fresh.pk != begun.pk, fresh.rater) == (True, None)


def test_the_password_opens_the_admin(client: Client) -> None:
    password = seeding.password()

    client.post("/admin/login/", {"username": "admin", "password": password})

    assert seeding.password() == password
    assert client.get("/admin/").status_code == 200


def test_a_port_in_use_is_said_before_anything_is_seeded() -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]

        with pytest.raises(CommandError, match=f"port {port} is in use; choose another: make demo PORT={port + 1}"):
            call_command("demo", port=port)

    assert not Study.objects.exists()


def test_the_demo_does_not_run_on_a_public_server(settings: pytest.FixtureRequest) -> None:
    settings.IS_EMBEDDED = False  # type: ignore[attr-defined]

    with pytest.raises(CommandError, match="does not run where ALLOWED_HOSTS names a public host"):
        demo()

    assert Study.objects.count() == 0
