"""Before anything comes in: texts that tell their source, rows that a table marks, and many problems as one."""

import pytest

from studies.incoming_tables import uploads
from studies.models import Study
from studies.story_import import imports
from studies.story_import.columns import restore_choices
from studies.story_import.problems import examine
from tests.studies.story_import.test_story_imports import keep, looked_at, make_draft

pytestmark = pytest.mark.django_db
KINDS = {"kinds": {"Opus 4": "language_model", "Maria Keller": "expert_writer"}}


def rows_of_warnings(lines: list[str], part: str) -> list[tuple[int, ...]]:
    study = Study.objects.filter(slug="plums").first() or make_draft()
    examination = looked_at(study, "text|source\n" + "\n".join(lines), **KINDS)
    return [problem.rows for problem in examination.warnings if part in problem.sentence]


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("A letter from Maria Keller came.", True),
        ("Written in the manner of “Maria Keller”", True),
        ("maria keller is how nobody writes it.", False),
        ("Maria Kellers came.", False),
        ("Maria came, and Keller.", False),
    ],
)
def test_a_text_that_names_another_source_of_the_file_is_pointed_at(text: str, is_named: bool) -> None:
    rows = rows_of_warnings([f"{text}|Opus 4", "Once.|Maria Keller", "Twice.|Opus 4"], "name of another source")

    assert rows == ([(2,)] if is_named else [])


@pytest.mark.parametrize(
    ("told", "plain", "part"),
    [
        ("Story {}. I hope that you like it!", "Story {} of a house.", "end with"),
        ("Sure, here is your story: it begins {}.", "Story {} of a house.", "begin with"),
        ('"{} went.\nTHE END"', "{} of a house.", "end with"),
    ],
)
def test_texts_of_one_source_that_begin_or_end_alike_are_pointed_at(told: str, plain: str, part: str) -> None:
    names = ("Anna", "Berta", "Cecil", "Dora")
    by_opus = [f"{told.format(name)}|Opus 4" for name in names]
    by_maria = [f"{plain.format(name * (n + 2))} {n * 7}|Maria Keller" for n, name in enumerate(names)]
    both = [f"{told.format(name * 2)}|Maria Keller" for name in names]

    assert rows_of_warnings([*by_opus, *by_maria], part) == [(2, 3, 4, 5)]
    assert rows_of_warnings([*by_opus, *both], part) == []


def test_marks_of_a_workbook_in_a_text_are_shown_and_can_be_made_line_ends() -> None:
    content = 'text\n"Once._x000D_\nTwice."\n'
    choices = {"source": "Ann", "source_kind": "other"}

    (warning,) = (p for p in looked_at(make_draft(), content, **choices).warnings if "another program" in p.sentence)
    made = looked_at(make_draft("pears"), content, **choices, normalisations=["markup"])

    assert warning.rows == (2,)
    assert made.collection is not None
    assert made.collection.stories[0].text == "Once.\nTwice."


def test_rows_that_are_too_long_are_an_error_that_goes_with_them() -> None:
    row = keep(make_draft(), "text,source\nOnce.,Ann\nTwice, and more,Ann,2\n", source_kind="other")
    table, choices, contents = uploads.restore(row), restore_choices(row.choices), imports.read_contents(row.study)

    (error,) = examine(table, choices, contents).errors

    assert (error.rows, error.ways_out[0].act) == ((3,), ("leave", 3))
    imports.take_way_out(choices, error.ways_out[0].act)
    assert not examine(table, choices, contents).errors


def test_many_codes_that_stand_twice_are_one_problem_with_one_way_out() -> None:
    lines = [f"s{n // 2},Story number {n}.,Ann" for n in range(40)]
    row = keep(make_draft(), "story,text,source\n" + "\n".join(lines), source_kind="other")
    table, choices, contents = uploads.restore(row), restore_choices(row.choices), imports.read_contents(row.study)

    (error,) = examine(table, choices, contents).errors

    assert error.rows == tuple(range(3, 42, 2))
    assert {way_out.act[0] for way_out in error.ways_out} == {"codes", "leave"}
    imports.take_way_out(choices, error.ways_out[0].act)
    assert not examine(table, choices, contents).errors


def test_suggestions_that_differ_are_taken_together() -> None:
    names = ["orchard", "harbour", "mountain", "lighthouse", "cathedral"]
    lines = [f"s{n}{k},{name}{'s' * (k == 2)},Story {n} {k}.,Ann" for n, name in enumerate(names) for k in range(3)]
    row = keep(make_draft(), "story,group,text,source\n" + "\n".join(lines), source_kind="other")
    table, choices, contents = uploads.restore(row), restore_choices(row.choices), imports.read_contents(row.study)

    (warning,) = (p for p in examine(table, choices, contents).warnings if "group of one" in p.sentence)
    (way_out,) = warning.ways_out
    imports.take_way_out(choices, [way_out.act[0], *map(list, way_out.act[1:])])

    assert choices.merged == {f"{name}s": name for name in names}
    for nonsense in (["all"], ["all", ["all", ["codes"]]], ["all", "codes"]):
        with pytest.raises(ValueError, match="all"):
            imports.take_way_out(choices, nonsense)
