"""Reads what judges say of LitBench's pairs: a file of JSON lines for each, of verdicts or of rewards.

A language model's verdict names the two stories in the order in which it had them; each order is a rater of its own,
since an imported answer keeps no order. A reward model scores every story, and the higher reward is its choice.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.models import Rater, Response
from annotation.responses import Answer
from annotation.responses.imports import Row
from reports.replications import ReleasedJudge, hash_file, read_file
from reports.replications.voted_pairs import SWAPPED, VOTES
from studies.documents import reader
from studies.documents.errors import DocumentError, InvalidValue, quote

VERDICT, REWARD = {"first", "second", "response"}, {"comment_id", "reward"}
# “Preferred: A”, as the paper's prompts ask for it; the last one counts. Or nothing but the letter.
PREFERRED = re.compile(r"(?i:preferred)[*_\s]*:[*_\s]*\[?[\"“']?([AB])\b(?!\s*(?:or|and|/)\s*[AB]\b)")
LETTER = re.compile(r"\W*([AB])\W*")


@dataclass(frozen=True)
class PairCodes:
    """The codes of stories by their comments' ids, and of pairs by the ids of both."""

    code_by_id: Mapping[str, str]
    code_by_ids: Mapping[frozenset[str], str]


@dataclass(frozen=True)
class _Line:
    path: Path
    number: int
    values: Mapping[str, Any]

    @property
    def location(self) -> str:
        return f"{self.path.name}: line {self.number}"

    def error(self, field: str, reason: str) -> DocumentError:
        return DocumentError(self.path, f"line {self.number}, {field}", reason)


def read_judge(path: Path, pairs: PairCodes, spec: Mapping[str, Any]) -> list[ReleasedJudge]:
    """The judge of that file, and its other order if it has one. Raises DocumentError."""
    if path.stem == VOTES or path.stem.endswith(SWAPPED):
        raise DocumentError(path, "name", f"no judge can be called {quote(path.stem)}; name the file otherwise")
    lines = list(_lines(path))
    reads = _verdict_rows if lines and set(lines[0].values) == VERDICT else _reward_rows
    rows = tuple(reads(path, lines, pairs, spec))
    digest = hash_file(path)
    swapped = tuple(row for row in rows if row.rater.endswith(SWAPPED))
    judges = [ReleasedJudge(path.stem, digest, tuple(row for row in rows if row.rater == path.stem))]
    return [*judges, *([ReleasedJudge(path.stem + SWAPPED, digest, swapped)] if swapped else [])]


def _lines(path: Path) -> Iterator[_Line]:
    """The objects of the file, which are all of one kind."""
    fields: set[str] = set()
    for number, text in enumerate(read_file(path).split("\n"), start=1):
        if not text.strip():
            continue
        try:
            pairs = reader.parse_json(text)
        except InvalidValue as error:
            raise DocumentError(path, f"line {number}", str(error)) from None
        values = dict(pairs) if isinstance(pairs, reader.Pairs) else {}
        if set(values) not in (VERDICT, REWARD) or len(values) != len(pairs):
            reason = f"must be an object with {_list(VERDICT)}, or with {_list(REWARD)}"
            raise DocumentError(path, f"line {number}", reason)
        if fields and set(values) != fields:
            raise DocumentError(path, f"line {number}", "is a verdict among rewards, or a reward among verdicts")
        fields = set(values)
        yield _Line(path, number, values)


def _list(fields: set[str]) -> str:
    return ", ".join(sorted(fields))


def _verdict_rows(path: Path, lines: list[_Line], pairs: PairCodes, spec: Mapping[str, Any]) -> Iterator[Row]:
    line_by_place: dict[tuple[str, str], int] = {}
    for line in lines:
        first, second = (_read_id(line, name, pairs) for name in ("first", "second"))
        group = pairs.code_by_ids.get(frozenset((first, second)))
        if group is None:
            raise line.error("second", f"{quote(second)} makes no pair with {quote(first)} in the file of pairs")
        codes = [pairs.code_by_id[name] for name in (first, second)]
        rater = path.stem if first < second else path.stem + SWAPPED
        if line_by_place.setdefault((rater, group), line.number) != line.number:
            reason = f"line {line_by_place[rater, group]} has this pair in this order already; keep one of them"
            raise line.error("first", reason)
        response = line.values["response"]
        if not isinstance(response, str):
            raise line.error("response", f"must be text, not {quote(response)}")
        yield _row(line, rater, group, read_preference(response, codes), spec, kind=Rater.Kind.MODEL)


def read_preference(response: str, codes: list[str]) -> Answer:
    """The story that a reply prefers, of the two shown as A and B; a reply that names neither is unreadable."""
    letters = PREFERRED.findall(response)
    alone = LETTER.fullmatch(response)
    letter = letters[-1] if letters else alone[1] if alone else ""
    if not letter:
        return Answer(outcome=Response.Outcome.UNREADABLE, rationale=response)
    return Answer(value=codes["AB".index(letter.upper())], rationale=response)


def _reward_rows(path: Path, lines: list[_Line], pairs: PairCodes, spec: Mapping[str, Any]) -> Iterator[Row]:
    """The choice in every pair of which both stories have a reward; equal rewards choose neither."""
    line_by_id: dict[str, _Line] = {}
    for line in lines:
        name, reward = _read_id(line, "comment_id", pairs), line.values["reward"]
        if isinstance(reward, bool) or not isinstance(reward, int | float) or not math.isfinite(reward):
            raise line.error("reward", f"must be a number, not {quote(reward)}")
        if line_by_id.setdefault(name, line) is not line:
            raise line.error("comment_id", f"line {line_by_id[name].number} has this story already; keep one of them")
    for ids, group in pairs.code_by_ids.items():
        first, second = sorted(ids)
        if first not in line_by_id or second not in line_by_id:
            continue
        one, other = line_by_id[first].values["reward"], line_by_id[second].values["reward"]
        better = first if one > other else second
        answer = Answer(value=pairs.code_by_id[better])
        if one == other:
            answer = Answer(outcome=Response.Outcome.UNREADABLE)
        yield _row(line_by_id[first], path.stem, group, answer, spec, kind=Rater.Kind.METRIC)


def _read_id(line: _Line, field: str, pairs: PairCodes) -> str:
    name = line.values[field]
    if not isinstance(name, str) or name.removeprefix("t1_") not in pairs.code_by_id:
        raise line.error(field, f"{quote(name)} is no comment of the file of pairs")
    return name.removeprefix("t1_")


def _row(line: _Line, rater: str, group: str, answer: Answer, spec: Mapping[str, Any], *, kind: str) -> Row:
    step, item = spec["study"]["step"], spec["study"]["item"]
    return Row(line.location, rater, group, "", step, item, answer, kind=kind)
