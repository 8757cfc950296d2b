"""Reads the public release of TTCW: three JSON files, and JSON lines of judges' answers."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotation.models import Rater, Response
from annotation.responses import Answer
from annotation.responses.imports import Row
from reports.replications import Release, ReleasedJudge, ReleasedStory, hash_file, make_code, read_file
from studies.documents import reader
from studies.documents.errors import DocumentError, InvalidValue, quote
from studies.documents.instrument import InstrumentDocument
from studies.documents.ttcw_release import read_ttcw_release

VERDICT = re.compile(r"story_(?P<story>.+)_test(?P<test>[0-9]+)")
FIRST_WORD = re.compile(r"\w+")


def read_release(folder: Path, judges: Path, spec: Mapping[str, Any]) -> Release:
    """The release in that folder, with the judges in theirs. Raises DocumentError at whatever does not fit."""
    paths = {name: folder / spec["files"][name] for name in ("tests", "stories", "annotations")}
    instrument = _instrument(paths["tests"])
    item_by_test = {str(n): item.key for n, item in enumerate(instrument.items, start=1)}
    premise_by_group, story_by_id = _stories(paths["stories"], spec["sources"])
    rows = _annotations(paths["annotations"], story_by_id, item_by_test, step=spec["study"]["step"])
    paths_of_judges = sorted(judges.glob("*.jsonl")) if judges.is_dir() else []
    return Release(
        instrument=instrument,
        premise_by_group=premise_by_group,
        stories=tuple(story_by_id.values()),
        rows=rows,
        judges=tuple(_judge(path, story_by_id, item_by_test, spec) for path in paths_of_judges),
        sha256_by_file={path.name: hash_file(path) for path in paths.values()},
    )


def _instrument(path: Path) -> InstrumentDocument:
    """The tests, which the release numbers 1 to 14 in their order."""
    for n, raw in enumerate(_objects(path), start=1):
        test = _Row(path, f"test {n}", raw)
        if test.digits("ttcw_idx") != str(n):
            raise test.error("ttcw_idx", f"must be {n}: the tests are numbered in their order")
    return read_ttcw_release(path)


def _stories(path: Path, sources: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, ReleasedStory]]:
    """Premise by group, and story by the release's id."""
    premise_by_group: dict[str, str] = {}
    story_by_id: dict[str, ReleasedStory] = {}
    for n, raw in enumerate(_objects(path), start=1):
        row = _Row(path, f"story {n}", raw)
        plot, name, content = row.digits("story_idx"), row.words("story_id"), row.words("content")
        source = name.removeprefix(f"{plot}_")
        if source not in sources:
            raise row.error("story_id", f"“{name}” must be the story_idx and one of {', '.join(sources)}")
        if name in story_by_id:
            raise row.error("story_id", f"“{name}” stands twice")
        group = _group(plot)
        if premise_by_group.setdefault(group, row.words("plot")) != row.words("plot"):
            raise row.error("plot", f"differs from that of other stories with story_idx {plot}")
        is_address = content.startswith(("http://", "https://")) and len(content.split()) == 1
        story_by_id[name] = ReleasedStory(
            # The release's id names the source; a keyed hash names the same story every time and says nothing.
            code=f"{plot.zfill(2)}-{make_code('ttcw', name)[:6]}",
            groups=(group,),
            source=source,
            text="" if is_address else content,
            title=row.words("story_name"),
            url=content if is_address else "",
            factors={"release_id": name},
        )
    return dict(sorted(premise_by_group.items())), story_by_id


def _group(plot: str) -> str:
    return f"plot-{plot.zfill(2)}"


def _annotations(
    path: Path, story_by_id: Mapping[str, ReleasedStory], item_by_test: Mapping[str, str], *, step: str
) -> tuple[Row, ...]:
    rows = []
    for n, raw in enumerate(_objects(path), start=1):
        row = _Row(path, f"row {n}", raw)
        story = story_by_id.get(row.words("story_id"))
        if story is None:
            raise row.error("story_id", f"“{raw['story_id']}” is not among the stories")
        if story.group != _group(row.digits("story_idx")):
            raise row.error("story_idx", f"does not go with story_id “{raw['story_id']}”")
        item = item_by_test.get(row.digits("ttcw_idx"))
        if item is None:
            raise row.error("ttcw_idx", f"“{raw['ttcw_idx']}” is not one of the tests 1 to {len(item_by_test)}")
        verdict = row.words("binary_verdict")
        if verdict not in ("Yes", "No"):
            raise row.error("binary_verdict", f"must be Yes or No, not {quote(verdict)}")
        answer = Answer(value=verdict, rationale=row.words("explanation", may_be_empty=True))
        rater = f"E{row.digits('expert_idx').zfill(2)}"
        rows.append(Row(row.location, rater, story.group, story.code, step, item, answer))
    return tuple(rows)


