"""A study is offered for the tool, and written as the tool takes it."""

import io
import zipfile

import pytest
from django.test import Client

from tests import factories


@pytest.mark.django_db
def test_a_study_is_offered_for_the_tool_and_written_for_it(admin_client: Client) -> None:
    study = factories.study(n_stories=2, state="closed")

    assert "Plum Desk" in admin_client.get(f"/reports/{study.slug}/exports/").content.decode()
    content = admin_client.get(f"/studies/{study.slug}/for/plum-desk.zip").content
    assert "tests.item-1" in zipfile.ZipFile(io.BytesIO(content)).read("questions.txt").decode()
