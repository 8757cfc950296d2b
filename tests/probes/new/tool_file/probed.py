"""A file of another tool is recognised among others of its suffix, and its columns need no mapping."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from tests import factories
from tests.annotation.views.test_answer_import_pages import HOME

CONTENT = "Plum Survey\nexported today\nRespondent no,story,item-1\nAnn,p1s1,yes\n"


@pytest.mark.django_db
@pytest.mark.parametrize(("content", "is_known"), [(CONTENT, True), (CONTENT.split("\n", 2)[2], False)])
def test_the_tool_s_file_is_read_by_its_own_format(client: Client, content: str, is_known: bool) -> None:
    factories.study(n_stories=2, comparative=False, state="closed")
    client.force_login(factories.staff("researcher"))

    page = client.post(HOME, {"file": SimpleUploadedFile("a.csv", content.encode())}, follow=True)

    assert page.context["form"].table.columns[1:] == ("story", "item-1")
    assert (page.context["form"]["role-0"].value() == "rater") is is_known
    assert page.context["is_ready"] is is_known
