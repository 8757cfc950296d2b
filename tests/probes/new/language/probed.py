"""A new language is offered to everybody, and a study in it is shown in it, with its dates."""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation

from annotation.templatetags.times import day_and_time
from studies.models import Study
from tests import factories, triggers
from tests.annotation import walk


@pytest.mark.django_db
def test_the_language_is_offered_and_shown(client: Client) -> None:
    home = client.get(reverse("annotation:home")).text
    study = factories.study()
    with triggers.lifted():
        Study.objects.update(language="pt")
    walk.come_in(client, study)

    page = client.get(reverse("annotation:consent")).text

    assert '<option value="pt" lang="pt">Português, tradução não revista</option>' in home
    assert '<html lang="pt"' in page
    assert "Prossegue</button>" in page
    assert 'data-locale="pt"' in page
    with translation.override("pt"):
        assert day_and_time(factories.NOON) == "2 de março de 2026, 12:00 UTC"
