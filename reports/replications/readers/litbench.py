"""Reads LitBench's test set once its stories were fetched from Reddit: one CSV file, a row for each pair.

The release itself holds ids of comments alone; the script beside it writes this file.
"""

import csv
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from annotation.models import Rater
from annotation.responses import Answer
from annotation.responses.imports import Row
from reports.replications import Release, ReleasedJudge, ReleasedStory, hash_file, make_code, read_file
from reports.replications.readers.litbench_judges import PairCodes, read_judge
from reports.replications.voted_pairs import VOTES
from studies.documents import reader
from studies.documents.errors import DocumentError, InvalidValue, quote
from studies.documents.instrument import discover, read_instrument
from studies.documents.rated_stories import read_moment

SIDES = ("chosen", "rejected")
WAY_OUT = (
    "fetch the stories by their ids with scripts/rehydrate.py of github.com/drfein/LitBench, which needs a key of "
    "Reddit's interface and writes this file"
)
# What a story has, and the names of its column behind “chosen_”; the first is the release's, the second the script's.
NEEDED = {"comment_id": ("comment_id",), "story": ("story",)}
OPTIONAL = {
    "upvotes": ("upvotes", "comment_score"),
    "timestamp": ("timestamp",),
    "post": ("reddit_post_id",),
}
GONE = ("[deleted]", "[removed]")  # what Reddit gives in place of a text that is no longer there
COMMENT = re.compile(r"[A-Za-z0-9_]{1,40}")
WHOLE = re.compile(r"(-?[0-9]{1,9})(\.0+)?")


@dataclass
class _Story:
    """One comment. row : the first that has it; values : what rows say of it, "" for nothing"""

    row: int
    values: Mapping[str, str]
    pairs: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Table:
    """The file. cells_by_row : by column, of rows with anything in them"""

    path: Path
    cells_by_row: Mapping[int, Mapping[str, str]]

    def error(self, row: int, column: str, reason: str) -> DocumentError:
        return DocumentError(self.path, f"row {row}, {column}", reason)


def read_release(folder: Path, judges: Path, spec: Mapping[str, Any]) -> Release:
    """The pairs in that folder, with the judges in theirs. Raises DocumentError at whatever does not fit."""
    path = folder / spec["files"]["pairs"]
    table = _read_table(path)
    story_by_id, ids_by_pair, row_by_pair = _read_pairs(table)
    if not any(story.values["story"] for story in story_by_id.values()):
        raise DocumentError(path, "chosen_story", f"no story has a text: the file holds ids alone; {WAY_OUT}")
    code_by_id = {name: make_code("litbench", name) for name in story_by_id}
    code_by_pair = {pair: make_code("litbench pair", pair) for pair in ids_by_pair}
    pairs = PairCodes(code_by_id, {frozenset(ids): code_by_pair[pair] for pair, ids in ids_by_pair.items()})
    digest = hash_file(path)
    of_votes = ReleasedJudge(VOTES, digest, tuple(_votes(path, ids_by_pair, row_by_pair, pairs, spec)))
    paths_of_judges = sorted(judges.glob("*.jsonl")) if judges.is_dir() else []
    return Release(
        instrument=read_instrument(discover()[spec["study"]["instrument"]]),
        premise_by_group={code_by_pair[pair]: _read_prompt(table, row) for pair, row in row_by_pair.items()},
        stories=tuple(_story(name, story, code_by_id, code_by_pair, spec) for name, story in story_by_id.items()),
        rows=(),
        judges=(of_votes, *(j for path in paths_of_judges for j in read_judge(path, pairs, spec))),
        sha256_by_file={path.name: digest},
    )


def _read_table(path: Path) -> _Table:
    """The rows of the file; columns that are not asked for are passed over, those with people's names among them."""
    csv.field_size_limit(reader.LARGEST_FILE)  # the module's own limit, 128 KiB, is less than a long story
    lines = csv.reader(io.StringIO(read_file(path), newline=""), strict=True)
    cells_by_row: dict[int, Mapping[str, str]] = {}
    try:
        header = [name.strip() for name in next(lines, [])]
        _check_header(path, header)
        for number, cells in enumerate(lines, start=2):
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                reason = f"has {len(cells)} cells where the header has {len(header)}"
                raise DocumentError(path, f"row {number}, cells", reason)
            cells_by_row[number] = dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise DocumentError(path, f"line {lines.line_num}, cells", f"is not CSV: {error}") from None
    if not cells_by_row:
        raise DocumentError(path, "file", "holds no rows below its header")
    return _Table(path, cells_by_row)


def _check_header(path: Path, header: Sequence[str]) -> None:
    for name in ("prompt", *(f"{side}_{column}" for column in NEEDED for side in SIDES)):
        if name not in header:
            is_of_ids = "chosen_comment_id" in header and not name.endswith("comment_id")
            reason = f"the file holds ids alone; {WAY_OUT}" if is_of_ids else "add it, as the release's script does"
            raise DocumentError(path, f"row 1, {name}", f"this column is missing; {reason}")
    for name in header:
        if name and header.count(name) > 1:
            raise DocumentError(path, f"row 1, {name}", "this column stands twice; keep one")


