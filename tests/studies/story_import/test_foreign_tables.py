"""Tables as other programs write them: signs between columns, hints, long and doubled headers, halves of signs."""

import io
from typing import Any

import openpyxl
import pytest

from annotation.answer_import.column_map import parse_mapping
from annotation.answer_import.files import read_answers
from studies.incoming_tables.rows import read_each
from studies.incoming_tables.tables import LONGEST_COLUMN
from studies.story_import.files import read_file, read_pasted
from tests.studies.story_import.test_story_imports import looked_at, make_draft

LONG = "How far do you agree with each of these statements about the story that you have just read? "


@pytest.mark.parametrize("sign", [";", ",", "\t"])
def test_signs_inside_quotation_marks_part_nothing(sign: str) -> None:
    other = {";": ",", ",": ";", "\t": ","}[sign]
    header = ["id", f'"Story{other} as pasted{other} unedited"', f'"Name{other} surname"']
    rows = [
        [str(n), f'"The tide came in{other} twice. {other * n} Nobody told the gulls."', "AB"[n - 1]] for n in (1, 2)
    ]
    content = "\n".join(sign.join(row) for row in [header, *rows])

    table = read_file("a.csv", content.encode())

    assert table.columns == tuple(cell.strip('"') for cell in header)
    assert [cells for _n, cells in table.rows] == [tuple(cell.strip('"') for cell in row) for row in rows]


def test_excels_hint_is_no_header() -> None:
    table = read_file("a.csv", b"sep=;\r\nid;text\r\n1;Once, twice.\r\n")

    assert (table.columns, table.rows) == (("id", "text"), ((2, ("1", "Once, twice.")),))


def test_excels_unicode_text_is_a_table_and_a_text_of_one_column_is_a_text() -> None:
    rows = "id\ttext\tsource\r\n1\tOnce; twice, thrice.\tA\r\n2\tNever.\tB\r\n"

    table = read_file("stories.txt", rows.encode("utf-16"))
    text = read_file("story.txt", b"Once.\n\n\tTwice.\n")

    assert table.columns == ("id", "text", "source")
    assert table.rows[0] == (2, ("1", "Once; twice, thrice.", "A"))
    assert [cells for _n, cells in text.rows] == [("", "story", "Once.\n\n\tTwice.\n")]


def test_headers_alike_for_eighty_letters_are_two_columns() -> None:
    table = read_file("a.csv", f'who,"{LONG}[Wit]","{LONG}[Truth]"\nann,4,5\n'.encode())

    assert table.columns == ("who", f"{LONG}[Wit]", f"{LONG}[Truth]")


def test_a_mapping_names_a_long_header_in_full() -> None:
    mapping = f'[rater]\ncolumn = "who"\n[story]\ncolumn = "story"\n[[answers]]\nvalue = "{LONG}[Wit]"\nitem = "wit"\n'

    assert parse_mapping(mapping, "map.toml").answers[0].value == f"{LONG}[Wit]"


def test_a_column_that_stands_twice_is_numbered() -> None:
    named = read_file("a.csv", b"text,Comments,Comments,Comments\nOnce.,x,y,z\n")
    endless = read_file("b.csv", f"text,{'x' * 600},{'x' * 600}\nOnce.,1,2\n".encode())

    assert named.columns == ("text", "Comments", "Comments (2)", "Comments (3)")
    assert endless.columns[1:] == ("x" * LONGEST_COLUMN, "x" * LONGEST_COLUMN + " (2)")


@pytest.mark.django_db
@pytest.mark.parametrize("cell", [r'"The end \ud83d."', r'"The \u0000 end."', r'["whole", "cut \ude42"]'])
def test_a_cell_that_no_database_keeps_is_a_problem_of_its_row_where_its_column_counts(cell: str) -> None:
    content = f'{{"text": "A whole \\ud83d\\ude42 one."}}\n{{"text": {cell}}}\n'.encode()
    unwanted = f'{{"text": "Once.", "note\\ud83d": {cell}}}'.encode()

    problems = looked_at(make_draft(), content, "a.jsonl", **SOMEBODY).errors
    table = read_file("b.jsonl", unwanted)

    assert [(problem.rows, problem.column) for problem in problems] == [((2,), "text")]
    assert [way_out.act for way_out in problems[0].ways_out] == [("leave", 2)]
    assert table.columns == ("text", "note\ufffd")
    assert not looked_at(make_draft("pears"), unwanted, "b.jsonl", **SOMEBODY).errors


