"""How files are read: what is guessed, what can be chosen, and what a table says of both."""

import json
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

import openpyxl
import pytest

from studies.incoming_tables import cautions
from studies.incoming_tables.errors import UnreadableFile
from studies.incoming_tables.files import read_file
from studies.incoming_tables.problems import InvalidRow, ProblemGroup, group_problems
from studies.incoming_tables.readings import ReadingChoices
from studies.incoming_tables.tables import IncomingTable
from studies.story_import.files import STORIES
from tests.studies.story_import import files

LINES = ["id{0}text{0}source", '1{0}"Once{0} twice."{0}Ann', "2{0}Thrice.{0}Bo"]
ROWS = [("1", "Once{0} twice.", "Ann"), ("2", "Thrice.", "Bo")]


def read(name: str, content: str | bytes, **choices: Any) -> IncomingTable:
    data = content if isinstance(content, bytes) else content.encode()
    return read_file(name, data, STORIES, ReadingChoices(**choices))


def cells_of(table: IncomingTable) -> list[tuple[str, ...]]:
    return [cells for _n, cells in table.rows]


@pytest.mark.parametrize("sign", ["|", ",", ";", "\t"])
@pytest.mark.parametrize("above", ["", "Stories of the spring term\n\n", "Exported by Ann\nin May\n"])
def test_the_sign_between_columns_is_found_below_titles_too(sign: str, above: str) -> None:
    table = read("a.csv", above + "\n".join(LINES).format(sign))

    assert table.columns == ("id", "text", "source")
    assert cells_of(table) == [tuple(cell.format(sign) for cell in row) for row in ROWS]
    assert table.reading.choices.delimiter == sign
    assert ("header_row" in table.reading.unsure) == bool(above)


@pytest.mark.parametrize(
    ("above", "header_row"), [("Spring term,,\n,,\n", 3), ("Spring,,\nAnn's,,\n", 3), ("", 1), ("\n\n", 3)]
)
def test_the_row_of_the_header_is_guessed_and_rows_keep_their_numbers(above: str, header_row: int) -> None:
    table = read("a.csv", above + "id,text,source\n1,Once.,Ann\n2,Twice.,Bo\n")

    assert table.reading.choices.header_row == header_row
    assert [n for n, _cells in table.rows] == [header_row + 1, header_row + 2]


@pytest.mark.parametrize("header", [",text", "text,source,tier", "id,text,source,,,"])
def test_a_header_with_gaps_is_no_title(header: str) -> None:
    width = header.count(",") + 1

    table = read("a.csv", f"{header}\n" + f"{','.join(['1'] * width)}\n" * 3)

    assert table.reading.choices.header_row == 1
    assert not table.reading.unsure


def test_a_table_without_a_header_and_one_with_another_are_read_as_chosen() -> None:
    content = "1,Once.,Ann\n2,Twice.,Bo\n3,Thrice.,Cy\n"

    without, second = read("a.csv", content, header_row=0), read("a.csv", content, header_row=2)

    assert without.columns == ("column 1", "column 2", "column 3")
    assert len(without.rows) == 3
    assert (second.columns, second.rows) == (("2", "Twice.", "Bo"), ((3, ("3", "Thrice.", "Cy")),))


@pytest.mark.parametrize(
    ("encoding", "guess"), [("cp1252", "cp1252"), ("mac-roman", "cp1252"), ("cp1251", "cp1252"), ("gb18030", "")]
)
def test_an_encoding_is_guessed_and_can_be_chosen(encoding: str, guess: str) -> None:
    word = {"cp1251": "Жила-была", "gb18030": "从前"}.get(encoding, "Café")
    content = f"id,text\n1,{word}\n".encode(encoding)

    guessed, chosen = read("a.csv", content), read("a.csv", content, encoding=encoding)

    assert cells_of(chosen) == [("1", word)]
    assert (chosen.encoding, chosen.reading.choices.encoding) == ("utf-8", encoding)
    assert "encoding" in guessed.reading.unsure
    assert guessed.encoding == (guess or guessed.encoding) != "utf-8"
    with pytest.raises(UnreadableFile, match="cannot be read as UTF-8"):
        read("a.csv", content, encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "content", "quoting"),
    [
        ("a.csv", 'id,text\n1,"She said ""once"", twice."\n', "doubled"),
        ("a.csv", 'id,text\n1,"She said \\"once\\", twice."\n', "backslash"),
        ("a.tsv", 'id\ttext\n1\t"She said" "once", twice.\n', "none"),
    ],
)
def test_how_quotation_marks_are_written_is_guessed(name: str, content: str, quoting: str) -> None:
    table = read(name, content)

    assert table.reading.choices.quoting == quoting
    assert ("quoting" in table.reading.unsure) == (quoting != "doubled")
    assert "".join(cells_of(table)[0][1].replace('"', "")) == "She said once, twice."


