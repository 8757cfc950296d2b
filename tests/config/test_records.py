"""The records: rows and forms lead to their study, studies of one title are told apart, and operation is apart."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from studies.models import Study
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
OPERATION = "/admin/django_celery_beat/"
LISTS = ("studies_story", "studies_storygroup", "studies_protocolversion", "annotation_rater", "annotation_seat")


@pytest.mark.parametrize("model", LISTS)
def test_a_row_and_its_form_lead_to_the_study(admin_client: Client, model: str) -> None:
    factories.rater(factories.study())
    rows = admin_client.get(reverse(f"admin:{model}_changelist"))

    form = admin_client.get(reverse(f"admin:{model}_change", args=[rows.context["cl"].queryset.first().pk]))

    label = "Fourteen tests of a story (Live, plums)"
    assert f'<a href="/studies/plums/" title="{label}">plums</a>' in rows.content.decode()
    assert f'<a href="/studies/plums/">{label}</a>' in form.content.decode()


def test_the_list_of_studies_leads_to_their_pages(admin_client: Client) -> None:
    factories.study()

    html = admin_client.get(reverse("admin:studies_study_changelist")).content.decode()

    assert (
        '<a href="/studies/plums/" title="Fourteen tests of a story (Live, plums)">Fourteen tests of a story</a>'
        in html
    )


def test_who_may_not_open_the_study_has_no_link_to_it(client: Client) -> None:
    factories.rater(factories.study())
    client.force_login(factories.staff("steward"))

    answer = client.get(reverse("admin:annotation_invitation_changelist"))

    assert answer.status_code in (200, 403)
    assert 'href="/studies/plums/"' not in answer.content.decode()


def test_filters_and_selects_say_which_study_it_is(admin_client: Client) -> None:
    factories.study()
    Study.objects.create(slug="plums-2", title="Fourteen tests of a story")

    stories = admin_client.get(reverse("admin:studies_story_changelist")).content.decode()
    form = admin_client.get(reverse("admin:studies_story_add")).content.decode()

    assert "Fourteen tests of a story (Draft, plums-2)" in stories
    assert "Fourteen tests of a story (Draft, plums-2)" in form


def test_operation_is_listed_last_and_for_superusers_alone(admin_client: Client, client: Client) -> None:
    for_root = admin_client.get("/admin/records/")
    client.force_login(factories.staff("administrator"))
    for_administrator = client.get("/admin/records/").content.decode()

    assert [app["name"] for app in for_root.context["app_list"]][-1] == "Operation"
    assert OPERATION in for_root.content.decode()
    assert OPERATION not in for_administrator
    assert User.objects.filter(is_superuser=True).exists()
