"""Stories with prompt and votes, or with a score: CSV or JSON lines, read strictly, row by row.

A file may be larger than memory: nothing is held but the row at hand.
"""

import csv
import json
import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from studies.documents import reader
from studies.documents.errors import DocumentError, InvalidValue, quote
from studies.documents.reader import FieldReader
from studies.vocabulary import SourceKind

SUFFIXES = (".csv", ".jsonl")
LATEST = 1e11  # seconds; what is more, or no number at all, is none
_WHOLE = re.compile(r"[+-]?\d{1,15}")


@dataclass(frozen=True)
class RatedStory:
    """One row. story : its key, or one made of the number of its row; posted : seconds since 1970, UTC"""

    story: str
    prompt: str
    text: str
    upvotes: int
    posted: float
    source: str
    source_kind: str
    url: str
    licence: str


@dataclass(frozen=True)
class ScoredStory:
    """One row. story : its key, or one made of the number of its row"""

    story: str
    prompt: str
    text: str
    score: float
    source: str
    source_kind: str
    url: str
    licence: str


def _read_whole_number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str) or not _WHOLE.fullmatch(str(value).strip()):
        raise InvalidValue(f"{quote(value)} is no whole number; write digits alone, such as 37")
    return int(value)


def read_moment(value: Any) -> float:
    """Seconds since 1970 of a date, a date with a time, or such seconds. A time without a zone is UTC."""
    way_out = "write a date such as 2021-03-14 or 2021-03-14T09:26:53Z, or seconds since 1970"
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LATEST:
        return float(value)
    if not isinstance(value, str):
        raise InvalidValue(f"{quote(value)} is no date; {way_out}")
    words = value.strip()
    if re.fullmatch(r"\d{9,11}(?:\.\d+)?", words):
        return float(words)
    try:
        moment = datetime.fromisoformat(words)
    except ValueError:
        raise InvalidValue(f"{quote(value)} is no date; {way_out}") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _read_words(value: Any) -> str:
    words = reader.text(value).strip()
    if not words:
        raise InvalidValue("is empty; fill it, or leave the row out")
    return words


def read_score(value: Any) -> float:
    try:
        number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InvalidValue(f"{quote(value)} is no number; write one such as .73")
    return number


_STORY: Mapping[str, FieldReader] = {"prompt": _read_words, "text": _read_words}
_VOTES: Mapping[str, FieldReader] = {**_STORY, "upvotes": _read_whole_number, "date": read_moment}
_SCORES: Mapping[str, FieldReader] = {**_STORY, "score": read_score}
_OPTIONAL: Mapping[str, FieldReader] = {
    "story": reader.code,
    "source": reader.line(200),
    "source_kind": reader.one_of(*SourceKind.values),
    "url": reader.url,
    "licence": reader.line(200),
}
COLUMNS = (*_VOTES, *_OPTIONAL)
UNNAMED = "Writers who are not named"


def read_rated_stories(path: Path) -> Iterator[RatedStory]:
    """Every story of the file with its votes, in its order. Raises DocumentError with row and column at a fault.

    Further columns are passed over. Rows are counted as a spreadsheet does: the header of a CSV is row 1.
    """
    for values in _read_rows(path, _VOTES):
        yield RatedStory(upvotes=values["upvotes"], posted=values["date"], **_story(values))


def read_scored_stories(path: Path) -> Iterator[ScoredStory]:
    """Every story of the file with its score, in its order. Raises DocumentError as `read_rated_stories`."""
    for values in _read_rows(path, _SCORES):
        yield ScoredStory(score=values["score"], **_story(values))


def _story(values: Mapping[str, Any]) -> dict[str, str]:
    """What every story has."""
    return {
        "story": values["story"],
        "prompt": " ".join(values["prompt"].split()),
        "text": values["text"],
        "source": values.get("source", UNNAMED),
        "source_kind": values.get("source_kind", SourceKind.OTHER),
        "url": values.get("url", ""),
        "licence": values.get("licence", ""),
    }


def _read_rows(path: Path, needed: Mapping[str, FieldReader]) -> Iterator[dict[str, Any]]:
    """The values of every row, typed, each with the key of its story, which no two have."""
    read_cells = {".csv": _csv_rows, ".jsonl": _jsonl_rows}.get(path.suffix.lower())
    if read_cells is None:
        raise DocumentError(path, "name", f"does not end in {' or '.join(SUFFIXES)}; save it as one of these")
    row_by_story: dict[str, int] = {}
    n = 0
    try:
        reader.check_file(path)
        with path.open(encoding="utf-8-sig", newline="") as file:
            for n, cells in read_cells(path, file, needed):
                values = {"story": f"row{n}", **_read_cells(path, n, cells, needed)}
                if (first := row_by_story.setdefault(values["story"], n)) != n:
                    reason = f"“{values['story']}” names row {first} already; give every story a key of its own"
                    raise DocumentError(path, f"row {n}, story", reason)
                yield values
    except InvalidValue as error:
        raise DocumentError(path, "file", str(error)) from None
    except OSError as error:
        raise DocumentError(path, "file", f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise DocumentError(path, f"after row {n}", "is not UTF-8; save the file as UTF-8") from None
    if not n:
        raise DocumentError(path, "file", "holds no stories; add a row for each")


def _read_cells(path: Path, n: int, cells: Mapping[str, Any], needed: Mapping[str, FieldReader]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, read in {**needed, **_OPTIONAL}.items():
        value = cells.get(name)
        if value is None or value == "":
            if name in needed:
                raise DocumentError(path, f"row {n}, {name}", "is missing; fill it, or leave the row out")
            continue
        try:
            values[name] = read(value)
        except InvalidValue as error:
            raise DocumentError(path, f"row {n}, {name}", str(error)) from None
    return values


def _csv_rows(path: Path, file: TextIO, needed: Collection[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    csv.field_size_limit(reader.LARGEST_FILE)  # the module's own limit, 128 KiB, is less than a long story
    lines = csv.reader(file, strict=True)
    n = 1
    try:
        header = [name.strip() for name in next(lines, [])]
        for name in needed:
            if name not in header:
                hint = "; the file seems to use semicolons, save it with commas" if ";" in "".join(header) else ""
                reason = f"this column is missing; there must be {', '.join(needed)}{hint}"
                raise DocumentError(path, f"row 1, {name}", reason)
            if header.count(name) > 1:
                raise DocumentError(path, f"row 1, {name}", "stands twice; each column has its own name")
        for n, cells in enumerate(lines, start=2):
            if len(cells) == len(header):
                yield n, dict(zip(header, cells, strict=True))
            elif any(cell.strip() for cell in cells):
                reason = f"has {len(cells)} cells under {len(header)} columns"
                raise DocumentError(path, f"row {n}", f"{reason}; put a cell that holds a comma into quotes")
    except csv.Error as error:
        raise DocumentError(path, f"row {n + 1}", f"is not CSV: {error}; save the table again as CSV") from None


def _jsonl_rows(path: Path, file: TextIO, _needed: Collection[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    for n, line in enumerate(file, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            words = getattr(error, "msg", "it cannot be read")
            raise DocumentError(path, f"row {n}", f"is not JSON: {words}; write one object on each line") from None
        if not isinstance(row, dict):
            raise DocumentError(path, f"row {n}", f"must be an object, {{…}}, not {reader.name_kind(row)}")
        yield n, row
