"""Where stories are compared or reviewed, each letter stands with the words that its story begins with."""

import pytest
from django.test import Client
from django.utils.html import strip_tags

from tests import factories
from tests.annotation.walk import answer_all, begin

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("page", "places"),
    [
        # In the ranking, and at each guess.
        ("s/ranking/", ["Story {letter} {opening} Read again", "Read again: Story {letter} {opening}"]),
        # Above what was said of each story, and at each guess.
        ("check/", ["Story {letter} {opening}", "Story {letter}: Item 1 {opening}"]),
    ],
)
def test_letters_stand_with_the_words_that_their_stories_begin_with(client: Client, page: str, places: list[str]):
    assignment = begin(client, factories.study())
    answer_all(client, assignment)

    shown = " ".join(strip_tags(client.get(f"/a/{assignment.code}/{page}").text).split())

    for letter, code in zip("ABCD", assignment.seat.order, strict=True):
        for place in places:
            assert place.format(letter=letter, opening=f"The {code} began. It went on. It ended.") in shown


def test_one_story_alone_needs_no_opening_words(client: Client):
    assignment = begin(client, factories.study(n_stories=1, comparative=False))

    assert "began." not in client.get(f"/a/{assignment.code}/check/").text
