"""What single types promise beyond the contract."""

from typing import Any

import pytest
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from studies.items import InvalidDefinition, all_types, find_type
from studies.items.choice import AUTHOR_BY_OPTION
from studies.models import Source
from tests.studies.items.examples import FOUR, item, refusal

YES_NO = [{"value": "no", "label": "Nein"}, {"value": "yes", "label": "Ja"}]


def test_yes_and_no_speak_the_language_of_the_instrument() -> None:
    asked, binary = item(options=YES_NO), find_type("binary")

    assert (binary.clean(asked, "ja"), binary.label(asked, "no")) == ("yes", "Nein")
    assert refusal("binary", asked, "perhaps") == "Please answer “Ja” or “Nein”."
    assert binary.words(asked) == 'Answer "yes" (which means “Ja”) or "no" (which means “Nein”).'


def test_yes_stands_first_and_each_answer_has_its_letter_key() -> None:
    options = find_type("binary").context(item(options=YES_NO), name="answer")["options"]

    assert [(option["value"], option["letter"]) for option in options] == [("yes", "j"), ("no", "n")]


def test_labels_with_one_initial_have_no_letter_keys() -> None:
    asked = item(options=[{"value": "yes", "label": "True"}, {"value": "no", "label": "Tosh"}])

    assert [option["letter"] for option in find_type("binary").context(asked, name="answer")["options"]] == ["", ""]


@pytest.mark.parametrize(
    ("kind", "fields", "reason"),
    [
        (
            "binary",
            {"options": [{"value": "a", "label": "A"}, {"value": "b", "label": "B"}]},
            r'options: .* "yes" and "no"',
        ),
        ("binary", {"settings": {"correct": "maybe"}}, r"settings\.correct: “maybe” is not an option"),
        ("binary", {"settings": {"correct": True}}, r"settings\.correct: must be text, not True"),
        ("choice", {}, r"options: needs at least two"),
        (
            "choice",
            {"options": [{"value": "a", "label": "A"}, {"value": "b"}]},
            r"options\[1\]: needs exactly a value and",
        ),
        ("choice", {"options": [{"value": "a", "label": "A"}, {"value": "b", "label": " "}]}, r"options\[1\]\.label"),
        (
            "choice",
            {"options": [{"value": "a", "label": "A"}, {"value": "A ", "label": "B"}]},
            r"options\[1\]: “a” already",
        ),
        (
            "choice",
            {"options": [{"value": "a", "label": "x"}, {"value": "b", "label": "A"}]},
            r"options\[1\]: “a” already",
        ),
        ("scale", {"settings": {"low": 1}}, r"settings\.high: is missing"),
        ("scale", {"settings": {"low": True, "high": 5}}, r"settings\.low: must be a whole number, not True"),
        ("scale", {"settings": {"low": 5, "high": 1}}, r"settings\.high: a scale has 2 to 11 points"),
        ("scale", {"settings": {"low": 1, "high": 10**12}}, r"settings\.high: a scale has 2 to 11 points"),
        (
            "scale",
            {"settings": {"low": 1, "high": 5, "anchors": {"6": "Six"}}},
            r"settings\.anchors: '6' is not a point",
        ),
        ("scale", {"settings": {"low": 1, "high": 5, "anchors": {"1": 1}}}, r"settings\.anchors\.1: must be text"),
        ("scale", {"settings": {"low": 1, "high": 5}}, r"settings\.anchors: has no words for 1; a scale needs"),
        ("scale", {"settings": {"low": 1, "high": 5, "anchors": {"1": "a"}}}, r"settings\.anchors: has no words for 5"),
        (
            "scale",
            {"settings": {"low": 1, "high": 2, "anchors": {"1": "a", "2": "b"}, "anchors_analysed": {"1": "x"}}},
            r"unless analysed_reversed is true",
        ),
        ("scale", {"settings": {"low": 1, "high": 5}, "options": YES_NO}, r"options: this type offers no options"),
        ("text", {"settings": {"unit": "pages"}}, r'settings\.unit: must be "words" or "sentences"'),
        ("text", {"settings": {"least": -1}}, r"settings\.least: must be between"),
        ("text", {"settings": {"most_lines": 0}}, r"settings\.most_lines: must be between 1 and 1000"),
        ("pair", {"settings": {"no_difference": " "}}, r"settings\.no_difference: is empty"),
        ("multi", {"options": YES_NO, "settings": {"at_least": 3}}, r"settings\.at_least: must be between 0 and the 2"),
        (
            "multi",
            {"options": YES_NO, "settings": {"at_least": 2, "at_most": 1}},
            r"settings\.at_most: must be between 2",
        ),
        ("number", {"settings": {"low": 5, "high": 5}}, r"settings\.high: must be greater than low, which is 5"),
        ("number", {"settings": {"low": float("nan")}}, r"settings\.low: must be a number that a person could type"),
        ("number", {"settings": {"high": float("inf")}}, r"settings\.high: must be a number that a person could type"),
        ("number", {"settings": {"low": True}}, r"settings\.low: must be a number, not True"),
        ("spans", {"settings": {"at_most": 3}}, r"settings\.at_most: not a setting of this type; it has none"),
        ("ranking", {"settings": {"ties": "yes"}}, r"settings\.ties: must be true or false, not 'yes'"),
    ],
)
def test_a_definition_that_cannot_be_asked_is_refused(kind: str, fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidDefinition, match=reason):
        find_type(kind).check(item(**fields))


