"""Opening pages of judges, and doing what their buttons do."""

import re

from django.contrib.auth.models import User
from django.test import Client

from judges.models import Run
from tests import factories


def page(client: Client, role: str, address: str, *, status: int = 200, **headers: str) -> str:
    user = User.objects.filter(username=role or "helper").first() or factories.staff(role)
    client.force_login(user)
    response = client.get(address, headers=headers)
    assert response.status_code == status, address
    return response.content.decode()


def act(client: Client, run: Run, action: str, **values: str) -> str:
    """The page after a researcher did that to the run."""
    client.force_login(User.objects.filter(username="researcher").first() or factories.staff("researcher"))
    return client.post(f"/studies/plums/runs/{run.pk}/{action}/", values, follow=True).content.decode()


def words(html: str) -> str:
    """What a page says, without its tags."""
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())
