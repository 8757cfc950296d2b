"""What stands before the first group."""

from collections.abc import Mapping
from typing import Any

from django.test import Client

from annotation.models import Assignment
from studies.models import Item, Step, Study
from tests import factories, triggers
from tests.annotation import walk

CONSENT = "/consent/"


def steps_around(study: Study) -> None:
    """Before the story step a text and a question asked once, and a question and a text at the end."""
    version = study.versions.get()
    for step in version.steps.order_by("-position"):
        if step.kind == Step.Kind.RATING:
            Step.objects.filter(pk=step.pk).update(position=step.position + 2)
    about = factories.instrument(f"{study.slug}-about", n_items=1, rationale="none", rationale_least=0)
    leave = factories.instrument(f"{study.slug}-leave", n_items=1, rationale="none", rationale_least=0)
    for position, key, instrument in (
        (2, "welcome", None),
        (3, "about", about),
        (10, "leave", leave),
        (11, "debrief", None),
    ):
        rating = {"kind": "rating", "instrument": instrument, "scope": "once"}
        said = rating if instrument else {"kind": "briefing", "text": f"Words of *{key}*."}
        Step.objects.create(version=version, position=position, key=key, title=key.title(), **said)


def check(client: Client, *, right: str = "no", options: Mapping[str, Any] | None = None) -> Assignment:
    """Come to a text and two questions about it, of which each has that right answer; the visit.

    options : how often the check can be tried, and what becomes of who fails it
    """
    study = factories.study(planned=False)
    steps_around(study)
    asked = factories.instrument("check", n_items=2, rationale="none", rationale_least=0)
    with triggers.lifted():
        Item._base_manager.filter(instrument=asked).update(settings={"correct": right}, title="")
    Step.objects.filter(key="about").update(instrument=asked, options=dict(options or {}))
    factories.plan(study)
    walk.come_in(client, study)
    client.post(CONSENT, {"agrees": "yes"})
    client.post("/briefing/welcome/")
    client.get("/once/about/")
    return Assignment.objects.get()
