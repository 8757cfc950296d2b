"""A file of another tool is recognised among others of its suffix, and the page says what it is and what stays out."""

from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from studies.incoming_tables import uploads
from tests import factories
from tests.annotation.views.test_answer_import_pages import HOME

SAMPLE = Path("tests/studies/incoming_tables/samples/plum-survey.csv")


@pytest.mark.django_db
@pytest.mark.parametrize("is_known", [True, False])
def test_the_tool_s_file_is_read_by_its_own_format(client: Client, is_known: bool) -> None:
    factories.study(n_stories=2, comparative=False, state="closed")
    client.force_login(factories.staff("researcher"))
    content = SAMPLE.read_bytes() if is_known else SAMPLE.read_bytes().replace(b"Respondent no", b"number")

    page = client.post(HOME, {"file": SimpleUploadedFile("a.csv", content)}, follow=True)

    table = uploads.restore(page.context["row"])
    assert table.hints.get("roles", {}) == ({"Respondent no": "rater"} if is_known else {})
    assert table.find_left_out() == ({("Plum status", "rotten"): (3,)} if is_known else {})
    assert ("This is an export of Plum Survey" in page.content.decode()) is is_known
