"""A new role of a file of stories is recognised and offered, and what its cells say is a property of each story."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from studies.models import Provenance
from tests import factories
from tests.studies.story_import.files import CSV
from tests.studies.story_import.test_story_imports import make_draft


@pytest.mark.django_db
def test_its_column_is_recognised_offered_and_kept_of_each_story(client: Client) -> None:
    header, *rows = CSV.strip().splitlines()
    content = "\n".join([f"{header},Tone", *(f"{row},grim" for row in rows)])
    make_draft()
    client.force_login(factories.staff("designer"))
    file = SimpleUploadedFile("a.csv", content.encode())

    page = client.post(reverse("studies:new_story_import", args=["plums"]), {"file": file}, follow=True)
    form = page.context["form"]
    fields = {field.html_name: field.value() or "" for field in form}
    client.post(page.redirect_chain[-1][0], fields | {"bring_in": "yes"})

    assert '<option value="mood" selected>Mood of the story</option>' in page.text
    assert [values["mood"] for values in Provenance.objects.values_list("factors", flat=True)] == ["grim"] * len(rows)
