"""What happens to a save whose session has ended."""

import pytest

from annotation.models import Response
from tests import factories
from tests.annotation.walk import begin, give

pytestmark = pytest.mark.django_db


def test_a_script_is_told_401_and_nothing_that_could_pass_for_success(client):
    assignment = begin(client, factories.study())
    client.session.flush()

    answer = give(client, assignment, htmx=True)

    assert (answer.status_code, answer.text) == (401, "Your session has ended.")
    assert not Response.objects.exists()


def test_without_a_script_what_was_written_is_given_back(client):
    assignment = begin(client, factories.study())
    client.session.flush()

    answer = give(client, assignment, "yes", "Long <b>reasons</b>.")

    assert answer.status_code == 401
    assert "Long &lt;b&gt;reasons&lt;/b&gt;." in answer.text
    assert "Open the link in your invitation once more" in answer.text
    assert not Response.objects.exists()
