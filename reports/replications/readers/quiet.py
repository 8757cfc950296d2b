"""Reads what QUIET prints of its models: a CSV file of how far each satisfies and surprises, section by section."""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.models import Rater
from annotation.responses import Answer
from annotation.responses.imports import Row
from reports.replications import Release, ReleasedJudge, ReleasedStory, hash_file, make_code, read_file
from studies.documents.errors import DocumentError, quote
from studies.documents.instrument import InstrumentDocument, ItemDocument
from studies.models import Source

COLUMNS = ("model", "group", "satisfy", "surprise")
PARTS = {"satisfies": "satisfy", "surprises": "surprise"}
GROUP = re.compile(r"G([1-9][0-9]?)")
SHARE = re.compile(r"[01](\.[0-9]{1,6})?|\.[0-9]{1,6}")
JUDGE = "quiet-paper"


@dataclass(frozen=True)
class _Line:
    """One row of the file. section : from 1; value_by_part : of each part, 0 to 1"""

    number: int
    model: str
    section: int
    value_by_part: Mapping[str, float]


def read_release(folder: Path, judges: Path, spec: Mapping[str, Any]) -> Release:
    """The printed scores in that folder. Raises DocumentError at whatever does not fit."""
    if judges != folder / spec["files"]["judges"]:
        raise DocumentError(judges, "folder", "this replication reads no answers of judges; leave --judges out")
    path = folder / spec["files"]["groups"]
    lines = list(_lines(path))
    models = list(dict.fromkeys(line.model for line in lines))
    sections = sorted({line.section for line in lines})
    _check_complete(path, lines, models, sections)
    story_by_model = {model: _story(model) for model in models}
    rows = tuple(
        Row(
            location=f"{path.name}: row {line.number}",
            rater=JUDGE,
            group=story_by_model[line.model].group,
            story=story_by_model[line.model].code,
            step=spec["study"]["step"],
            item=f"s{line.section}-{part}",
            answer=Answer(value=line.value_by_part[part]),
            kind=Rater.Kind.METRIC,
        )
        for line in lines
        for part in PARTS
    )
    return Release(
        instrument=_instrument(sections, spec),
        premise_by_group={story.group: "" for story in story_by_model.values()},
        stories=tuple(story_by_model.values()),
        rows=(),
        judges=(ReleasedJudge(JUDGE, hash_file(path), rows),),
        sha256_by_file={path.name: hash_file(path)},
        sources={model: {"name": model, "kind": str(Source.Kind.MODEL)} for model in models},
    )


def _lines(path: Path) -> Iterator[_Line]:
    reader = csv.reader(io.StringIO(read_file(path), newline=""), strict=True)
    try:
        header = tuple(name.strip() for name in next(reader, []))
        if header != COLUMNS:
            raise DocumentError(path, "row 1", f"the columns must be {', '.join(COLUMNS)}, in this order")
        for number, cells in enumerate(reader, start=2):
            if any(cell.strip() for cell in cells):
                yield _line(path, number, [cell.strip() for cell in cells])
    except csv.Error as error:
        raise DocumentError(path, f"line {reader.line_num}, cells", f"is not CSV: {error}") from None


def _line(path: Path, number: int, cells: list[str]) -> _Line:
    location = f"row {number}"
    if len(cells) != len(COLUMNS):
        raise DocumentError(path, f"{location}, cells", f"has {len(cells)} cells where the header has {len(COLUMNS)}")
    by_column = dict(zip(COLUMNS, cells, strict=True))
    if not by_column["model"]:
        raise DocumentError(path, f"{location}, model", "is empty; name the model")
    group = GROUP.fullmatch(by_column["group"])
    if group is None:
        raise DocumentError(
            path, f"{location}, group", f"{quote(by_column['group'])} is no group; write G1, G2 and so on"
        )
    for column in PARTS.values():
        if not SHARE.fullmatch(by_column[column]) or float(by_column[column]) > 1:
            reason = f"{quote(by_column[column])} is no number from 0 to 1, such as .83"
            raise DocumentError(path, f"{location}, {column}", reason)
    values = {part: float(by_column[column]) for part, column in PARTS.items()}
    return _Line(number, by_column["model"], int(group[1]), values)


def _check_complete(path: Path, lines: list[_Line], models: list[str], sections: list[int]) -> None:
    """Raise DocumentError unless every model has every group from 1 on once."""
    if not lines:
        raise DocumentError(path, "file", "holds no rows below its header")
    row_by_place: dict[tuple[str, int], int] = {}
    for line in lines:
        first = row_by_place.setdefault((line.model, line.section), line.number)
        if first != line.number:
            reason = f"{line.model} has G{line.section} in row {first} already; leave one of them out"
            raise DocumentError(path, f"row {line.number}, group", reason)
    for model in models:
        for section in range(1, sections[-1] + 1):
            if (model, section) not in row_by_place:
                raise DocumentError(path, "file", f"{model} has no row for G{section}; add it, or leave {model} out")


def _story(model: str) -> ReleasedStory:
    # Codes appear in blind exports; a keyed hash names the same text every time and does not say by whom it is.
    code = make_code("quiet", model)
    return ReleasedStory(code=code, groups=(code,), source=model)


def _instrument(sections: list[int], spec: Mapping[str, Any]) -> InstrumentDocument:
    """An item for each part of each section's score."""
    items = [
        ItemDocument(
            key=f"s{section}-{part}",
            type="number",
            dimension=f"G{section}",
            title=f"G{section} {part}",
            question=f"How far group {section} {part}, as printed.",
            settings={"low": 0, "high": 1},
            adapted=["title", "question"],
        )
        for part in PARTS
        for section in sections
    ]
    return InstrumentDocument(
        slug=spec["study"]["instrument"],
        version="1",
        title="QUIET: printed scores of the groups of blanks",
        items=items,
        citation=spec["citation"],
        url=spec["url"],
    )
