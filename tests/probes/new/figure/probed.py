"""A new figure stands on the page, in the document, the files and the text; and who does not compute it says so."""

import io
import json
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from reports import results
from reports.export.package import list_not_recomputed
from tests import factories
from tests.independent.comparison import NO_FIGURE, list_others, recomputed
from tests.reports import given
from tests.reports.package_run import run_recompute
from tests.reports.test_packages import issued


@pytest.mark.django_db
def test_the_probe_is_found(client: Client) -> None:
    study = given.closed_study()
    given.verdicts(study, {"E01": "ynyn", "E02": "yyyy"})
    client.force_login(factories.staff("researcher"))
    out = io.StringIO()
    call_command("report", "plums", stdout=out)
    file = b"".join(client.get("/reports/plums/probes.csv").streaming_content).decode()
    page = client.get("/reports/plums/figures/all/").content.decode()

    assert results.compute(study)["probe"] == {"n": 8}
    assert "Probed: 8" in page
    assert 'href="#probe"' in page
    assert file.split() == ["n", "8"]
    assert out.getvalue().split("Probed answers")[1].split()[0] == "8"


@pytest.mark.django_db
def test_the_probe_is_named_where_its_numbers_are_not_computed_again(tmp_path: Path) -> None:
    study = given.closed_study()
    given.verdicts(study, {"E01": "ynyn", "E02": "yyyy"})

    _package, archive = issued(study, with_sources=True, reason="To compute them anew.")
    second = recomputed(archive, tmp_path / "package")
    run = run_recompute(tmp_path / "package")

    assert list_not_recomputed(json.loads(archive.read("report.json"))) == ["probe"]
    assert "Parts that are not computed again: probe." in run.stdout.splitlines()
    assert run.returncode == 0
    assert second["figures"]["probe"]["why"] == {"n": NO_FIGURE}
    assert second["not_covered"] == ["probe"]
    assert second["differences"] == []
    assert not [place for place in list_others(second) if place.startswith("probe.")]
