"""Who may run the demonstration, and where its links lead."""

import re
import socket
from dataclasses import replace
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from annotation.models import Invitation, Withdrawal
from annotation.participation import claims, invitations
from judges.endpoints.presets import LOCAL, all_presets
from reports.management.commands import demo as seeding
from studies import loader
from studies.models import Study

pytestmark = pytest.mark.django_db


def links() -> list[str]:
    """What a run does for the live study alone, which is quick."""
    return seeding.ensure_links(seeding.seed_live("orchard", at=timezone.now()))


def opened(token: str) -> Invitation | None:
    return invitations.find_by_token(token, at=timezone.now())


def test_the_live_study_has_free_seats_and_three_links_that_open_it() -> None:
    study = seeding.seed_live("orchard", at=timezone.now())

    tokens = seeding.ensure_links(study)

    said = seeding.addresses([study], [study], [tokens], site="http://127.0.0.1:8765", password="a word")

    found = [opened(token) for token in re.findall(r"http://127\.0\.0\.1:8765/r/([\w-]+)/", said)]
    assert [invitation.study.slug for invitation in found if invitation] == ["orchard"] * 3
    assert len(set(found)) == 3
    assert "(live, 6 of its places are free)" in said
    assert "name: admin   password: a word" in said


def test_links_are_the_same_on_every_run_and_lead_back_to_the_same_rater() -> None:
    first = links()
    begun = opened(first[0])
    assert begun is not None
    rater = invitations.ensure_rater(begun)
    claims.claim(rater)

    second = links()

    assert second == first
    again = opened(second[0])
    assert again is not None
    assert again.rater == rater


def test_links_and_password_are_others_where_the_secret_key_is_another(settings: pytest.FixtureRequest) -> None:
    here = {*links(), seeding.ensure_password()}

    settings.SECRET_KEY = "another"  # type: ignore[attr-defined]

    assert here.isdisjoint({*links(), seeding.ensure_password()})


def test_whoever_withdrew_is_not_asked_again_and_the_next_begins_anew() -> None:
    begun = opened(links()[0])
    assert begun is not None
    Withdrawal.objects.create(rater=invitations.ensure_rater(begun))

    fresh = opened(links()[0])

    assert fresh is not None
    assert (fresh.pk != begun.pk, fresh.rater) == (True, None)


def test_the_password_opens_the_admin(client: Client) -> None:
    password = seeding.ensure_password()

    client.post("/admin/login/", {"username": "admin", "password": password})

    assert seeding.ensure_password() == password
    assert client.get("/admin/", follow=True).status_code == 200


def test_the_model_of_make_model_is_asked_about_one_story_where_it_answers_and_only_there(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = loader.load_study(seeding.FOLDER / seeding.CLOSED)
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{server.getsockname()[1]}"
        preset = replace(all_presets()[LOCAL], base_url=f"http://{place}/v1")
        monkeypatch.setattr(seeding, "all_presets", lambda: {LOCAL: preset})

        assert seeding.ensure_local_run(study) is None, "its place is not among those that judges may call"
        settings.ALLOWED_PRIVATE_ENDPOINTS = [place]
        server.listen()
        run = seeding.ensure_local_run(study)

        assert run is not None
        assert (run.state, run.n_planned, run.selection) == ("running", 14, ["h1a"])
        assert (run.judge.model, float(run.estimate["worst_cost"])) == (preset.model, 0)
        assert seeding.ensure_local_run(study) == run
    assert seeding.ensure_local_run(study) is None, "nothing answers there"


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
        call_command("demo")

    assert Study.objects.count() == 0
