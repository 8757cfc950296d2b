"""The public release of TTCW judged: what is public by every test, what is withheld named and in nobody's way."""

from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Response
from judges import catalogue, runs
from studies.models import Study

pytestmark = [pytest.mark.django_db, pytest.mark.data, pytest.mark.slow]


def test_thirty_six_public_stories_are_judged_by_fourteen_tests_and_twelve_are_named(
    release: Path, admin_client: Client
) -> None:
    call_command("replicate", "ttcw", data=release / "ttcw", json=True)
    study = Study.objects.get()

    run = runs.drain(runs.start(study, catalogue.make_stub_judge(), by="tests"))

    assert (run.state, run.n_planned, runs.count_calls(run)) == ("finished", 36 * 14, {"ok": 36 * 14})
    assert run.withheld == sorted(study.stories.filter(is_withheld=True).values_list("code", flat=True))
    assert len(run.withheld) == 12
    assert ", ".join(run.withheld) in admin_client.get(reverse("judges:run", args=[study.slug, run.pk])).text
    answers = Response.objects.filter(assignment__reading__run=run, outcome="answered")
    assert answers.count() == 36 * 14
    assert set(answers.values_list("value", flat=True)) == {"yes", "no"}
    assert not answers.filter(story__code__in=run.withheld).exists()