def test_backslashes_before_other_letters_stay() -> None:
    table = read("a.csv", 'id,text\n1,"A \\"b\\" c\\nd \\\\ e"\n')

    assert cells_of(table) == [("1", 'A "b" c\\nd \\ e')]


def test_longer_rows_make_the_table_wider_and_are_marked() -> None:
    table = read("a.csv", "id,text\n1,Once.\n2,Twice, and again, and so on.\n3,Thrice.,,\n")

    assert table.columns == ("id", "text", "column 3", "column 4")
    assert table.overlong == (3,)
    assert "delimiter" in table.reading.unsure


def workbook(**rows_by_sheet: list[list[object]]) -> bytes:
    import io

    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in rows_by_sheet.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


TABLE: list[list[object]] = [["id", "text"], ["s1", "Once."], ["s2", "Twice."]]


@pytest.mark.parametrize(
    ("sheets", "chosen", "is_sure"),
    [
        ({"README": [["Read this."], ["And this."]], "Stories": TABLE}, "Stories", True),
        ({"Empty": [], "Stories": TABLE}, "Stories", True),
        ({"First": TABLE, "Second": TABLE}, "First", False),
        ({"Texts": [["text"], ["Once."]]}, "Texts", True),
    ],
)
def test_the_sheet_that_holds_a_table_is_read(sheets: dict[str, Any], chosen: str, is_sure: bool) -> None:
    table = read("a.xlsx", workbook(**sheets))

    assert (table.reading.choices.sheet, table.reading.sheets) == (chosen, tuple(sheets))
    assert ("sheet" in table.reading.unsure) == (not is_sure)


def test_another_sheet_with_a_title_is_read_as_chosen() -> None:
    content = workbook(First=TABLE, Second=[["Stories of May"], [], ["text", "source"], ["Once.", "Ann"]])

    table = read("a.xlsx", content, sheet="Second")

    assert (table.columns, table.rows) == (("text", "source"), ((4, ("Once.", "Ann")),))


def test_hidden_rows_and_cut_cells_are_pointed_at() -> None:
    import io

    book = openpyxl.Workbook()
    for row in (["id", "text"], ["s1", "Once."], ["s2", "x" * 32_767], ["s3", "é" * 32_766]):
        book.active.append(row)
    book.active.row_dimensions[2].hidden = True
    file = io.BytesIO()
    book.save(file)

    found = list(cautions.find_cautions(read("a.xlsx", file.getvalue()), ["text"]))

    assert [(caution.rows, caution.column) for caution in found] == [((2,), ""), ((3,), "text")]


def test_a_cell_is_as_long_as_excel_counts() -> None:
    assert cautions.is_cut("😀" + "x" * 32_765)
    assert not cautions.is_cut("😀" + "x" * 32_766)


NESTED = [
    ({"meta": {"source": "Ann", "of": {"tier": 1}}}, {"meta.source": "Ann", "meta.of.tier": "1"}),
    ({"a": {"b": {"c": {"d": 2}}}}, {"a.b.c": '{"d": 2}'}),
    ({"label": ["good", "short"], "Comments": []}, {"label": "good; short", "Comments": ""}),
    ({"options": [{"id": "Y"}], "n": [1, None, True]}, {"options": '[{"id": "Y"}]', "n": "1; ; yes"}),
]


@pytest.mark.parametrize(("value", "cells"), NESTED)
@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_what_is_nested_becomes_columns_and_lists_of_words_are_joined(
    name: str, value: dict[str, Any], cells: dict[str, str]
) -> None:
    entry = json.dumps({"text": "Once.", **value})

    table = read(name, entry if name.endswith("l") else f"[{entry}]")

    assert dict(zip(table.columns, cells_of(table)[0], strict=True)) == {"text": "Once."} | cells


ONE, TWO = {"text": "Once.", "model": "A"}, {"text": "Twice.", "model": "B"}


