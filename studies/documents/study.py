"""The study file: `study.toml` and the stories beside it, as one document. Read strictly, without the database.

docs/study-files.md explains every field.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from studies import documents, files, stories
from studies.cloze import switches
from studies.cloze.document import parse
from studies.documents import DocumentError
from studies.files import Reader, Unfit
from studies.models import Cloze, Source, Step, Study
from studies.stories import Collection, GroupDocument, StoryDocument

NAME = "study.toml"

_STUDY: dict[str, Reader] = {
    "slug": files.slug(80),
    "title": files.line(200),
    "language": files.language,
    "description": files.text,
    "notice": files.line(300),
    "organiser": files.line(200),
    "contact": files.email,
    "minutes": files.whole(1, 1440),
    "seats_per_group": files.whole(1, 1000),
    "groups_per_sitting": files.whole(1, 1000),
    "order_policy": files.one_of(*Study.OrderPolicy.values),
    "seed": files.whole(0, 2**63 - 1),
    "shows_premise": files.truth,
    "asks_recognition": files.truth,
    "cloze": files.line(300),
}


def _samples(value: Any) -> dict[str, dict[str, Any]]:
    """Sample answers by the key of their item: each a value and why it would do."""
    found = files.mapping(value)
    for key, sample in found.items():
        if not isinstance(sample, dict) or set(sample) != {"value", "why"}:
            raise Unfit(f"{files.shown(key)} must be a table with value and why, and nothing else")
        sample["why"] = files.text(sample["why"])
    return found


_STEP: dict[str, Reader] = {
    "key": files.slug(40),
    "kind": files.one_of(*Step.Kind.values),
    "title": files.line(200),
    "text": files.text,
    "text_file": files.line(300),
    "instrument": files.line(121),
    "scope": files.one_of(*Step.Scope.values),
    "locks": files.truth,
    "background": files.one_of(*Step.Background.values),
    "layout": files.one_of(*filter(None, Step.Layout.values)),
    "revises": files.slug(40),
    "options": files.mapping,
    "story": files.text,
    "story_file": files.line(300),
    "samples": _samples,
}
# What only steps of that kind have; and what a step must have, which for a text is its text.
_BELONGS = {
    "rating": ("instrument", "scope", "locks", "background", "layout", "revises", "options"),
    "practice": ("instrument", "background", "story", "story_file", "samples"),
}
_NEEDED = {"rating": ["instrument", "scope"], "practice": ["instrument", "story", "samples"]}
STUDY_KEYS = tuple(_STUDY)
STEP_KEYS = tuple(_STEP)
# What a text of the study may name instead of repeating it.
_NAMED = ("organiser", "contact")
_BRIEFING = re.compile(r"\{briefing of ([^{}]*)\}")


@dataclass(frozen=True)
class StepDocument:
    """One step. where : how messages name it; instrument : "slug" or "slug@version", or "" for a text"""

    where: str
    key: str
    kind: str
    title: str = ""
    text: str = ""
    instrument: str = ""
    scope: str = ""
    locks: bool = False
    background: str = Step.Background.FOLDED
    layout: str = Step.Layout.ITEMS
    revises: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    story: str = ""
    samples: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StudyDocument:
    """A study as its files say it.

    study : the fields of `studies.models.Study` that were given
    cloze : the cloze beside it as TOML; "" if it names none
    """

    path: Path
    study: Mapping[str, Any]
    steps: tuple[StepDocument, ...]
    collection: Collection
    cloze: str = ""


def read(path: Path) -> StudyDocument:
    """The study in that file or folder. Raises DocumentError at the first fault."""
    path = path / NAME if path.is_dir() else path
    try:
        raw = files.toml_of(path)
        beside = None if "cloze" in raw and not stories.are_in(path.parent) else stories.beside(path.parent)
    except OSError as error:
        raise DocumentError(path, "file", f"cannot be read: {error.strerror}") from None
    except Unfit as unfit:
        raise DocumentError(path, "file", str(unfit)) from None
    listed = raw.pop("steps", [])
    study = files.table(raw, _STUDY, path=path)
    files.required(study, ["slug", "title"], path=path)
    named = study.pop("cloze", "")
    cloze = _cloze(named, path=path) if named else ""
    return StudyDocument(
        path=path,
        study=study,
        steps=_steps(listed, study, path=path),
        collection=stories.read(beside) if beside else _skeleton(cloze, path=path),
        cloze=cloze,
    )


def _cloze(name: str, *, path: Path) -> str:
    """The cloze in the file of that name, as TOML. Raises DocumentError, naming the file that is at fault."""
    try:
        file = files.within(path.parent, name)
        said = files.decoded(file, largest=files.LARGEST_TEXT)
    except Unfit as unfit:
        raise DocumentError(path, "cloze", str(unfit)) from None
    parse(said, file.name)
    return said


def _skeleton(toml: str, *, path: Path) -> Collection:
    """The one story of a study that has no file of stories: the text to be filled."""
    cloze = Cloze(document=toml)
    document = cloze.parsed
    story = StoryDocument(
        key=document.slug,
        text=cloze.skeleton,
        source=f"The cloze {document.title}",
        source_kind=Source.Kind.OTHER,
        title=document.title,
        licence=document.licence,
    )
    group = GroupDocument(key=document.slug, premise="", stories=(story.key,))
    return Collection(path=path, stories=(story,), groups=(group,))


def _steps(listed: Any, study: Mapping[str, Any], *, path: Path) -> tuple[StepDocument, ...]:
    if not isinstance(listed, list) or not listed or not all(isinstance(each, dict) for each in listed):
        raise DocumentError(path, "steps", "a study needs steps; write each under [[steps]]")
    steps: list[StepDocument] = []
    for number, raw in enumerate(listed, start=1):
        step = _step(raw, study, where=f"step {number}", path=path)
        _check_place(step, steps, path=path)
        steps.append(step)
    return tuple(steps)


def _step(raw: dict[str, Any], study: Mapping[str, Any], *, where: str, path: Path) -> StepDocument:
    given = files.table(raw, _STEP, path=path, where=where)
    files.required(given, ["key", "kind"], path=path, where=where)
    for name in ("text", "story"):
        if f"{name}_file" in given:
            given[name] = _from_file(given, name, where=where, path=path)
    _check_kind(given, where=where, path=path)
    if given["kind"] == Step.Kind.PRACTICE:
        given["scope"] = Step.Scope.ONCE
    if _BRIEFING.search(given.get("text", "")) and given["kind"] != Step.Kind.BRIEFING:
        raise DocumentError(path, f"{where}, text", "takes in a briefing, which belongs to a step of kind briefing")
    given["text"] = _filled(given.get("text", ""), study, where=where, path=path)
    if "options" in given and "layout" not in given:
        raise DocumentError(path, f"{where}, options", 'belongs to a step with layout = "cloze"')
    if reason := switches.misfit(given.get("options", {})):
        raise DocumentError(path, f"{where}, options", reason)
    return StepDocument(where=where, **given)


def _check_kind(given: Mapping[str, Any], *, where: str, path: Path) -> None:
    """Raise DocumentError if the step lacks what its kind needs, or has what belongs to another."""
    kind = given["kind"]
    for name in given:
        owners = [owner for owner, names in _BELONGS.items() if name in names]
        if owners and kind not in owners:
            reason = f"belongs to a step of kind {' or '.join(owners)}, not {kind}"
            raise DocumentError(path, f"{where}, {name}", reason)
    files.required(given, _NEEDED.get(kind, ["text"]), path=path, where=where)


def _from_file(given: dict[str, Any], name: str, *, where: str, path: Path) -> str:
    """What the file says that stands in place of a text of that name."""
    named = given.pop(f"{name}_file")
    try:
        if name in given:
            raise Unfit(f"{name} is given as well; keep one of the two")
        file = files.within(path.parent, named)
        return str(files.text(files.decoded(file, largest=files.LARGEST_TEXT)))
    except Unfit as unfit:
        raise DocumentError(path, f"{where}, {name}_file", str(unfit)) from None


def _filled(text: str, study: Mapping[str, Any], *, where: str, path: Path) -> str:
    """The text with {organiser}, {contact} and {briefing of …} said, so that what is frozen is what raters read."""
    for name in _BRIEFING.findall(text):
        file = documents.discover().get(name)
        if file is None or not (briefing := documents.read(file).briefing):
            raise DocumentError(path, f"{where}, text", f"no built-in instrument “{name}” has a briefing")
        text = text.replace(f"{{briefing of {name}}}", briefing)
    for name in _NAMED:
        if f"{{{name}}}" in text:
            if not study.get(name):
                raise DocumentError(path, f"{where}, text", f"names {{{name}}}, but the study file gives no {name}")
            text = text.replace(f"{{{name}}}", study[name])
    return text


def _check_place(step: StepDocument, before: list[StepDocument], *, path: Path) -> None:
    """Raise DocumentError if the step cannot stand after those before it."""
    if step.key in [other.key for other in before]:
        raise DocumentError(path, f"{step.where}, key", f"“{step.key}” stands twice; every step needs a key of its own")
    if step.kind == Step.Kind.CONSENT and before:
        raise DocumentError(
            path, f"{step.where}, kind", "is out of place: consent is asked once, and as the first step"
        )
    if step.locks and step.scope == Step.Scope.ONCE:
        raise DocumentError(path, f"{step.where}, locks", "belongs to a step within a group, not to one asked once")
    if step.locks and not any(other.kind == Step.Kind.RATING for other in before):
        raise DocumentError(path, f"{step.where}, locks", "is out of place: no answers are asked before this step")
    if step.revises and not any(_is_revised(step, other) for other in before):
        raise DocumentError(
            path,
            f"{step.where}, revises",
            f"“{step.revises}” is no earlier step with the same instrument, asked once or in the same scope",
        )


def _is_revised(step: StepDocument, other: StepDocument) -> bool:
    is_same = (other.key, other.instrument) == (step.revises, step.instrument)
    return is_same and other.scope in (Step.Scope.ONCE, step.scope)
