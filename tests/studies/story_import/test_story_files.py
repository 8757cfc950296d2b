"""Files of stories: what is read of each kind, and every class of file that is refused with a sentence."""

import io
import json
import tracemalloc

import pytest

from studies.documents.reader import LARGEST_FILE
from studies.incoming_tables.errors import UnreadableFile
from studies.incoming_tables.formats import archives
from studies.incoming_tables.formats.delimited import split_lines
from studies.story_import.files import read_file, read_pasted
from tests.studies.story_import import files

TWO = ((2, ("s1", "Once.")), (3, ("s2", "Twice — “quoted”.")))
OLD = "This document is in an old format, or locked by a password."
MACROS = "The file has macros, which Quire does not open."
BOMB = files.archive_of({"a.txt": b"a" * 5_000_000})
REFUSED = {
    "too large": ("a.csv", b"a" * (LARGEST_FILE + 1), "The file is larger than 50 MB."),
    "empty": ("a.csv", b" \n", "The file is empty."),
    "header alone": ("a.csv", b"story,text\n", "There is a header and no row below it."),
    "another kind": ("a.pdf", b"%PDF-1.7", "Quire reads .csv, .tsv, .xlsx"),
    "not text": ("a.csv", bytes(range(256)), "“a.csv” is not text. Save it as .xlsx or as CSV."),
    "a zip called csv": ("a.csv", files.archive(a="x"), "“a.csv” is not text. Save it as .xlsx or as CSV."),
    "old document": ("a.docx", b"\xd0\xcf\x11\xe0" + b"\0" * 500, OLD + " Save it as .docx or as plain text."),
    "old workbook": ("a.xls", b"\xd0\xcf\x11\xe0" + b"\0" * 500, f"{OLD} Save it as .xlsx or as CSV."),
    "text that is none": ("a.txt", bytes(range(256)), "“a.txt” is not text. Save it as .docx or as plain text."),
    "workbook with macros by name": ("a.xlsm", files.workbook(["text"], ["Once."]), f"{MACROS} Save it as .xlsx"),
    "workbook with macros": (
        "a.xlsx",
        files.with_part(files.workbook(["text"], ["Once."]), "xl/vbaProject.bin", b"x"),
        "The file has macros",
    ),
    "workbook with entities": (
        "a.xlsx",
        files.with_part(files.workbook(["text"]), "xl/workbook.xml", b'<!DOCTYPE x [<!ENTITY a "aa">]><x>&a;</x>'),
        "The file is not an ordinary .xlsx file.",
    ),
    "no workbook": ("a.xlsx", files.archive(a="x"), "This is not an .xlsx workbook."),
    "damaged workbook": (
        "a.xlsx",
        files.with_part(files.workbook(["text"]), "xl/workbook.xml", b"<no"),
        "The workbook is damaged.",
    ),
    "document with macros": (
        "a.docx",
        files.with_part(files.word_file("Once."), "word/vbaProject.bin", b"x"),
        "The file has macros",
    ),
    "no document": ("a.docx", files.archive(a="x"), "This is not a .docx document."),
    "document with a table": ("a.docx", files.word_file("Once.", table=True), "The .docx document holds a table"),
    "damaged archive": ("a.zip", b"PK\x03\x04 and no more", "The archive is damaged."),
    "bomb": ("a.zip", BOMB, "The file was not read, because it unpacks to far more than its size"),
    "bomb in a workbook": (
        "a.xlsx",
        files.with_part(files.workbook(["text"]), "xl/media/a.xml", b" " * 9_000_000),
        "The file was not read, because it unpacks to far more than its size",
    ),
    "archive of something else": ("a.zip", files.archive_of({"a.pdf": "x"}), "“a.pdf” in the archive is not a .txt"),
    "archive in an archive": ("a.zip", files.archive_of({"b.zip": BOMB}), "“b.zip” in the archive is not a .txt"),
    "archive of nothing": ("a.zip", files.archive_of({"__MACOSX/a.txt": "x"}), "The archive holds no texts."),
    "bad document in an archive": ("a.zip", files.archive_of({"b.docx": "x"}), "“b.docx”: The archive is damaged."),
    "open quotation mark": ("a.csv", b'story,text\ns1,"Once\n', "Row 2 cannot be read"),
    "too many columns": (
        "a.csv",
        (",".join(f"c{n}" for n in range(301)) + "\nx\n").encode(),
        "There are more than 300",
    ),
    "too many cells": ("a.csv", b"text,source\nx" + b",1" * 300, "There are more than 300 columns."),
    "too many rows": ("a.csv", b"text\n" + b"x\n" * 20_001, "There are more than 20000 rows."),
    "not JSON": ("a.jsonl", b'{"text": "Once."}\n{"text"', "The file cannot be read: it is not JSON"),
    "deep JSON": ("a.json", b"[" * 100_000, "The file cannot be read: it is nested too deeply"),
    "JSON of numbers": ("a.json", b"[1, 2]", "Row 1 is not an object with named values."),
    "too many values in JSON": (
        "a.json",
        b"{" + b",".join(b'"%d":{}' % n for n in range(20_005)) + b"}",
        "The file cannot",
    ),
    "JSON that says twice": ("a.jsonl", b'{"text": "a", "text": "b"}', "Row 1 says “text” twice."),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_is_no_file_of_stories_is_refused_with_a_sentence(name: str) -> None:
    file, content, sentence = REFUSED[name]

    with pytest.raises(UnreadableFile) as error:
        read_file(file, content)

    assert str(error.value).startswith(sentence)


def test_a_bomb_is_noticed_while_it_is_unpacked_and_would_be_read_without_the_check(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(archives, "MOST_TIMES", 10**9)

    assert len(read_file("a.zip", BOMB).rows[0][1][2]) == 5_000_000


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "story,text\ns1,Once.\ns2,Twice — “quoted”.\n".encode()),
        ("a.csv", "\ufeffstory;text\r\ns1;Once.\r\ns2;Twice — “quoted”.\r\n".encode()),
        ("a.tsv", "story\ttext\ns1\tOnce.\ns2\tTwice — “quoted”.\n".encode("utf-16")),
        ("a.xlsx", files.workbook(["story", "text"], ["s1", "Once."], ["s2", "Twice — “quoted”."])),
    ],
)
def test_every_kind_of_table_reads_the_same(name: str, content: bytes) -> None:
    table = read_file(name, content)

    assert (table.columns, table.rows) == (("story", "text"), TWO)


