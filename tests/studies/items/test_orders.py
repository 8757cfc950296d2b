"""What rankings and choices between two stories promise beyond the contract."""

from typing import Any

import pytest
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from studies.items import find_type
from tests.studies.items.examples import FOUR, item, refusal

TWO = FOUR[:2]


def test_a_ranking_reads_the_positions_that_a_form_posts() -> None:
    posted = QueryDict("order_A=4&order_B=1&order_C=2&order_D=3")
    ranking = find_type("ranking")

    raw = ranking.from_form(posted, "order", stories=FOUR)

    assert ranking.clean(item(), raw, stories=FOUR) == [["B"], ["C"], ["D"], ["A"]]


def test_a_ranking_reads_an_ordered_list_that_a_form_posts() -> None:
    ranking = find_type("ranking")

    raw = ranking.from_form(QueryDict("order=D&order=B&order=A&order=C"), "order", stories=FOUR)

    assert ranking.clean(item(), raw, stories=FOUR) == [["D"], ["B"], ["A"], ["C"]]


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ({"A": "1", "B": "1", "C": "3", "D": "4"}, "A and B share a position; please give each its own."),
        ({"A": "1", "B": "2", "C": "", "D": "4"}, "Still without a position: C. Please give each its own."),
        ({"A": "1", "B": "2", "C": "3", "D": "5"}, "Positions go from 1 to 4; please correct that of D."),
        (["A", "B", "C"], "Still without a position: D. Please give each its own."),
        (["A", "B", "C", "A"], "A is in the order twice; please name each once."),
        (["A", "B", "C", "E"], "“E” is not one of the stories; please name A, B, C or D."),
        (["A", "B", "C", 4], "Please name the stories by their letters: A, B, C or D."),
    ],
)
def test_a_ranking_that_omits_or_doubles_a_story_is_refused_by_name(raw: Any, reason: str) -> None:
    assert refusal("ranking", item(), raw, FOUR) == reason


def test_ties_are_kept_where_they_are_allowed() -> None:
    asked, ranking = item(settings={"ties": True}), find_type("ranking")
    tied = [["B"], ["A", "D"], ["C"]]

    assert ranking.clean(asked, {"A": 2, "B": 1, "C": 4, "D": 2}, stories=FOUR) == tied
    assert ranking.clean(asked, [["B"], ["D", "A"], "C"], stories=FOUR) == tied
    assert ranking.clean(asked, ranking.label(asked, tied), stories=FOUR) == tied
    assert ranking.label(asked, tied) == "B > A = D > C"
    assert refusal("ranking", asked, [["A"], ["A", "B"], ["C", "D"]], FOUR).startswith("A is in the order twice")


def test_stories_stand_in_reading_order_until_they_are_ranked() -> None:
    ranking = find_type("ranking")

    unranked = ranking.context(item(), name="order", stories=FOUR)["rows"]
    ranked = ranking.context(item(), name="order", stories=FOUR, value=[["C"], ["A"], ["D"], ["B"]])["rows"]

    assert [(row["story"].letter, row["position"]) for row in unranked] == [(x, None) for x in "ABCD"]
    assert [(row["story"].letter, row["position"]) for row in ranked] == [("C", 1), ("A", 2), ("D", 3), ("B", 4)]


@given(order=st.permutations("ABCD"))
def test_any_order_survives_its_label_and_its_form(order: list[str]) -> None:
    ranking, value = find_type("ranking"), [[letter] for letter in order]
    positions = {letter: str(order.index(letter) + 1) for letter in "ABCD"}

    assert ranking.clean(item(), ranking.label(item(), value), stories=FOUR) == value
    assert ranking.clean(item(), positions, stories=FOUR) == value


def test_no_difference_is_an_answer_only_where_it_is_offered() -> None:
    pair, offered = find_type("pair"), item(settings={"no_difference": "Kein Unterschied"})

    assert pair.clean(offered, "kein unterschied", stories=TWO) == "none"
    assert pair.label(offered, "none") == "Kein Unterschied"
    assert refusal("pair", item(), "none", TWO) == "“none” is not one of the stories; please name A or B."


def test_a_story_called_none_cannot_be_mistaken_for_no_difference() -> None:
    with pytest.raises(ValueError, match="none"):
        find_type("pair").renamed("A", {"A": "none", "B": "s2"})


def test_the_page_is_told_where_ties_are_allowed() -> None:
    field = find_type("ranking").field

    assert "data-ties" in field(item(settings={"ties": True}), stories=FOUR).widget.render("order", None)
    assert "data-ties" not in field(item(settings={"ties": False}), stories=FOUR).widget.render("order", None)