def _read_pairs(table: _Table) -> tuple[dict[str, _Story], dict[str, tuple[str, str]], dict[str, int]]:
    """The stories by their comment's id; the chosen and the rejected id of each pair, and its row, by a name of it."""
    story_by_id: dict[str, _Story] = {}
    ids_by_pair: dict[str, tuple[str, str]] = {}
    row_by_pair: dict[str, int] = {}
    for row in table.cells_by_row:
        chosen, rejected = (_read_id(table, row, f"{side}_comment_id") for side in SIDES)
        if chosen == rejected:
            raise table.error(row, "rejected_comment_id", f"{quote(chosen)} is the chosen story as well; leave it out")
        pair = " ".join(sorted((chosen, rejected)))
        if pair in row_by_pair:
            reason = f"row {row_by_pair[pair]} has the same two stories; leave one of them out"
            raise table.error(row, "chosen_comment_id", reason)
        ids_by_pair[pair], row_by_pair[pair] = (chosen, rejected), row
        for side, name in zip(SIDES, (chosen, rejected), strict=True):
            story = _add_story(table, row, side, story_by_id, name)
            story.pairs.append(pair)
    return story_by_id, ids_by_pair, row_by_pair


def _read_prompt(table: _Table, row: int) -> str:
    """The prompt; "" where neither comment could be fetched."""
    prompt = table.cells_by_row[row]["prompt"].strip()
    try:
        return str(reader.text(prompt)) if prompt else ""
    except InvalidValue as error:
        raise table.error(row, "prompt", str(error)) from None


def _read_id(table: _Table, row: int, column: str) -> str:
    name = table.cells_by_row[row][column].strip()
    if not COMMENT.fullmatch(name):
        reason = f"{quote(name)} is no id of a comment, such as k3xq9zt" if name else "is empty; leave the row out"
        raise table.error(row, column, reason)
    return name.removeprefix("t1_")


def _add_story(table: _Table, row: int, side: str, story_by_id: dict[str, _Story], name: str) -> _Story:
    """The story with what this row says of it, which may not be other than what another row says."""
    values = _read_values(table, row, side)
    story = story_by_id.setdefault(name, _Story(row, values))
    for key, value in values.items():
        if value != story.values[key]:
            column = next(f"{side}_{alias}" for alias in (NEEDED | OPTIONAL)[key])
            reason = f"is not what row {story.row} says of {quote(name)}; make the two the same, or leave one row out"
            raise table.error(row, column, reason)
    return story


def _read_values(table: _Table, row: int, side: str) -> dict[str, str]:
    cells, values = table.cells_by_row[row], {}
    for key, aliases in {"story": ("story",), **OPTIONAL}.items():
        column = next((f"{side}_{alias}" for alias in aliases if f"{side}_{alias}" in cells), "")
        try:
            values[key] = READERS[key](cells[column].strip()) if column and cells[column].strip() else ""
        except InvalidValue as error:
            raise table.error(row, column, str(error)) from None
    return values


def _read_text(cell: str) -> str:
    return "" if cell in GONE else str(reader.text(cell))


def _read_votes(cell: str) -> str:
    match = WHOLE.fullmatch(cell)
    if match is None:
        raise InvalidValue(f"{quote(cell)} is no whole number; write digits alone, such as 37")
    return match[1]


def _read_time(cell: str) -> str:
    seconds = read_moment(cell)
    if not math.isfinite(seconds):
        raise InvalidValue(f"{quote(cell)} is no date")
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _read_post(cell: str) -> str:
    if not COMMENT.fullmatch(cell):
        raise InvalidValue(f"{quote(cell)} is no id of a post, such as 17xq9zt")
    return cell.removeprefix("t3_")


READERS = {"story": _read_text, "upvotes": _read_votes, "timestamp": _read_time, "post": _read_post}


def _story(
    name: str, story: _Story, code_by_id: Mapping[str, str], code_by_pair: Mapping[str, str], spec: Mapping[str, Any]
) -> ReleasedStory:
    values = story.values
    factors = {"release_id": name, "upvotes": values["upvotes"], "posted": values["timestamp"]}
    post = values["post"]
    return ReleasedStory(
        code=code_by_id[name],
        groups=tuple(code_by_pair[pair] for pair in story.pairs),
        source=next(iter(spec["sources"])),
        text=values["story"],
        url=f"https://www.reddit.com/r/WritingPrompts/comments/{post}/_/{name}/" if post else "",
        factors={factor: value for factor, value in factors.items() if value},
    )


def _votes(
    path: Path,
    ids_by_pair: Mapping[str, tuple[str, str]],
    row_by_pair: Mapping[str, int],
    pairs: PairCodes,
    spec: Mapping[str, Any],
) -> Iterator[Row]:
    """Which story the votes chose, of every pair: as the file says it, not by the votes that it gives."""
    for pair, ids in ids_by_pair.items():
        yield Row(
            location=f"{path.name}: row {row_by_pair[pair]}",
            rater=VOTES,
            group=pairs.code_by_ids[frozenset(ids)],
            story="",
            step=spec["study"]["step"],
            item=spec["study"]["item"],
            answer=Answer(value=pairs.code_by_id[ids[0]]),
            kind=Rater.Kind.METRIC,
        )
