"""A new column of the long file stands in every file of responses and in the codebook."""

import pytest
from django.test import Client

from tests import factories
from tests.reports import given


@pytest.mark.django_db
def test_the_column_is_in_the_files_and_in_the_codebook(client: Client) -> None:
    given.verdicts(given.closed_study(), {"E01": "ynyn"})
    client.force_login(factories.staff("researcher"))

    def lines(name: str) -> list[str]:
        return b"".join(client.get(f"/reports/plums/{name}.csv").streaming_content).decode().splitlines()

    assert "n_reasons" in lines("responses_long")[0]
    assert any(line.startswith("column,n_reasons,Signs of the reasons") for line in lines("codebook"))
