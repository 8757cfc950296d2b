"""Quotes: found in the story or refused, stored as the browser counts, marked among the story's runs."""

import json

import pytest
from django.utils.html import escape

from annotation.models import Response
from annotation.responses import quotes as quoting
from annotation.responses.quotes import Quote
from studies.items import InvalidAnswer
from studies.models import Item, Story
from studies.typography.paragraphs import number_paragraphs
from tests import factories, triggers
from tests.annotation.walk import HTMX, address, begin, give

TEXT = "One 🙂 and *two* here.\r\n\r\nThe *end* of *it*."


def test_a_passage_is_stored_with_its_place_counted_in_units_of_utf_16():
    given = ['{"paragraph": 1, "start": 7, "end": 14, "text": "and two"}', {"paragraph": 2, "text": "end of"}]

    assert quoting.read_quotes(given, TEXT) == [Quote(1, 7, 14, "and two"), Quote(2, 4, 10, "end of")]


@pytest.mark.parametrize(("start", "end"), [(6, 13), (0, 999)])
def test_a_passage_whose_place_was_counted_wrongly_stands_where_its_words_stand(start, end):
    given = [{"paragraph": 1, "start": start, "end": end, "text": "and two"}]

    assert quoting.read_quotes(given, TEXT) == [Quote(1, 7, 14, "and two")]


@pytest.mark.parametrize(
    "passage",
    [
        {"paragraph": 1, "start": 0, "end": 3, "text": "Two"},
        {"paragraph": 2, "start": 7, "end": 14, "text": "and two"},
        {"paragraph": 3, "start": 0, "end": 3, "text": "One"},
        {"paragraph": 1, "text": "*two*"},
        {"paragraph": 3, "text": "One"},
    ],
)
def test_a_passage_that_is_not_in_the_story_is_kept_without_a_place(passage):
    (quote,) = quoting.read_quotes([passage], TEXT)

    assert quote == Quote(passage["paragraph"], 0, 0, passage["text"])
    assert quoting.read_quotes(quoting.serialise_quotes([quote]), TEXT) == [quote]
    assert quoting.readable_quotes(quoting.serialise_quotes([quote])) == [quote]
    assert quoting.describe_lost([quote, Quote(1, 0, 3, "One")]).count("was not found") == 1


@pytest.mark.parametrize("raw", ["nonsense", "{}", "[1]", '{"paragraph": 1}', '{"paragraph": 1, "text": "\\u0000"}'])
def test_what_is_no_passage_at_all_is_refused(raw):
    with pytest.raises(InvalidAnswer):
        quoting.read_quotes([raw], TEXT)
    assert quoting.readable_quotes([raw]) == []


def test_the_same_passage_counts_once():
    passage = {"paragraph": 1, "start": 0, "end": 3, "text": "One"}

    assert quoting.read_quotes([passage, json.dumps(passage)], TEXT) == [Quote(1, 0, 3, "One")]


def test_quotes_are_marked_across_italics_and_the_first_owns_what_they_share():
    quotes = [Quote(1, 7, 14, "and two"), Quote(1, 11, 19, "two here")]

    first, second = quoting.mark_quotes(number_paragraphs(TEXT), quotes)

    stretches = [(s.quote, [(r.text, r.is_italic) for r in s.runs]) for s in first.stretches]
    assert stretches == [
        (0, [("One 🙂 ", False)]),
        (1, [("and ", False), ("two", True)]),
        (2, [(" here", False)]),
        (0, [(".", False)]),
    ]
    assert [s.quote for s in second.stretches] == [0]


@pytest.mark.parametrize("quotes", [[], [Quote(1, 0, 3, "One"), Quote(1, 2, 999, "")]])
def test_marking_loses_no_word(quotes):
    plain = number_paragraphs(TEXT)

    said = ["".join(r.text for s in p.stretches for r in s.runs) for p in quoting.mark_quotes(plain, quotes)]

    assert said == [p.words for p in plain] == ["One 🙂 and two here.", "The end of it."]


@pytest.fixture
def assignment(db, client):
    made = factories.study()
    with triggers.lifted():
        Story.objects.update(text=TEXT)
    return begin(client, made)


PASSAGE = '{"paragraph": 2, "start": 4, "end": 10, "text": "end of"}'


