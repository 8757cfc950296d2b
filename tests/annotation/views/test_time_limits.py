"""What a page says of the time that is left until the study closes."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from studies.models import Study
from tests import factories
from tests.annotation.walk import address, begin

pytestmark = pytest.mark.django_db
NOTICE = re.compile(r'<aside class="notice" data-from=[^>]*aria-label="Time"\s*(hidden)?>\s*([^<]+?)\s*</aside>')


@pytest.mark.parametrize(("minutes", "shown"), [(40, []), (25, ["30"]), (8, ["10"]), (1, ["2"])])
def test_it_is_said_thirty_ten_and_two_minutes_before_the_study_closes(
    client: Client, minutes: int, shown: list[str]
) -> None:
    assignment = begin(client, factories.study())
    Study.objects.update(closes_at=timezone.now() + timedelta(minutes=minutes))

    notices = NOTICE.findall(client.get(address(assignment)).text)

    assert [words.split()[2].partition("\N{NO-BREAK SPACE}")[0] for _, words in notices] == ["30", "10", "2"]
    assert [words.split()[2].partition("\N{NO-BREAK SPACE}")[0] for hidden, words in notices if not hidden] == shown


def test_nothing_is_said_of_a_study_without_an_end(client: Client) -> None:
    assignment = begin(client, factories.study())

    assert "time-limit" not in client.get(address(assignment)).text
