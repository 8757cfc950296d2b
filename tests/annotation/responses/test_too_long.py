"""More than anybody writes: refused with a sentence, and everything stays on the page."""

import pytest
from django.test import Client

from annotation.models import Response
from studies.items import InvalidAnswer
from studies.items.text import LONGEST
from tests import factories
from tests.annotation import clozes
from tests.annotation.walk import begin, give

pytestmark = pytest.mark.django_db
TOO_LONG = "word " * (LONGEST // 5) + "!"
FAULT = "This has 50001 characters and at most 50000 can be saved. Please shorten it; it stays on this page."


@pytest.mark.parametrize("htmx", [True, False])
def test_reasons_that_are_too_long_are_refused_and_stay_on_the_page(client: Client, htmx: bool) -> None:
    assignment = begin(client, factories.study())
    give(client, assignment, "no", "It was so.", htmx=True)

    answer = give(client, assignment, "yes", TOO_LONG, base=1, htmx=htmx)

    assert answer.status_code == 400
    assert FAULT in answer.content.decode()
    assert htmx or TOO_LONG in answer.content.decode(), "a page that htmx does not renew still has it in its field"
    response = Response.objects.get()
    assert (response.value, response.rationale) == ("no", "It was so.")


def test_as_much_as_is_allowed_is_taken(client: Client) -> None:
    assignment = begin(client, factories.study())

    assert give(client, assignment, "yes", TOO_LONG[:-1], htmx=True).status_code == 200

    assert Response.objects.get().rationale == TOO_LONG[:-1]


def test_an_answer_in_words_has_the_same_bound() -> None:
    assignment = clozes.assignment(clozes.study())

    with pytest.raises(InvalidAnswer, match="at most 50000"):
        clozes.say(assignment, 1, TOO_LONG)
    assert Response.objects.count() == 0
