"""Reads the release of the Psychological Depth Scale study: one CSV file, a row for each participant and story."""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from annotation.responses import Answer
from annotation.responses.imports import Row
from reports.replications import Release, ReleasedStory, hash_file, make_code, read_file
from studies.documents import reader
from studies.documents.errors import DocumentError, InvalidValue, quote
from studies.documents.instrument import ItemDocument, discover, read_instrument
from studies.models import Source

HUMAN = "Human-"  # how the names of human authors begin
IDS = ("participant_id", "study_id", "story_id", "premise_id", "model_short")
# Of a story, so the same in all of its rows; human authors were given no strategy.
OF_A_STORY = ("premise_id", "model_short", "strategy")
SCORE = re.compile(r"([0-9])(\.0+)?")


@dataclass(frozen=True)
class _Line:
    """One row of the file, its cells by column. Rows are numbered as a spreadsheet does; the header is row 1."""

    path: Path
    number: int
    cells: Mapping[str, str]

    @property
    def location(self) -> str:
        return f"{self.path.name}: row {self.number}"

    def error(self, field: str, reason: str) -> DocumentError:
        return DocumentError(self.path, f"row {self.number}, {field}", reason)


def read_release(folder: Path, judges: Path, spec: Mapping[str, Any]) -> Release:
    """The release in that folder. Raises DocumentError at whatever does not fit."""
    if judges != folder / spec["files"]["judges"]:
        raise DocumentError(judges, "folder", "this replication reads no answers of judges; leave --judges out")
    instrument = read_instrument(discover()[spec["study"]["instrument"]])
    item_by_key = {item.key: item for item in instrument.items}
    item_by_column = {column: item_by_key[key] for column, key in spec["columns"].items()}
    path = folder / spec["files"]["annotations"]
    lines = list(_lines(path, [*IDS, "strategy", *item_by_column]))
    story_by_id = _stories(lines)
    return Release(
        instrument=instrument,
        premise_by_group={story_by_id[line.cells["story_id"]].group: line.cells["premise_id"] for line in lines},
        stories=tuple(story_by_id.values()),
        rows=tuple(_rows(lines, story_by_id, item_by_column, step=spec["study"]["step"])),
        judges=(),
        sha256_by_file={path.name: hash_file(path)},
        sources={story.source: _source(story.source) for story in story_by_id.values()},
    )


def _lines(path: Path, columns: Sequence[str]) -> Iterator[_Line]:
    """The rows of the file, which has exactly these columns, in any order."""
    reader = csv.reader(io.StringIO(read_file(path), newline=""), strict=True)
    try:
        header = [name.strip() for name in next(reader)]
        _check_header(path, header, columns)
        n_rows = 0
        for number, cells in enumerate(reader, start=2):
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                reason = f"has {len(cells)} cells where the header has {len(header)}"
                raise DocumentError(path, f"row {number}, cells", reason)
            n_rows += 1
            yield _read(_Line(path, number, dict(zip(header, cells, strict=True))))
    except csv.Error as error:
        raise DocumentError(path, f"line {reader.line_num}, cells", f"is not CSV: {error}") from None
    if not n_rows:
        raise DocumentError(path, "file", "holds no rows below its header")


def _check_header(path: Path, header: Sequence[str], columns: Sequence[str]) -> None:
    for name in header:
        if name not in columns:
            close = get_close_matches(name, columns, n=1)
            way_out = f"did you mean “{close[0]}”?" if close else f"known are {', '.join(columns)}"
            raise DocumentError(path, f"row 1, {name or 'header'}", f"there is no such column; {way_out}")
        if header.count(name) > 1:
            raise DocumentError(path, f"row 1, {name}", "this column stands twice")
    for name in columns:
        if name not in header:
            raise DocumentError(path, f"row 1, {name}", "this column is missing")


def _read(line: _Line) -> _Line:
    """The same row with its names and ids checked, without blanks around them."""
    cells = dict(line.cells)
    for name in (*IDS, "strategy"):
        try:
            cells[name] = str(reader.line(60)(cells[name]))
            if name in IDS and not cells[name]:
                raise InvalidValue("is empty")
            if name == "participant_id":
                reader.code(cells[name])
        except InvalidValue as error:
            raise line.error(name, str(error)) from None
    return _Line(line.path, line.number, cells)


def _stories(lines: Sequence[_Line]) -> dict[str, ReleasedStory]:
    """The stories by the release's id, each in a group of its own on its premise and without a text."""
    lines_by_story: dict[str, list[_Line]] = {}
    for line in lines:
        story_lines = lines_by_story.setdefault(line.cells["story_id"], [])
        for name in OF_A_STORY if story_lines else ():
            if line.cells[name] != story_lines[0].cells[name]:
                reason = f"{quote(line.cells[name])} is not what row {story_lines[0].number} says of the same story"
                raise line.error(name, reason)
        story_lines.append(line)
    return {name: _story(name, of_story) for name, of_story in lines_by_story.items()}


def _story(name: str, lines: Sequence[_Line]) -> ReleasedStory:
    cells = lines[0].cells
    # The ids of human authors' stories are those of a forum; a keyed hash names the same story every time and says
    # nothing.
    code = make_code("pds", name)
    factors = {
        "release_id": name,
        "study_id": ", ".join(sorted({line.cells["study_id"] for line in lines})),
        "strategy": cells["strategy"],
    }
    factors = {factor: value for factor, value in factors.items() if value}
    return ReleasedStory(code=code, groups=(code,), source=cells["model_short"], factors=factors)


def _source(name: str) -> dict[str, str]:
    kind = Source.Kind.AMATEUR if name.startswith(HUMAN) else Source.Kind.MODEL
    return {"name": name, "kind": str(kind)}


def _rows(
    lines: Sequence[_Line],
    story_by_id: Mapping[str, ReleasedStory],
    item_by_column: Mapping[str, ItemDocument],
    *,
    step: str,
) -> Iterator[Row]:
    row_by_reading: dict[tuple[str, str], int] = {}
    for line in lines:
        participant, story_id = line.cells["participant_id"], line.cells["story_id"]
        if (participant, story_id) in row_by_reading:
            row = row_by_reading[participant, story_id]
            raise line.error("story_id", f"participant {participant} rated “{story_id}” in row {row} too")
        row_by_reading[participant, story_id] = line.number
        story = story_by_id[story_id]
        for column, item in item_by_column.items():
            answer = Answer(value=_shown_score(line, column, item))
            # A letter before the id keeps "2" and "02" apart and makes it a code.
            yield Row(line.location, f"P{participant}", story.group, story.code, step, item.key, answer)


def _shown_score(line: _Line, column: str, item: ItemDocument) -> int:
    """The score in the direction in which it was shown; the release has it in the one in which it is analysed."""
    low, high = item.settings["low"], item.settings["high"]
    match = SCORE.fullmatch(line.cells[column].strip())
    if not match or not low <= int(match[1]) <= high:
        cell = quote(line.cells[column])
        raise line.error(column, f"must be a whole number from {low} to {high}, not {cell}")
    score = int(match[1])
    return low + high - score if item.settings.get("analysed_reversed") else score
