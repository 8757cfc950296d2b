"""A new item type is offered to designers, shown to raters, checked, recorded, drawn by simulation, and written out."""

import csv

import pytest
from django.test import Client
from django.urls import reverse

from annotation import simulation
from annotation.models import Response
from annotation.simulation import Tendency
from judges import catalogue, runs
from judges.models import Run
from reports import results
from reports.export import codebook
from tests import factories
from tests.annotation import walk
from tests.probes import given

pytestmark = pytest.mark.django_db


def test_the_type_is_offered_to_designers(admin_client: Client) -> None:
    page = admin_client.get(reverse("admin:studies_instrument_add")).text

    assert '<option value="percent">percent</option>' in page


def test_the_type_is_shown_checked_recorded_drawn_and_written_out(client: Client, admin_client: Client) -> None:
    asked = factories.instrument("share", n_items=1, type="percent", rationale="none", rationale_least=0)
    assignment, page = given.desk_of(asked, client, item="item-1")
    study = assignment.study

    refused = walk.give(client, assignment, "101", "").text
    walk.give(client, assignment, "40", "")
    simulation.simulate(study, {code: Tendency(0.0) for code in assignment.seat.order}, seed=1, begins=factories.NOON)
    run = runs.drain(runs.start(study, catalogue.stub_judge(), by="tests"))

    assert 'inputmode="numeric" id="answer-tests-A-item-1"' in page
    assert "Please give a whole number from 0 to 100." in refused
    assert list(assignment.responses.values_list("value", flat=True)) == [40]
    drawn = Response.objects.exclude(assignment=assignment).values_list("assignment__rater__kind", "value")
    assert sorted(kind for kind, _ in drawn) == ["model", "model", "person", "person"]
    assert all(isinstance(value, int) and 0 <= value <= 100 for _, value in drawn)
    assert run.state == Run.State.FINISHED
    assert "item, percent" in [row["what"] for row in codebook.rows(study, with_sources=False)]
    file = b"".join(admin_client.get("/reports/plums/responses_long.csv").streaming_content).decode()
    rows = [row for row in csv.DictReader(file.splitlines()) if row["rater"] == assignment.rater.code]
    assert [(row["value"], row["value_label"], row["analysed"]) for row in rows] == [("40", "40 %", "40.0")]
    assert results.compute(study)