@pytest.mark.parametrize(
    ("document", "columns", "sheet"),
    [
        ({"s1": ONE, "s2": TWO}, ("id", "text", "model"), ""),
        ({"s1": ONE | {"id": "x"}, "s2": TWO}, ("key", "text", "model", "id"), ""),
        ({"stories": [ONE, TWO]}, ("text", "model"), "stories"),
        ({"version": 2, "notes": ["a"], "stories": [ONE, TWO]}, ("text", "model"), "stories"),
        ({"data": {"stories": [ONE, TWO]}}, ("text", "model"), "data.stories"),
        ({"raters": [{"name": "Cy"}], "stories": [ONE, TWO]}, ("text", "model"), "stories"),
    ],
)
def test_objects_by_their_id_or_in_a_key_are_rows(document: Any, columns: tuple[str, ...], sheet: str) -> None:
    table = read("a.json", json.dumps(document, indent=1))

    assert table.columns == columns
    assert [dict(zip(columns, cells, strict=True))["text"] for cells in cells_of(table)] == ["Once.", "Twice."]
    assert table.reading.choices.sheet == sheet


def test_of_several_lists_another_can_be_chosen() -> None:
    content = json.dumps({"raters": [{"name": "Cy"}], "stories": [ONE, TWO]})

    assert read("a.json", content).reading.unsure == ("sheet",)
    assert read("a.json", content, sheet="raters").columns == ("name",)


def test_a_line_is_a_row_though_it_holds_a_list_of_objects() -> None:
    table = read("a.jsonl", json.dumps({"text": "Once.", "options": [{"id": 1}, {"id": 2}]}))

    assert table.columns == ("text", "options")


@pytest.mark.parametrize(
    ("number", "cell"), [("NaN", ""), ("Infinity", "Infinity"), ("1e999", "1e999"), ("1.50", "1.5")]
)
@pytest.mark.parametrize("form", ['[{{"text": "Once.", "n": {0}}}]', '{{"text": "Once.", "n": {0}}}'])
def test_numbers_that_json_does_not_know_are_cells(number: str, cell: str, form: str) -> None:
    assert cells_of(read("a.json", form.format(number))) == [("Once.", cell)]


def test_values_longer_than_the_window_are_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studies.incoming_tables.formats.json_values._WINDOW", 16)
    rows = [{"id": n, "text": "Once upon a time, " * n} for n in range(1, 40)]

    for name, content in (
        ("a.json", json.dumps(rows, indent=2)),
        ("a.jsonl", "\n".join(map(json.dumps, rows))),
        ("a.json", json.dumps({"of": "May", "stories": rows})),
        ("a.json", json.dumps({str(row["id"]): row | {"no": row["id"]} for row in rows})),
    ):
        table = read(name, content)
        at = table.columns.index("text")
        assert [cells[at] for cells in cells_of(table)] == [row["text"] for row in rows]


@pytest.mark.parametrize("document", ["[{0}, {0}]", '{{"stories": [{0}, {0}]}}', '{{"a": {0}, "b": {0}}}'])
def test_of_documents_longer_than_a_row_may_be_the_rows_are_read(
    document: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("studies.incoming_tables.formats.json_values._WINDOW", 16)
    monkeypatch.setattr("studies.incoming_tables.formats.json_values.LONGEST_VALUE", 64)

    assert len(read("a.json", document.format('{"text": "' + "x" * 40 + '"}')).rows) == 2
    with pytest.raises(UnreadableFile, match="has a row of more than"):
        read("a.json", document.format('{"text": "' + "x" * 80 + '"}'))


def test_a_table_beside_texts_says_what_they_are() -> None:
    parts: dict[str, str | bytes] = {
        "list.csv": "file,writer,plot\none.txt,Ann,sea\nb/two,Bo,sea\nlost,Cy,hill\n",
        "a/one.txt": "Once.",
        "b/two.docx": files.word_file("Twice."),
        "b/three.md": "Thrice.",
    }

    table = read("a.zip", files.archive_of(parts))
    without_folders = read("a.zip", files.archive_of({"t.jsonl": '{"name": "ONE", "by": "Ann"}', "one.txt": "Once."}))

    assert table.columns == ("folder", "text", "file", "writer", "plot")
    assert table.rows == (
        (2, ("a", "Once.", "one.txt", "Ann", "sea")),
        (3, ("", "", "b/two", "Bo", "sea")),
        (4, ("", "", "lost", "Cy", "hill")),
        (5, ("b", "Thrice.", str(PurePosixPath("b/three.md")), "", "")),
        (6, ("b", "Twice.", "b/two.docx", "", "")),
    )
    assert without_folders.rows == ((1, ("Once.", "ONE", "Ann")),)


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"a.csv": "x\n1\n", "b.csv": "x\n1\n", "one.txt": "Once."}, "The archive holds several tables"),
        ({"a.csv": "x,y\n1,2\n", "one.txt": "Once."}, "No column of “a.csv” names the texts of the archive"),
        ({"a.xlsx": "no workbook", "one.txt": "Once."}, "“a.xlsx”: "),
    ],
)
def test_a_table_that_fits_no_texts_is_refused(parts: dict[str, bytes | str], sentence: str) -> None:
    with pytest.raises(UnreadableFile, match=sentence):
        read("a.zip", files.archive_of(parts))


