"""Two stories in one row, as files of preferences have them: each is a story, and the row is their group."""

import json

import pytest

from studies.models import Provenance, StoryGroup
from studies.story_import import imports
from studies.story_import.columns import ColumnChoices, count_kind_values, guess_choices
from studies.story_import.files import read_file
from studies.story_import.sides import SideColumn, find_sides, find_texts_of_row
from tests.studies.story_import.test_story_imports import keep, looked_at, make_draft

WORDS = "The tide came in twice that morning, and nobody had told the gulls."


def guess(columns: list[str]) -> ColumnChoices:
    rows = [[f"{WORDS} {column} {n}" if "notes" not in column else str(n) for column in columns] for n in range(3)]
    lines = [dict(zip(columns, row, strict=True)) for row in rows]
    return guess_choices(read_file("a.jsonl", "\n".join(map(json.dumps, lines)).encode()))[0]


@pytest.mark.parametrize(
    ("columns", "texts"),
    [
        (["chosen", "rejected"], ("chosen", "rejected")),
        (["chosen_story", "rejected_story", "context"], ("chosen_story", "rejected_story")),
        (["responseA", "responseB"], ("responseA", "responseB")),
        (["story_1", "story_2", "notes_1"], ("story_1", "story_2")),
        (["human text", "model text"], ("human text", "model text")),
    ],
)
def test_columns_whose_names_are_opposites_are_two_stories(columns: list[str], texts: tuple[str, ...]) -> None:
    choices = guess(columns)

    assert tuple(choices.columns_of("text")) == texts
    assert choices.grouping == "row"


@pytest.mark.parametrize(
    "columns", [["story", "rejected"], ["essay_good", "letter_bad"], ["text", "chosen", "rejected"]]
)
def test_other_columns_are_one_story(columns: list[str]) -> None:
    assert len(guess(columns).columns_of("text")) == 1


def test_short_cells_are_no_stories() -> None:
    assert find_texts_of_row({"label_a": 6.0, "label_b": 7.0}) == ()


def test_columns_of_a_side_lose_its_name_where_every_side_has_one() -> None:
    sides = find_sides(["text_a", "text_b", "model_a", "model_b", "is_a_test", "likes_b"], ["text_a", "text_b"])

    assert sides == {"model_a": SideColumn("text_a", "model"), "model_b": SideColumn("text_b", "model")}
    assert find_sides(["text", "model"], ["text"]) == {}


PAIRS = "prompt,chosen_story,rejected_story,upvotes_chosen,upvotes_rejected\n" + "".join(
    f"P{n},{WORDS.replace(',', '')} chosen {n},{WORDS.replace(',', '')} rejected {n},50,{n}\n" for n in range(4)
)


@pytest.mark.django_db
def test_each_row_becomes_a_pair_whose_column_is_source_and_property() -> None:
    study = make_draft()

    imports.bring_in(keep(study, PAIRS, source_kind="amateur_writer"))

    assert study.stories.count() == 8
    for group in StoryGroup.objects.filter(study=study):
        rows = Provenance.objects.filter(story__groups=group).select_related("source", "story")
        assert {row.source.name for row in rows} == {"chosen_story", "rejected_story"}
        assert {row.factors["column"] for row in rows} == {"chosen_story", "rejected_story"}
        (n,) = {row.story.text[-1] for row in rows}
        assert {row.factors["upvotes"] for row in rows} == {"50", n}
        assert group.premise == f"P{n}"
    assert study.groups.count() == 4


@pytest.mark.django_db
def test_sources_of_both_sides_are_read_and_codes_of_rows_are_not() -> None:
    content = f"id,text_1,text_2,model_1,model_2\nr1,{'Once ' * 20}.,{'Twice ' * 20}.,Opus,Haiku\n"
    study = make_draft()

    row = keep(study, content, kinds={"Opus": "language_model", "Haiku": "language_model"})
    imports.bring_in(row)

    assert sorted(Provenance.objects.values_list("source__name", flat=True)) == ["Haiku", "Opus"]
    assert not [code for code in study.stories.values_list("code", flat=True) if "r1" in code]


@pytest.mark.django_db
def test_a_problem_of_one_of_the_stories_names_its_row_once() -> None:
    examination = looked_at(make_draft(), PAIRS.replace("P0", "P" * 1_000_001), source_kind="other")

    assert [problem.location for problem in examination.errors] == ["Row 2"]


def test_kinds_are_asked_of_the_columns_that_name_the_sources() -> None:
    table = read_file("a.csv", PAIRS.encode())
    choices, _unsure = guess_choices(table)

    assert count_kind_values(table, choices) == {"chosen_story": 4, "rejected_story": 4}
    choices.source = "Reddit"
    assert count_kind_values(table, choices) == {}


@pytest.mark.django_db
def test_a_table_may_not_hold_more_stories_than_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studies.documents.stories.MOST_ROWS", 7)

    (error,) = looked_at(make_draft(), PAIRS, source_kind="other").errors

    assert error.rows == ()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        ("upvotes,upvotes_chosen,upvotes_rejected", "Several columns are said to be the same: upvotes, upvotes_chosen"),
        ("n,premise_chosen,premise_rejected", "The name of the property “premise”"),
        ("n,text_chosen,text_rejected", "The name of the property “text”"),
    ],
)
def test_a_property_of_a_side_replaces_nothing_else(header: str, sentence: str) -> None:
    content = f"chosen_story,rejected_story,{header}\n{WORDS.replace(',', '')},{WORDS.replace(',', '')} No.,1,2,3\n"
    names = ["chosen_story", "rejected_story", *header.split(",")]
    roles = dict(zip(names, ["text", "text", "factor", "factor", "factor"], strict=True))

    errors = looked_at(make_draft(), content, roles=roles, source_kind="other").errors

    assert errors[0].sentence.startswith(sentence)


@pytest.mark.django_db
def test_both_stories_of_a_row_are_looked_at_for_typing_and_like_ends() -> None:
    lines = [f"The {n}th tide’s gulls came in. THE END.,The {n}th gulls of it left. THE END." for n in range(3)]
    content = "chosen_story,rejected_story\n" + "\n".join(lines)
    roles = dict.fromkeys(("chosen_story", "rejected_story"), "text")

    warnings = looked_at(make_draft(), content, roles=roles, source_kind="other", grouping="row").warnings

    told = [(warning.rows, warning.sentence.split(",")[0]) for warning in warnings]
    assert ((2, 3, 4), "Typing differs by source") in told
    assert ((2, 3, 4), "6 texts end in the same letters") in told
