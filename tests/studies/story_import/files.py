"""Files as somebody might drop them."""

import io
import zipfile

import docx
import openpyxl

HEADER = "no,plot,fulltext,author_type,author,level"
CSV = f"""{HEADER}
a1,orchard,"The surveyor had a tripod, and a girl to hold the pole.","human, published",Manner A,upper
a2,orchard,The orchard had been in the family for three generations.,model,Manner C,middle
b1,harbour,For thirty-one years Daniel had guided ships.,"human, published",Manner A,upper
b2,harbour,The Perpetua came up out of the haze.,model,Manner C,middle
"""


def workbook(*rows: list[object]) -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def word_file(*paragraphs: str, table: bool = False) -> bytes:
    document = docx.Document()
    for words in paragraphs:
        document.add_paragraph(words)
    if table:
        document.add_table(1, 1)
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def archive(**parts: bytes | str) -> bytes:
    return archive_of(parts)


def archive_of(parts: dict[str, bytes | str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for name, part in parts.items():
            made.writestr(name, part)
    return file.getvalue()


def with_part(content: bytes, name: str, part: bytes) -> bytes:
    """The archive with one part more, or another one under that name."""
    with zipfile.ZipFile(io.BytesIO(content)) as old:
        parts = {entry: old.read(entry) for entry in old.namelist()}
    return archive_of(parts | {name: part})