def test_a_right_answer_is_known_only_where_one_is_set() -> None:
    asked, binary = item(settings={"correct": "no"}), find_type("binary")

    assert [binary.is_correct(asked, "no"), binary.is_correct(asked, "yes"), binary.is_correct(item(), "yes")] == [
        True,
        False,
        None,
    ]


def test_lines_are_counted_where_there_is_a_most_and_blank_ones_are_not() -> None:
    asked, text = item(settings={"most_lines": 2}), find_type("text")

    assert text.clean(asked, "one\n\n \ntwo\n") == "one\n\n \ntwo\n"
    assert text.clean(item(), "1\n2\n3") == "1\n2\n3"
    assert refusal("text", asked, "1\n2\n3") == "Please write at most 2 lines. So far there are 3."
    assert refusal("text", item(settings={"most_lines": 1}), "1\r\n2").startswith("Please write one line only.")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "Answer with text."),
        ({"least": 3}, "Answer with text of at least 3 words."),
        ({"most_lines": 5}, "Answer with text of at most 5 lines."),
        (
            {"least": 2, "unit": "sentences", "most_lines": 1},
            "Answer with text of at least 2 sentences and of one line.",
        ),
    ],
)
def test_a_model_is_told_how_much_text_is_asked_for(settings: dict[str, Any], said: str) -> None:
    assert find_type("text").words(item(settings=settings)) == said


HUMAN_LIKENESS = item(
    settings={
        "low": 1,
        "high": 5,
        "anchors": {"1": "Very Likely Human", "5": "Very Likely LLM"},
        "analysed_reversed": True,
        "anchors_analysed": {"1": "LLM", "5": "human"},
    }
)


def test_a_scale_keeps_what_was_shown_and_turns_what_is_analysed() -> None:
    scale = find_type("scale")
    scale.check(HUMAN_LIKENESS)

    assert scale.clean(HUMAN_LIKENESS, "5") == 5
    assert [scale.analysed(HUMAN_LIKENESS, shown) for shown in (1, 2, 3, 4, 5)] == [5, 4, 3, 2, 1]
    assert [scale.label(HUMAN_LIKENESS, shown) for shown in (1, 3)] == ["1 (Very Likely Human)", "3"]


def test_every_point_of_a_scale_is_told_with_its_anchor() -> None:
    html = find_type("scale").field(HUMAN_LIKENESS).widget.render("answer", 2)

    assert html.count('type="radio"') == 5 + 1  # and the empty one for browsers without script
    assert 'value="2" checked' in html
    assert '<span class="visually-hidden">Very Likely LLM</span>' in html


def test_a_text_that_is_too_short_is_saved_and_only_blocks_submission() -> None:
    asked, text = item(settings={"least": 3, "unit": "words"}), find_type("text")

    assert text.clean(asked, "too short") == "too short"
    assert text.shortfall(asked, "too short") == "Please write at least 3 words. So far there are 2."
    assert text.shortfall(asked, "long enough now") == ""
    assert text.shortfall(item(), "x") == ""


@pytest.mark.parametrize("unstorable", ["a\x00b", "half \ud83d"])
def test_a_text_that_no_database_can_keep_is_refused(unstorable: str) -> None:
    assert "cannot be stored" in refusal("text", item(), unstorable)


@given(st.text().filter(lambda text: "\x00" not in text))
def test_a_text_is_stored_exactly_as_written(text: str) -> None:
    assert find_type("text").clean(item(), text) == text


THREE = [{"value": "style", "label": "Style"}, {"value": "plot", "label": "Plot"}, {"value": "end", "label": "Ending"}]


def test_several_options_are_kept_in_the_order_of_the_item() -> None:
    multi, asked = find_type("multi"), item(options=THREE)

    raw = multi.from_form(QueryDict("signs=end&signs=style"), "signs")

    assert multi.clean(asked, raw) == ["style", "end"]
    assert multi.label(asked, ["style", "end"]) == "Style; Ending"


