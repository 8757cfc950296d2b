"""A cloze made on pages alone: brought in, launched, filled by models, its texts made a study that judges score."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.models import Fill
from judges import runs
from reports.results import compute
from studies.models import Study
from tests.judges.conftest import sendable
from tests.judges.standin import StandIn
from tests.judges.test_cloze_round import PANEL, WRITERS, fill, members, score
from tests.studies.cloze.documents import SHOES

pytestmark = pytest.mark.django_db
NEW = {"template": "cloze", "title": "Seven Pairs", "organiser": "Us", "contact": "us@example.org", "language": "en"}


@pytest.fixture
def page(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("admin"))
    return client


def post_as_shown(page: Client, address: str, **changes: Any) -> None:
    """Send the form of the page as it stands there, but for the changes."""
    form = page.get(address).context["form"]
    fields = {field.html_name: field.value() for field in form if field.value() not in (None, False)}
    response = page.post(address, fields | {"seen": getattr(form, "seen_value", "")} | changes)
    assert response.status_code == 302, response.content.decode()


def launch(page: Client, study: Study) -> None:
    address = f"/studies/{study.slug}/launch/"
    shown = page.get(address).content.decode()
    names = dict(re.findall(r'<input type="hidden" name="(as_read|read-\w+)" value="(\w+)">', shown))
    page.post(address, names | {"action": "launch", "read": "yes"})
    study.refresh_from_db()
    assert study.state == Study.State.LIVE


def work(study: Study, standin: StandIn, names: tuple[str, ...], prompt: str) -> None:
    for judge in members(standin, names, prompt):
        assert runs.drain(runs.start(study, judge, by="tests")).state == "finished"


def test_from_the_cloze_to_totals_by_hand_on_pages_of_an_ordinary_study(page: Client, standin: StandIn) -> None:
    page.post("/studies/new/", NEW | {"cloze": SimpleUploadedFile("cloze.toml", SHOES.encode())})
    study = Study.objects.get()
    post_as_shown(page, f"/studies/{study.slug}/information/", pay="9 euro", minutes=40)
    launch(page, study)
    sendable(study)
    standin.reply = fill
    work(study, standin, WRITERS, "quiet-fill-whole")
    fills = list(Fill.objects.values_list("pk", flat=True))
    page.post("/admin/annotation/fill/", {"action": "derive", "_selected_action": fills})
    judged = Study.objects.exclude(pk=study.pk).get()
    post_as_shown(page, f"/studies/{judged.slug}/information/", pay="9 euro", minutes=40)
    post_as_shown(page, f"/studies/{judged.slug}/steps/new/consent/", title="Before you agree", text="You can stop.")
    launch(page, judged)
    sendable(judged)
    standin.reply = score
    work(judged, standin, PANEL, "quiet-judge")
    page.post(f"/studies/{judged.slug}/launch/", {"action": "close", "title": judged.title})
    judged.refresh_from_db()

    scores = compute(judged)["cloze_scores"]

    # Writer n gets n of 5 from every judge for every constraint, but the second 3 from the third judge. Every blank has
    # the same words but for the name of who wrote them, so all lie equally far from their middle, and surprise is 1.
    # A section is worth satisfied x (1 + 1), and there are three.
    totals = {row["participant"]: row["total"] for row in scores["participants"]}
    assert totals == pytest.approx({"writer-1": 3 * 2 / 5, "writer-2": 3 * 2 * (2 + 2 + 3) / 15, "writer-3": 18 / 5})
    assert [(row["participant"], row["rank"]) for row in scores["participants"]] == [
        *(("writer-3", 1), ("writer-2", 2), ("writer-1", 3))
    ]
    shown = page.get(f"/reports/{judged.slug}/figures/all/").content.decode()
    assert all(f"{total:.2f}" in shown for total in totals.values())
