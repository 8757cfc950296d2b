"""A new metric is offered in the admin, published as an instrument, and run."""

import io

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Response
from studies.models import Instrument, Story
from tests import factories, triggers


@pytest.mark.django_db
def test_the_metric_is_offered_published_and_run(admin_client: Client) -> None:
    assert '<option value="questions">Questions 1</option>' in admin_client.get(reverse("admin:judges_judge_add")).text
    factories.study()
    with triggers.lifted():
        Story.objects.filter(code="p1s1").update(text="Who? What?")
    out = io.StringIO()

    call_command("run_judges", "plums", "--metric", "questions", stdout=out)

    assert "questions-1 in plums: finished. 4 of 4 stories measured: 4 ok" in out.getvalue()
    assert Instrument.objects.get(slug="metric-questions").status == "published"
    assert Response.objects.get(story__code="p1s1").value == 2
