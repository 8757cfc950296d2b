"""More than anybody writes: refused with a sentence, and everything stays on the page."""

from itertools import product

import pytest
from django.test import Client

from annotation.models import Response
from studies.items import InvalidAnswer
from studies.items.text import MOST_BYTES, excess_length
from tests import factories
from tests.annotation import clozes
from tests.annotation.walk import address, begin, give

pytestmark = pytest.mark.django_db
# Of one byte to four in UTF-8.
LETTERS = ("a", "é", "愛", "🙂")


def as_much_as_fits(letter: str) -> str:
    """Exactly as many bytes as are taken, filled up with ASCII."""
    n, rest = divmod(MOST_BYTES, len(letter.encode()))
    return letter * n + "." * rest


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("htmx", [True, False])
def test_reasons_that_are_too_long_are_refused_and_stay_on_the_page(client: Client, letter: str, htmx: bool) -> None:
    assignment = begin(client, factories.study())
    give(client, assignment, "no", "It was so.", htmx=True)
    reasons = as_much_as_fits(letter) + letter * 3

    answer = give(client, assignment, "yes", reasons, base=1, htmx=htmx)

    assert answer.status_code == 400
    assert excess_length(reasons) in answer.content.decode()
    assert htmx or reasons in answer.content.decode(), "a page that htmx does not renew still has it in its field"
    response = Response.objects.get()
    assert (response.value, response.rationale) == ("no", "It was so.")


@pytest.mark.parametrize("letter", LETTERS)
def test_as_much_as_is_allowed_is_taken(client: Client, letter: str) -> None:
    assignment = begin(client, factories.study())
    reasons = as_much_as_fits(letter)

    assert give(client, assignment, "yes", reasons, htmx=True).status_code == 200

    assert Response.objects.get().rationale == reasons


def test_line_breaks_count_as_they_are_stored_and_not_as_they_are_sent(client: Client) -> None:
    assignment = begin(client, factories.study())
    reasons = "a\n" * (MOST_BYTES // 2)

    assert give(client, assignment, "yes", reasons.replace("\n", "\r\n"), htmx=True).status_code == 200

    assert Response.objects.get().rationale == reasons


@pytest.mark.parametrize("letter", LETTERS)
def test_an_answer_in_words_has_the_same_bound(letter: str) -> None:
    assignment = clozes.assignment(clozes.study())
    text = as_much_as_fits(letter)

    with pytest.raises(InvalidAnswer):
        clozes.say(assignment, 1, text + letter)
    assert Response.objects.count() == 0

    clozes.say(assignment, 1, text)

    assert Response.objects.get().value == text


def test_what_is_asked_about_all_stories_has_the_same_bound(client: Client) -> None:
    assignment = begin(client, factories.study())
    letters = "ABCDEFGH"[: len(assignment.seat.order)]
    for letter, item in product(letters, (1, 2)):
        give(client, assignment, item=item, letter=letter)
    reasons = as_much_as_fits("愛") + "愛"
    places = {f"answer-ranking-item-1_{letter}": place for place, letter in enumerate(letters, start=1)}

    answer = client.post(address(assignment, "ranking", letter=""), {"rationale": reasons, "base": 0} | places)

    assert answer.status_code == 400
    assert not Response.objects.filter(step__key="ranking").exists()


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("n", [1, 12])
def test_the_sentence_counts_characters_and_no_bytes(letter: str, n: int) -> None:
    text = as_much_as_fits(letter)

    sentence = excess_length(text + letter * n)

    assert [word for word in sentence.split() if word.isdigit()] == [str(len(text) + n), str(n)]
    assert not excess_length(text), "what is cut by as many characters is taken"
