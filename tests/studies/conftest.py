"""What tests of studies' pages share: somebody who is signed in."""

import pytest
from django.test import Client

from tests import factories


@pytest.fixture
def designer(client: Client) -> Client:
    """The browser of a designer."""
    client.force_login(factories.staff("designer"))
    return client
