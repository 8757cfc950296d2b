"""A new role of a file of answers is recognised and offered, stands in the mapping, and is kept of each answer."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.models import AnswerImport, Rater
from tests import factories
from tests.annotation.views.test_answer_import_pages import HOME, fields_of

CONTENT = "participant,story_id,item-1,Rater kind\nAnn,p1s1,yes,person\nbot,p1s1,no,model\n"


@pytest.mark.django_db
def test_its_column_is_recognised_offered_mapped_and_read(client: Client) -> None:
    factories.study(n_stories=2, comparative=False, state="closed")
    client.force_login(factories.staff("researcher"))

    address = client.post(HOME, {"file": SimpleUploadedFile("a.csv", CONTENT.encode())})["Location"]
    page = client.get(address).text
    client.post(address, fields_of(client, address) | {"bring_in": "yes"})

    assert '<option value="kind" selected>Person or model</option>' in page
    assert dict(Rater.objects.filter(code__in=["Ann", "bot"]).values_list("code", "kind")) == {
        "Ann": "person",
        "bot": "model",
    }
    assert 'kind = "Rater kind"\n' in AnswerImport.objects.get().mapping
