"""The study file: `study.toml` and the stories beside it, as one document. Read strictly, without the database.

docs/study-files.md explains every field.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from studies import layouts
from studies.documents import analysis_plan, instrument, placeholders, reader, stories
from studies.documents.analysis_plan import AnalysisPlan, parse_analysis_plan
from studies.documents.cloze import parse_cloze
from studies.documents.errors import DocumentError, InvalidValue, quote
from studies.documents.names import RESERVED
from studies.documents.reader import FieldReader
from studies.documents.stories import Collection, GroupDocument, StoryDocument
from studies.facts import FACTS, MOST_MINUTES, FactKind, StudyFact
from studies.vocabulary import OrderPolicy, SourceKind, StepBackground, StepKind, StepLayout, StepScope, TextKind

NAME = "study.toml"
CLOZE_FILE = "cloze.toml"  # as a study is written; a file may call it otherwise
MOST_HOURS = 8784  # for a group: a leap year
INSTRUMENTS = "instruments"  # the folder beside it, of those that do not come with Quire


def _read_slugs(value: Any) -> list[str]:
    """The slugs of studies, each once, in alphabetical order."""
    if not isinstance(value, list):
        raise InvalidValue('must be a list of slugs, such as ["pilot"]')
    return sorted({str(reader.slug(80)(slug)) for slug in value})


def _reader_of(fact: StudyFact) -> FieldReader:
    if fact.kind is FactKind.MINUTES:
        return reader.whole_number(1, MOST_MINUTES)
    return reader.email if fact.kind is FactKind.ADDRESS else reader.line(fact.longest)


_STUDY: dict[str, FieldReader] = {
    "slug": reader.unreserved(reader.slug(80), RESERVED),
    "title": reader.line(200),
    "language": reader.language,
    "description": reader.text,
    **{fact.key: _reader_of(fact) for fact in FACTS},
    "text_kind": reader.one_of(*TextKind.values),
    "seats_per_group": reader.whole_number(1, 1000),
    "groups_per_sitting": reader.whole_number(1, 1000),
    "groups_per_rater": reader.whole_number(1, 1000),
    "n_repeats": reader.whole_number(0, 1000),
    "hours_per_group": reader.whole_number(1, MOST_HOURS),
    "excluded_studies": _read_slugs,
    "order_policy": reader.one_of(*OrderPolicy.values),
    "seed": reader.whole_number(0, 2**63 - 1),
    "shows_premise": reader.boolean,
    "asks_recognition": reader.boolean,
    "cloze": reader.line(300),
}


def _samples(value: Any) -> dict[str, dict[str, Any]]:
    """Sample answers by the key of their item: each a value and why it would do."""
    samples = reader.mapping(value)
    for key, sample in samples.items():
        if not isinstance(sample, dict) or set(sample) != {"value", "why"}:
            raise InvalidValue(f"{quote(key)} must be a table with value and why, and nothing else")
        sample["why"] = reader.text(sample["why"])
    return samples


# A metric's step is made by its run, on a protocol that is frozen already.
STEP_KINDS = tuple(kind for kind in StepKind.values if kind != StepKind.METRIC)
_STEP: dict[str, FieldReader] = {
    "key": reader.slug(40),
    "kind": reader.one_of(*STEP_KINDS),
    "title": reader.line(200),
    "text": reader.text,
    "text_file": reader.line(300),
    "instrument": reader.line(121),
    "scope": reader.one_of(*StepScope.values),
    "locks": reader.boolean,
    "background": reader.one_of(*StepBackground.values),
    "layout": reader.one_of(*filter(None, StepLayout.values)),
    "revises": reader.slug(40),
    "options": reader.mapping,
    "story": reader.text,
    "story_file": reader.line(300),
    "samples": _samples,
}
# What only steps of that kind have; and what a step must have, which for a text is its text.
_BELONGS = {
    "rating": ("instrument", "scope", "locks", "background", "layout", "revises", "options"),
    "practice": ("instrument", "background", "story", "story_file", "samples"),
}
_NEEDED = {"rating": ["instrument", "scope"], "practice": ["instrument", "story", "samples"]}
STUDY_READERS: Mapping[str, FieldReader] = _STUDY
STUDY_KEYS = tuple(_STUDY)
STEP_KEYS = tuple(_STEP)


def belongs_to(name: str, kind: str) -> bool:
    """Whether a step of that kind may have the field."""
    owners = [owner for owner, names in _BELONGS.items() if name in names]
    return not owners or kind in owners


_BRIEFING = re.compile(r"\{briefing of ([^{}]*)\}")


@dataclass(frozen=True)
class StepDocument:
    """One step. location : how messages name it; instrument : "slug" or "slug@version", or "" for a text"""

    location: str
    key: str
    kind: str
    title: str = ""
    text: str = ""
    instrument: str = ""
    scope: str = ""
    locks: bool = False
    background: str = StepBackground.FOLDED
    layout: str = StepLayout.ITEMS
    revises: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    story: str = ""
    samples: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StudyDocument:
    """A study as its files say it.

    study : the fields of `studies.models.Study` that were given
    cloze : the cloze beside it as TOML; "" if it names none
    analysis_plan : None if nothing is planned
    """

    path: Path
    study: Mapping[str, Any]
    steps: tuple[StepDocument, ...]
    collection: Collection
    cloze: str = ""
    analysis_plan: AnalysisPlan | None = None


def read_study(path: Path) -> StudyDocument:
    """The study in that file or folder. Raises DocumentError at the first fault."""
    path = path / NAME if path.is_dir() else path
    raw = reader.read_toml(path, guide="docs/study-files.md")
    try:
        beside = (
            None
            if "cloze" in raw and not stories.list_story_files(path.parent)
            else stories.find_story_file(path.parent)
        )
    except InvalidValue as error:
        raise DocumentError(path, "file", str(error)) from None
    steps, planned = raw.pop("steps", []), raw.pop(analysis_plan.KEY, None)
    study = reader.read_table(raw, _STUDY, path=path)
    reader.check_required(study, ["slug", "title"], path=path)
    cloze_file = study.pop("cloze", "")
    cloze = _cloze(cloze_file, path=path) if cloze_file else ""
    return StudyDocument(
        path=path,
        study=study,
        steps=parse_steps(steps, study, path=path),
        collection=stories.read_stories(beside) if beside else read_skeleton(cloze, path=path),
        cloze=cloze,
        analysis_plan=None if planned is None else parse_analysis_plan(planned, path),
    )


def _cloze(name: str, *, path: Path) -> str:
    """The cloze in the file of that name, as TOML. Raises DocumentError, naming the file that is at fault."""
    try:
        file = reader.find_file(path.parent, name)
        content = reader.read_text(file, largest=reader.LARGEST_TEXT)
    except InvalidValue as error:
        raise DocumentError(path, "cloze", str(error)) from None
    parse_cloze(content, file.name)
    return content


def read_skeleton(toml: str, *, path: Path) -> Collection:
    """The one story of a study that has no file of stories: the text to be filled."""
    document = parse_cloze(toml, path.name)
    story = StoryDocument(
        key=document.slug,
        text=document.marked_text,
        source=f"The cloze {document.title}",
        source_kind=SourceKind.OTHER,
        title=document.title,
        licence=document.licence,
    )
    group = GroupDocument(key=document.slug, premise="", stories=(story.key,))
    return Collection(path=path, stories=(story,), groups=(group,))


def parse_steps(tables: Any, study: Mapping[str, Any], *, path: Path) -> tuple[StepDocument, ...]:
    """The steps in these tables. study : what their texts may name instead of repeating it. Raises DocumentError."""
    if not isinstance(tables, list) or not tables or not all(isinstance(row, dict) for row in tables):
        raise DocumentError(path, "steps", "a study needs steps; write each under [[steps]]")
    steps: list[StepDocument] = []
    for number, raw in enumerate(tables, start=1):
        step = _step(raw, study, location=f"step {number}", path=path)
        _check_place(step, steps, path=path)
        steps.append(step)
    return tuple(steps)


def _step(raw: dict[str, Any], study: Mapping[str, Any], *, location: str, path: Path) -> StepDocument:
    values = reader.read_table(raw, _STEP, path=path, location=location)
    reader.check_required(values, ["key", "kind"], path=path, location=location)
    for name in ("text", "story"):
        if f"{name}_file" in values:
            values[name] = _from_file(values, name, location=location, path=path)
    _check_kind(values, location=location, path=path)
    if values["kind"] == StepKind.PRACTICE:
        values["scope"] = StepScope.ONCE
    if _BRIEFING.search(values.get("text", "")) and values["kind"] != StepKind.BRIEFING:
        raise DocumentError(path, f"{location}, text", "takes in a briefing, which belongs to a step of kind briefing")
    values["text"] = _filled(values.get("text", ""), study, location=location, path=path)
    layout = layouts.find_layout(values.get("layout", StepLayout.ITEMS))
    if reason := layout.find_fault(values.get("options", {}), scope=values.get("scope", "")):
        raise DocumentError(path, f"{location}, options", reason)
    return StepDocument(location=location, **values)


def _check_kind(table: Mapping[str, Any], *, location: str, path: Path) -> None:
    """Raise DocumentError if the step lacks what its kind needs, or has what belongs to another."""
    kind = table["kind"]
    for name in table:
        if not belongs_to(name, kind):
            owners = [owner for owner, names in _BELONGS.items() if name in names]
            reason = f"belongs to a step of kind {' or '.join(owners)}, not {kind}"
            raise DocumentError(path, f"{location}, {name}", reason)
    reader.check_required(table, _NEEDED.get(kind, ["text"]), path=path, location=location)


def _from_file(table: dict[str, Any], name: str, *, location: str, path: Path) -> str:
    """What the file says that stands in place of a text of that name."""
    file_name = table.pop(f"{name}_file")
    try:
        if name in table:
            raise InvalidValue(f"{name} is given as well; keep one of the two")
        file = reader.find_file(path.parent, file_name)
        return str(reader.text(reader.read_text(file, largest=reader.LARGEST_TEXT)))
    except InvalidValue as error:
        raise DocumentError(path, f"{location}, {name}_file", str(error)) from None


def _filled(text: str, study: Mapping[str, Any], *, location: str, path: Path) -> str:
    """The text with its names in braces and {briefing of …} said, so that what is frozen is what raters read."""
    for name in _BRIEFING.findall(text):
        file = instrument.discover().get(name)
        if file is None or not (briefing := instrument.read_instrument(file).briefing):
            raise DocumentError(path, f"{location}, text", f"no built-in instrument “{name}” has a briefing")
        text = text.replace(f"{{briefing of {name}}}", briefing)
    for name in placeholders.find_unfilled(text, study):
        raise DocumentError(path, f"{location}, text", f"names {{{name}}}, but the study file gives no {name}")
    return placeholders.fill(text, study)


def _check_place(step: StepDocument, before: list[StepDocument], *, path: Path) -> None:
    """Raise DocumentError if the step cannot stand after those before it."""
    if step.key in [other.key for other in before]:
        raise DocumentError(
            path, f"{step.location}, key", f"“{step.key}” stands twice; every step needs a key of its own"
        )
    if step.kind == StepKind.CONSENT and before:
        raise DocumentError(
            path, f"{step.location}, kind", "is out of place: consent is asked once, and as the first step"
        )
    if step.locks and step.scope == StepScope.ONCE:
        raise DocumentError(path, f"{step.location}, locks", "belongs to a step within a group, not to one asked once")
    if step.locks and not any(other.kind == StepKind.RATING for other in before):
        raise DocumentError(path, f"{step.location}, locks", "is out of place: no answers are asked before this step")
    if step.revises and not any(_is_revised(step, other) for other in before):
        raise DocumentError(
            path,
            f"{step.location}, revises",
            f"“{step.revises}” is no earlier step with the same instrument, asked once or in the same scope",
        )


def _is_revised(step: StepDocument, other: StepDocument) -> bool:
    is_same = (other.key, other.instrument) == (step.revises, step.instrument)
    return is_same and other.scope in (StepScope.ONCE, step.scope)
