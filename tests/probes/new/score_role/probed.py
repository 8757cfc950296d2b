"""A new role of a file of scores is recognised, and what its cells say is kept of each score."""

import pytest
from django.test import Client

from annotation.models import Response
from judges.models import ScoreCard
from tests import factories
from tests.judges.laboratory.views.test_score_pages import upload

CONTENT = "story,value,Why\np1s1,1.5,It is so.\np1s2,2,\n"


@pytest.mark.django_db
def test_its_column_is_recognised_and_kept_of_each_score(client: Client) -> None:
    factories.study(n_stories=2, comparative=False)
    client.force_login(factories.staff("researcher"))

    client.post(upload(client, CONTENT)["Location"], {"bring_in": "yes"})

    assert ScoreCard.objects.get().n_scores == 2
    assert list(Response.objects.order_by("story__code").values_list("value", "rationale")) == [
        (1.5, "It is so."),
        (2.0, ""),
    ]
