"""Lists of the admin are filtered by what they declare."""

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
LISTS = [
    reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist") for model in admin.site._registry
]


@pytest.mark.parametrize("query", ["pk__regex=[", "id__regex=(a%2B)%2B$", "id__gt=1", "nothing=1", "pk__in=x"])
@pytest.mark.parametrize("address", LISTS)
def test_a_list_takes_no_lookup_that_it_does_not_declare(admin_client: Client, address: str, query: str) -> None:
    answer = admin_client.get(f"{address}?{query}")

    assert answer.status_code in (302, 400), "refused, or sent back to the list"


@pytest.mark.parametrize(
    "query", ["code__regex=[", "study__slug__regex=(a%2B)%2B$", "study__id__exact=%00", "kind__iregex=["]
)
def test_raters_cannot_be_looked_up_by_patterns(admin_client: Client, query: str) -> None:
    factories.rater(factories.study())

    assert admin_client.get(reverse("admin:annotation_rater_changelist") + f"?{query}").status_code in (302, 400)


@pytest.mark.parametrize("address", LISTS)
def test_every_filter_that_a_list_offers_works(admin_client: Client, address: str) -> None:
    factories.assignment(factories.study())
    page = admin_client.get(address)
    changes = page.context["cl"]

    queries = [
        choice["query_string"]
        for spec in changes.filter_specs
        for choice in spec.choices(changes)
        if "query_string" in choice
    ]
    answers = [admin_client.get(address + query) for query in queries]
    assert [answer.status_code for answer in answers] == [200] * len(queries)


def test_the_list_of_raters_is_filtered(admin_client: Client) -> None:
    first, second = factories.study(), factories.study("other")
    mine, _ = factories.rater(first), factories.rater(second)

    page = admin_client.get(
        reverse("admin:annotation_rater_changelist") + f"?study__id__exact={first.pk}&kind__exact=person"
    )

    assert list(page.context["cl"].queryset) == [mine]
