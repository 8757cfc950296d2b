"""A new fact of a study is held to the contract of all of them: `tests/studies/test_facts.py` goes through the list."""

import pytest
from django.test import Client
from django.urls import reverse

from studies.facts import PLAIN_FACTS
from studies.models import Study
from tests import factories
from tests.studies import test_facts


def test_the_contract_goes_through_it() -> None:
    assert "funder" in [fact.key for fact in PLAIN_FACTS]


@pytest.mark.django_db
def test_an_amendment_says_it_beside_the_other_facts() -> None:
    study = test_facts.launched(funder="The Plum Foundation", ethics_approval="The Plum Board")

    test_facts.amend(study, ethics_approval="The Pear Board")

    assert Study.objects.get(pk=study.pk).facts == {
        "ethics_approval": "The Pear Board",
        "funder": "The Plum Foundation",
    }


@pytest.mark.django_db
def test_an_applicant_and_a_designer_read_it(client: Client) -> None:
    study = test_facts.launched(funder="The Plum Foundation")
    client.force_login(factories.staff("designer"))

    assert "Funder" in client.get(reverse("designer:rater_information", args=[study.slug])).text
