"""A new figure stands on the page, in the document, the files and the text."""

import io

import pytest
from django.core.management import call_command
from django.test import Client

from reports import results
from tests import factories
from tests.reports import given


@pytest.mark.django_db
def test_the_probe_is_found(client: Client) -> None:
    study = given.closed_study()
    given.verdicts(study, {"E01": "ynyn", "E02": "yyyy"})
    client.force_login(factories.staff("researcher"))
    out = io.StringIO()
    call_command("report", "plums", stdout=out)
    file = b"".join(client.get("/reports/plums/probes.csv").streaming_content).decode()
    page = client.get("/reports/plums/").content.decode()

    assert results.compute(study)["probe"] == {"n": 8}
    assert "Probed: 8" in page
    assert 'href="#probe"' in page
    assert file.split() == ["n", "8"]
    assert out.getvalue().split("Probed answers")[1].split()[0] == "8"