def test_an_archive_of_a_table_alone_is_that_table() -> None:
    assert read("a.zip", files.archive_of({"b.csv": "id,text\n1,Once.\n"})).columns == ("id", "text")


def test_many_problems_that_say_the_same_are_listed_as_one() -> None:
    many = [InvalidRow(f"a.csv: row {n}", "mark", f"“x{n}” is no number.") for n in range(2, 1_302)]
    other = InvalidRow("a.csv: row 3", "who", "nobody")

    listed = group_problems([many[0], other, *many[1:]])

    assert listed[1:] == [other]
    group = listed[0]
    assert isinstance(group, ProblemGroup)
    assert (group.n, group.column) == (1_300, "mark")
    assert group.location.startswith("a.csv: row 2, row 3, ")
    assert group_problems(many[:3]) == many[:3]


def test_what_was_chosen_stays_and_what_was_guessed_is_guessed_anew() -> None:
    resolved = ReadingChoices("utf-8", ",", "doubled", 3, "May")
    chosen = ReadingChoices(encoding="utf-8")

    assert chosen.changed_by(resolved, resolved) == chosen
    assert chosen.changed_by(resolved, ReadingChoices("utf-8", ";", "doubled", 3, "June")) == ReadingChoices(
        "utf-8", ";", sheet="June"
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "Spring\n\nid,text,source\n" + "1,Once.,Ann\n" * 4),
        ("a.csv", "HITId,WorkerId,Input.text\n" + "3X,A1,Once.\n" * 4),
        ("a.jsonl", '{"HITId": "3X", "WorkerId": "A1", "Input.text": "Once."}\n' * 4),
    ],
    ids=["title", "tool", "objects"],
)
def test_rows_that_are_too_many_are_refused_though_some_are_none_of_the_table(name: str, content: str) -> None:
    with pytest.raises(UnreadableFile, match="more than 3 rows"):
        read_file(name, content.encode(), replace(STORIES, most_rows=3))


def test_keys_of_lists_that_no_database_keeps_are_mended_and_only_the_longest_can_be_chosen() -> None:
    lists = {f"list {n}": [{"text": "Once."}] for n in range(100)}
    content = json.dumps({"\ud800": [{"text": "Twice."}, {"text": "Thrice."}], **lists})

    table = read("a.json", content)

    assert table.reading.choices.sheet == "\ufffd"
    assert len(table.reading.sheets) == 100
    assert cells_of(read("a.json", content, sheet="\ufffd")) == [("Twice.",), ("Thrice.",)]


def test_a_header_of_two_columns_above_texts_with_commas_is_no_title_but_unsure() -> None:
    table = read("a.csv", "id,text\n" + "1,Once, twice, and again.\n" * 3)

    assert table.columns[:2] == ("id", "text")
    assert len(table.rows) == len(table.overlong) == 3
    assert "header_row" in table.reading.unsure


def test_the_column_that_names_the_most_texts_of_an_archive_counts_and_no_other_as_many() -> None:
    texts = {f"{n}.txt": f"Story {n}." for n in (1, 2, 3)}
    most, tie = "like,file,id\n1,1.txt,1\n1,2.txt,2\n1,3.txt,3\n1,,\n", "file,like\n1,2\n2,3\n3,1\n"

    table = read("a.zip", files.archive_of({"a.csv": most, **texts}))

    assert [cells[0] for cells in cells_of(table)] == ["Story 1.", "Story 2.", "Story 3.", ""]
    with pytest.raises(UnreadableFile, match="and differ: file, like"):
        read("a.zip", files.archive_of({"a.csv": tie, **texts}))