def test_too_few_options_block_submission_and_too_many_are_refused() -> None:
    multi, asked = find_type("multi"), item(options=THREE, settings={"at_least": 2, "at_most": 2})

    assert multi.clean(asked, ["plot"]) == ["plot"]
    assert multi.shortfall(asked, ["plot"]) == "Please choose at least 2."
    assert multi.shortfall(asked, ["plot", "end"]) == ""
    assert refusal("multi", asked, ["style", "plot", "end"]) == "Please choose at most 2."


@pytest.mark.parametrize(
    ("settings", "raw", "reason"),
    [
        ({"low": 0, "high": 80}, "81", "Please give a number from 0 to 80."),
        ({"low": 0, "integer": True}, "2.5", "Please give a whole number of at least 0."),
        ({"high": 1.5}, "2", "Please give a number of at most 1.5."),
        ({}, "3,5", "Please give a number. Write decimals with a point."),
        ({}, "9" * 16, "Please give a number."),
        ({}, float("nan"), "Please give a number."),
        ({}, float("-inf"), "Please give a number."),
    ],
)
def test_a_number_out_of_bounds_is_refused_with_the_bounds(settings: dict[str, Any], raw: Any, reason: str) -> None:
    assert refusal("number", item(settings=settings), raw) == reason


def test_whole_numbers_are_stored_whole() -> None:
    number, asked = find_type("number"), item(settings={"integer": True, "unit": "years"})

    assert [repr(number.clean(asked, raw)) for raw in ("3", 3, 3.0)] == ["3", "3", "3"]
    assert repr(number.clean(item(), "3")) == "3.0"
    assert number.label(asked, 3) == "3 years"


@given(value=st.integers(-(10**15), 10**15) | st.floats(-(10**15), 10**15))
def test_any_number_survives_its_label_exactly(value: float) -> None:
    number = find_type("number")
    stored = number.clean(item(), value)

    assert number.clean(item(), number.label(item(), stored)) == stored


def test_a_passage_can_be_typed_without_script() -> None:
    spans = find_type("spans")
    posted = QueryDict("images_story=B&images_paragraph=2&images_text=rain+on+glass")

    raw = spans.from_form(posted, "images", stories=FOUR[:2])

    assert spans.clean(item(), raw, stories=FOUR[:2]) == [{"story": "B", "paragraph": 2, "text": "rain on glass"}]


def test_one_story_by_itself_need_not_be_named() -> None:
    spans, passage = find_type("spans"), {"paragraph": 2, "start": 0, "end": 4, "text": "rain"}

    assert spans.clean(item(), [passage], stories=FOUR[:1]) == [passage]
    assert spans.clean(item(), [passage]) == [passage]
    assert spans.label(item(), [passage]) == "¶ 2 “rain”"


def test_a_kept_passage_is_a_ticked_box_that_can_be_unticked_without_script() -> None:
    html = find_type("spans").field(item()).widget.render("images", [{"paragraph": 2, "text": "<i>rain</i>"}])

    assert 'type="checkbox" name="images"' in html
    assert "<i>" not in html


@pytest.mark.parametrize(
    "passage",
    [
        {"paragraph": 1, "text": "a", "start": 5, "end": 5},
        {"paragraph": 1, "text": "a", "start": -1, "end": 5},
        {"paragraph": 10**7, "text": "a"},
        {"paragraph": 1, "text": "a\x00"},
        {"paragraph": 1, "text": "a" * 20_001},
        "[" * 100_000,
    ],
    ids=lambda passage: str(passage)[:40],
)
def test_a_passage_that_cannot_be_is_refused(passage: Any) -> None:
    refusal("spans", item(), [passage])


def test_a_type_says_what_reports_can_take_of_its_answers() -> None:
    kinds = all_types().values()

    assert [kind.name for kind in kinds if kind.is_verdict] == ["binary"]
    assert [kind.name for kind in kinds if kind.chooses_story] == ["pair"]
    assert [kind.name for kind in kinds if kind.gives_order] == ["ranking"]
    assert all(kind.about_stories for kind in kinds if kind.chooses_story or kind.gives_order)


@pytest.mark.parametrize(
    ("values", "authors"),
    [
        (["expert", "ai"], {"expert": "expert_writer", "ai": "language_model"}),
        (["amateur_writer", "other"], {"amateur_writer": "amateur_writer", "other": "other"}),
        (["expert", "yes"], {}),
    ],
)
def test_a_choice_whose_options_all_name_authors_asks_who_wrote_it(values: list[str], authors: dict[str, str]) -> None:
    options = [{"value": value, "label": value} for value in values]

    assert find_type("choice").author_by_option(item(options=options)) == authors
    assert set(AUTHOR_BY_OPTION.values()) == set(Source.Kind.values)


def test_no_other_type_asks_who_wrote_it() -> None:
    options = [{"value": "expert", "label": "Expert"}, {"value": "ai", "label": "AI"}]

    others = [kind for kind in all_types().values() if kind.name != "choice"]

    assert [kind.name for kind in others if kind.author_by_option(item(options=options))] == []