def test_a_quote_is_kept_with_the_answer_and_shown_and_marked_on_return(client, assignment):
    assert give(client, assignment, quotes=[PASSAGE]).status_code == 302

    assert Response.objects.get().quotes == [json.loads(PASSAGE)]
    page = client.get(address(assignment)).text
    assert '<mark><a href="#quote-tests-A-item-1-1"><i>end</i> of</a></mark>' in page
    assert "<blockquote" in page
    assert '<a href="#p2">' in page


@pytest.mark.parametrize("htmx", [True, False])
def test_a_quote_from_a_translated_page_holds_up_neither_the_answer_nor_its_neighbours(client, assignment, htmx):
    translated = '{"paragraph": 2, "start": 4, "end": 10, "text": "Ende von"}'

    saved = give(client, assignment, "no", quotes=[PASSAGE, translated], htmx=htmx)

    response = Response.objects.get()
    assert saved.status_code == (200 if htmx else 302)
    assert ("Ende von" in saved.text and "was not found in paragraph 2" in saved.text) is htmx
    assert (response.value, response.rationale != "") == ("no", True)
    assert response.quotes == [json.loads(PASSAGE), {"paragraph": 2, "text": "Ende von"}]
    assert client.get(address(assignment)).text.count("not found there") == 1


def test_a_quote_alone_is_kept_before_there_is_an_answer(client, assignment):
    saved = give(client, assignment, None, "", quotes=[PASSAGE], htmx=True)

    assert 'data-state="begun"' in saved.text
    assert Response.objects.get().quotes == [json.loads(PASSAGE)]


def test_where_no_reasons_are_asked_for_a_quote_is_ignored(client, assignment):
    with triggers.lifted():
        Item._base_manager.update(rationale="none", rationale_least=0)
        factories.freeze_anew(assignment.study)

    give(client, assignment, quotes=[PASSAGE])

    assert Response.objects.get().quotes == []


def test_a_conflict_shows_the_quotes_of_both_and_keeps_those_that_are_chosen(client, assignment):
    give(client, assignment, quotes=[PASSAGE])
    other = '{"paragraph": 2, "start": 0, "end": 3, "text": "The"}'

    conflict = client.post(address(assignment), {"base": 0, "quotes": [other]}, headers=HTMX)

    assert conflict.status_code == 409
    assert 'lang="en">end of</q>' in conflict.text
    assert 'lang="en">The</q>' in conflict.text
    assert f'name="quotes" value="{escape(other)}"' in conflict.text


def test_a_quote_costs_a_save_one_query_more(client, assignment, django_assert_num_queries):
    give(client, assignment)  # the protocol is in memory, and the story begun, from now on
    with django_assert_num_queries(9):
        give(client, assignment, quotes=[PASSAGE], base=1, htmx=True)


def test_a_passage_over_lines_is_found_in_verse_and_in_wrapped_prose() -> None:
    verse = "The ferry waits,\n    it never did\nwait for us."
    prose = "A man who had bought the greenhouse came on a Saturday, with his\ndaughter, and asked whether it was so."
    in_verse = {"paragraph": 1, "start": 10, "end": 22, "text": "waits,\n    i"}
    in_prose = {"paragraph": 2, "start": 61, "end": 73, "text": "his daughter"}
    as_stored_before = in_prose | {"text": "his\ndaughter"}

    found = quoting.read_quotes([in_verse, in_prose, as_stored_before], f"{verse}\n\n{prose}")

    assert [quote.text for quote in found] == ["waits,\n    i", "his daughter"]
    first = quoting.mark_quotes(number_paragraphs(f"{verse}\n\n{prose}"), found)[0]
    assert [run.text for stretch in first.stretches if stretch.quote for run in stretch.runs] == ["waits,\n    i"]
    assert first.css == "section-opening verse"


def test_a_passage_that_was_counted_when_verse_had_no_indents_still_stands_on_its_words():
    poem = "Before.\n\n    The ferry does not wait,\nit never did.\n\nAfter."
    passage = {"paragraph": 2, "start": 4, "end": 9, "text": "ferry"}

    assert quoting.read_quotes([passage], poem) == [Quote(2, 8, 13, "ferry")]

    _, verse, _ = quoting.mark_quotes(number_paragraphs(poem), [Quote(2, 4, 9, "ferry")])
    assert ["".join(r.text for r in s.runs) for s in verse.stretches if s.quote] == ["ferry"]
