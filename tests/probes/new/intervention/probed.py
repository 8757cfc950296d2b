"""A new change of stories is offered where a run begins, and planned."""

import pytest
from django.test import Client

from judges import catalogue, runs
from judges.planning import Scope
from tests import factories


@pytest.mark.django_db
def test_the_change_is_offered_and_planned(client: Client) -> None:
    study, judge = factories.study(), catalogue.make_stub_judge()
    client.force_login(factories.staff("researcher"))

    assert "All in small letters" in client.get(f"/studies/plums/runs/new/?judge={judge.pk}").text
    run = runs.start(study, judge, by="tests", scope=Scope(interventions=("whisper",)))
    assert run.readings.filter(intervention="whisper-1").exists()
