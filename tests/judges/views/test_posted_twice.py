"""Forms of judges that are posted twice: one thing is made, and the second post leads where the first did."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from judges import catalogue
from judges.models import ConnectionTest, Endpoint, Judge, Prompt, Run
from tests import factories

pytestmark = pytest.mark.django_db

PROMPT = {"name": "mine", "version": "1", "protocol": "reasoning_first", "source": "own"}
TEMPLATE = {"template": "{{ stories }}\n{{ question }}\n{{ words }}"}
ENDPOINT = {
    "name": "far",
    "adapter": "openai",
    "base_url": "https://93.184.215.14/v1",
    "n_at_once": 4,
    "timeout_seconds": 60,
}


def forms(judge: Judge) -> list[tuple[str, str, str, dict[str, Any], Callable[[], int]]]:
    """Of each form who posts it, its page, where it is posted, with what, and how many there are of what it makes."""
    new_run, prompts = f"/studies/plums/runs/new/?judge={judge.pk}", "/studies/plums/prompts/new/"
    endpoint = f"/endpoints/{judge.endpoint_id}/"
    return [
        ("researcher", new_run, "/studies/plums/runs/new/", {"judge": judge.pk}, Run.objects.count),
        ("researcher", prompts, prompts, PROMPT | TEMPLATE, Prompt.objects.count),
        ("administrator", "/endpoints/new/", "/endpoints/new/", ENDPOINT, Endpoint.objects.count),
        ("administrator", endpoint, f"{endpoint}test/", {"model": "stub"}, ConnectionTest.objects.count),
    ]


def test_each_form_makes_one_and_leads_there_again(client: Client) -> None:
    factories.study(n_stories=2, n_items=1)
    staff = {role: factories.staff(role) for role in ("researcher", "administrator")}
    for role, page, address, fields, count in forms(catalogue.make_stub_judge()):
        client.force_login(staff[role])
        token = re.findall(r'name="once" value="(\w+)"', client.get(page).content.decode())[-1]
        before = count()

        first, second = (client.post(address, fields | {"once": token}) for _ in range(2))

        assert (first.status_code, second.status_code) == (302, 302), address
        assert second.headers["Location"] == first.headers["Location"], address
        assert count() == before + 1, address