def _judge(
    path: Path, story_by_id: Mapping[str, ReleasedStory], item_by_test: Mapping[str, str], spec: Mapping[str, Any]
) -> ReleasedJudge:
    rows = []
    for n, line in enumerate(read_file(path).split("\n"), start=1):
        if not line.strip():
            continue
        row = _Row(path, f"line {n}", _parsed(path, line, f"line {n}"))
        match = VERDICT.fullmatch(row.words("id"))
        story = story_by_id.get(match["story"]) if match else None
        item = item_by_test.get(match["test"]) if match else None
        if story is None or item is None:
            raise row.error("id", f"{quote(row.raw['id'])} must be story_<story_id>_test<1 to {len(item_by_test)}>")
        answer = read_verdict(row.words("response", may_be_empty=True), declined=spec["answers"]["declined"])
        step = spec["study"]["step"]
        rows.append(Row(row.location, path.stem, story.group, story.code, step, item, answer, kind=Rater.Kind.MODEL))
    return ReleasedJudge(path.stem, hash_file(path), tuple(rows))


def read_verdict(response: str, *, declined: list[str]) -> Answer:
    """A judge's answer by its first word: Yes, No, declined or unreadable. What cannot be read is never a No."""
    word = FIRST_WORD.search(response)
    if word and word[0].casefold() in ("yes", "no"):
        return Answer(value=word[0].casefold(), rationale=response)
    if response.strip().casefold().startswith(tuple(opening.casefold() for opening in declined)):
        return Answer(outcome=Response.Outcome.DECLINED, rationale=response)
    return Answer(outcome=Response.Outcome.UNREADABLE, rationale=response)


class _Row:
    """One object of a file, whose fields are asked for by name and kind."""

    def __init__(self, path: Path, location_in_file: str, raw: Any) -> None:
        self.path, self.location_in_file, self.raw = path, location_in_file, raw
        if not isinstance(raw, dict):
            raise DocumentError(path, location_in_file, f"must be an object, not {reader.name_kind(raw)}")

    @property
    def location(self) -> str:
        return f"{self.path.name}: {self.location_in_file}"

    def error(self, field: str, reason: str) -> DocumentError:
        return DocumentError(self.path, f"{self.location_in_file}, {field}", reason)

    def words(self, field: str, *, may_be_empty: bool = False) -> str:
        if field not in self.raw:
            raise self.error(field, "is missing")
        try:
            words = str(reader.text(self.raw[field]))
        except InvalidValue as error:
            raise self.error(field, str(error)) from None
        if not words.strip() and not may_be_empty:
            raise self.error(field, "is empty")
        return words

    def digits(self, field: str) -> str:
        """A number from 0 to 9999, which the release writes as a number here and as text there."""
        if field not in self.raw:
            raise self.error(field, "is missing")
        value = self.raw[field]
        digits = str(value) if type(value) is int else value
        if not isinstance(digits, str) or not re.fullmatch(r"0|[1-9][0-9]{0,3}", digits):
            raise self.error(field, f"must be a whole number from 0, not {quote(value)}")
        return digits


def _objects(path: Path) -> list[Any]:
    """The objects of a JSON file that holds a list."""
    content = _parsed(path, read_file(path), "file")
    if not isinstance(content, list) or not content:
        raise DocumentError(path, "file", "must hold a list of objects")
    return content


def _parsed(path: Path, text: str, location: str) -> Any:
    """JSON with its objects as tables. Raises DocumentError, also for a key that stands twice."""
    try:
        return _tables(reader.parse_json(text))
    except InvalidValue as error:
        raise DocumentError(path, location, str(error)) from None


def _tables(value: Any) -> Any:
    if isinstance(value, reader.Pairs):
        table = {name: _tables(inner) for name, inner in value}
        if len(table) != len(value):
            raise InvalidValue(f"holds an object in which a key stands twice, among {', '.join(sorted(table))}")
        return table
    return [_tables(inner) for inner in value] if isinstance(value, list) else value