@pytest.mark.parametrize("cell", [r'"cut \ud83d"', r'["whole", "cut \ud83d"]'])
def test_half_a_sign_in_a_cell_of_answers_is_a_fault_of_its_row_where_its_column_is_read(cell: str) -> None:
    table = read_answers("a.jsonl", f'{{"who": "ann", "why": {cell}}}\n{{"who": "bob", "why": "so"}}'.encode())

    rows, problems = read_each(table, ["why"], lambda row: [row.cell("why")])
    others, none = read_each(table, ["who"], lambda row: [row.cell("who")])

    assert (rows, [problem.location for problem in problems]) == (["so"], ["a.jsonl: row 1"])
    assert (others, none) == (["ann", "bob"], [])


@pytest.mark.parametrize("sign", ['"', "\r", "x"])
def test_a_hint_that_names_no_sign_between_columns_is_a_row_above_the_header(sign: str) -> None:
    table = read_file("a.csv", f"sep={sign}\nid,text\n1,Once.\n".encode())

    assert table.columns == ("id", "text")
    assert "header_row" in table.reading.unsure


def test_line_ends_as_a_workbook_spells_them_are_line_ends() -> None:
    sheet = openpyxl.Workbook()
    sheet.active.append(["id", "text"])
    sheet.active.append(["s1", "Once._x000D_\nTwice _x005F_x000D_."])
    file = io.BytesIO()
    sheet.save(file)

    ((_n, cells),) = read_file("a.xlsx", file.getvalue()).rows

    assert cells == ("s1", "Once.\r\nTwice _x000D_.")


SOMEBODY = {"source": "Somebody", "source_kind": "expert_writer"}


def warnings(content: str, **choices: Any) -> dict[str, tuple[int, ...]]:
    everything = {"source": "Somebody", "source_kind": "expert_writer"} | choices
    return {problem.sentence: problem.rows for problem in looked_at(make_draft(), content, **everything).warnings}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("<p>Once. </p><p>one &amp; two</p>", "Once. \n\none & two"),
        ("Once.\\n\\nTwice.", "Once.\n\nTwice."),
        ("Once.<newline><newline>Twice.", "Once.\n\nTwice."),
        ("Once.<br/>She said &quot;two&quot;, <em>softly</em>.", 'Once.\nShe said "two", softly.'),
    ],
)
def test_marks_of_other_programs_are_shown_by_row_and_can_be_made_paragraphs(text: str, plain: str) -> None:
    choices = {"source": "Somebody", "source_kind": "expert_writer"}
    escaped = text.replace('"', '""')
    content = f'text\n"{escaped}"\nA plain one: 3 < 4 & so on.\n'

    (problem,) = (p for p in looked_at(make_draft(), content, **choices).warnings if "another program" in p.sentence)
    made = looked_at(make_draft("pears"), content, **choices, normalisations=["markup"])

    assert problem.rows == (2,)
    assert [way.act for way in problem.ways_out] == [("normalise", "markup")]
    assert made.collection is not None
    assert {story.text for story in made.collection.stories} == {plain, "A plain one: 3 < 4 & so on."}
    assert not [p for p in made.warnings if "another program" in p.sentence]


@pytest.mark.django_db
def test_texts_that_hold_their_source_or_end_alike_are_pointed_at() -> None:
    rows = [f'{n};"Text {n} of the tide."";A";"Model {n % 2 + 1}"' for n in range(6)]
    rows[0] = '0;"I am Model 1, said the tide."";A";"Model 1"'
    found = warnings("id;text;writer\n" + "\n".join(rows), source="")

    assert [numbers for sentence, numbers in found.items() if "name of its source" in sentence] == [(2,)]
    assert [numbers for sentence, numbers in found.items() if "same letters" in sentence] == [(2, 3, 4, 5, 6, 7)]


@pytest.mark.django_db
def test_a_short_name_counts_after_a_sign_between_columns_alone() -> None:
    found = warnings('text,writer\n"A tide came. "";A",A\n"A second tide came to A.",A\n', source="")

    assert [numbers for sentence, numbers in found.items() if "name of its source" in sentence] == [(2,)]


def test_what_is_pasted_is_parted_like_a_file() -> None:
    assert read_pasted("text\tsource\nOnce, twice; thrice.\tA").columns == ("text", "source")
