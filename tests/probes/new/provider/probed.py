"""A new provider is offered in the admin, checked, and used by a run."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from judges import catalogue, runs
from judges.models import Endpoint, Judge, Run
from studies.models import Provenance
from tests import factories


@pytest.mark.django_db
def test_the_provider_is_offered_checked_and_used(admin_client: Client, settings: Any) -> None:
    page = admin_client.get(reverse("admin:judges_endpoint_add")).text
    assert '<option value="telegraph">By telegraph</option>' in page
    with pytest.raises(ValidationError, match=r"there are: .*, stub, telegraph"):
        Endpoint(name="x", adapter="pigeon", base_url="https://api.example.org/v1").full_clean()
    settings.ALLOWED_PRIVATE_ENDPOINTS = ["127.0.0.1:9"]
    endpoint = Endpoint(name="far", adapter="telegraph", base_url="https://127.0.0.1:9/v1", is_allowed=True)
    endpoint.full_clean()
    endpoint.save()
    assert "By telegraph" in admin_client.get(reverse("admin:judges_endpoint_changelist")).text
    judge = Judge.objects.create(slug="far", endpoint=endpoint, model="m", prompt=catalogue.make_stub_judge().prompt)
    study = factories.study(comparative=False)
    Provenance.objects.update(may_send_out=True)

    run = runs.drain(runs.start(study, judge, by="tests"))

    assert (run.state, runs.count_calls(run)) == (Run.State.FINISHED, {"ok": 8})