def test_json_lines_are_rows_and_their_values_words() -> None:
    lines = [{"text": "Once.", "n": 1, "is": True}, {"text": "Twice.", "other": None}]

    table = read_file("a.jsonl", "\n".join(map(json.dumps, lines)).encode())

    assert table.columns == ("text", "n", "is", "other")
    assert table.rows == ((1, ("Once.", "1", "yes", "")), (2, ("Twice.", "", "", "")))


def test_an_archive_of_texts_is_a_row_for_each_with_its_folder() -> None:
    parts = {"b/two.docx": files.word_file("Twice.", "And again."), "a/one.txt": "Once.", "__MACOSX/a/._one.txt": "x"}

    table = read_file("a.zip", files.archive_of(parts))

    assert table.columns == ("folder", "file", "text")
    assert table.rows == ((1, ("a", "one", "Once.")), (2, ("b", "two", "Twice.\n\nAnd again.")))


def test_italics_of_a_document_are_kept_as_asterisks() -> None:
    import io

    import docx

    document = docx.Document()
    paragraph = document.add_paragraph("The ")
    for words in ("Perpe", "tua "):
        paragraph.add_run(words).italic = True
    paragraph.add_run("came up.")
    file = io.BytesIO()
    document.save(file)

    assert read_file("a.docx", file.getvalue()).rows[0][1][2] == "The *Perpetua* came up."


def test_a_table_of_windows_is_read_and_says_so() -> None:
    table = read_file("a.csv", "story,text\ns1,Café – “so”\n".encode("cp1252"))

    assert (table.rows[0][1][1], table.encoding) == ("Café – “so”", "cp1252")


def test_what_is_pasted_is_one_text_or_cells_with_their_header() -> None:
    assert read_pasted("Once, upon a time.\r\n\r\nIt ended.").rows == (
        (1, ("", "", "Once, upon a time.\n\nIt ended.")),
    )
    assert read_pasted("story\ttext\ns1\tOnce.").rows == ((2, ("s1", "Once.")),)
    with pytest.raises(UnreadableFile, match="Nothing was pasted"):
        read_pasted(" \n")


def test_a_table_is_not_held_again_in_four_bytes_a_letter() -> None:
    content = ("text,source\n" + f"“{'Once upon a time. ' * 300}”,Ann\n" * 400).encode()
    tracemalloc.start()
    try:
        table = read_file("a.csv", content)
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert len(table.rows) == 400
    assert peak < 6 * len(content), "the letters in two bytes, and once more in rows"


@pytest.mark.parametrize("words", ["a\r\nb\rc\n\nd", "\n", "", "a\u2028b\n", "a\r"])
def test_lines_end_where_the_reader_of_tables_expects_it(words: str) -> None:
    assert list(split_lines(words)) == list(io.StringIO(words, newline=""))
