"""Bringing instruments and studies from files into the database: each whole, in one transaction, or not at all."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from studies import construction, protocol
from studies.cloze import compilation
from studies.documents import analysis_plan
from studies.documents.cloze import ClozeDocument
from studies.documents.errors import DocumentError
from studies.documents.instrument import (
    InstrumentDocument,
    ItemDocument,
    discover,
    fingerprint,
    parse_instrument,
    read_instrument,
)
from studies.documents.study import INSTRUMENTS, StepDocument, StudyDocument, read_study
from studies.items import find_type
from studies.models import Cloze, Instrument, Item, Study

MODEL_FIELDS = ("slug", "version", "title", "language", "citation", "note")


class VersionConflict(ValueError):
    """Something of that name and version is there already and says something else; the message has the way out."""


@transaction.atomic
def load_instrument(document: InstrumentDocument) -> Instrument:
    """The published instrument of that document: the one loaded earlier if it asks the same, a new one otherwise.

    Raises VersionConflict.
    """
    mark = fingerprint(document)
    instrument = Instrument.objects.filter(slug=document.slug, version=document.version).first()
    if instrument is None:
        return _create(document, mark)
    if instrument.status != Instrument.Status.PUBLISHED:
        raise VersionConflict(
            f"{instrument} is there as a draft; publish or delete the draft first, or raise the version"
        )
    if instrument.fingerprint != mark:
        raise VersionConflict(
            f"{instrument} is published and asks something else than this file; raise the version in the file"
        )
    return instrument


def ensure_builtin_instruments() -> list[str]:
    """Load and publish every built-in instrument that is not there yet; the messages of those that could not be.

    One query if all are there. One that somebody made a draft of under the same name and version keeps its place.
    """
    stored = set(Instrument.objects.values_list("slug", "version"))
    problems = []
    for document in _builtin_documents():
        if (document.slug, document.version) not in stored:
            try:
                load_instrument(document)
            except VersionConflict as error:  # made by somebody else at this moment
                problems.append(str(error))
    return problems


@cache
def _builtin_documents() -> tuple[InstrumentDocument, ...]:
    return tuple(read_instrument(path) for path in discover().values())


def _create(document: InstrumentDocument, mark: str) -> Instrument:
    instrument = Instrument.objects.create(**fields_of(document))
    Item.objects.bulk_create(
        Item(instrument=instrument, position=position, **asdict(item))
        for position, item in enumerate(document.items, start=1)
    )
    instrument.status, instrument.fingerprint = Instrument.Status.PUBLISHED, mark
    instrument.save()
    return instrument


def fields_of(document: InstrumentDocument) -> dict[str, Any]:
    """What the row of an instrument takes from its document, its items aside."""
    scores = [score.as_table() for score in document.scores]
    return {**{name: getattr(document, name) for name in MODEL_FIELDS}, "scores": scores}


def document_of(instrument: Instrument) -> InstrumentDocument:
    """The instrument in the database as a document. Raises DocumentError if it could not be read from a file."""
    items = []
    for item in instrument.items.order_by("position"):
        items.append({name: getattr(item, name) for name in ItemDocument.__dataclass_fields__})
    table = {name: getattr(instrument, name) for name in MODEL_FIELDS}
    return parse_instrument(
        {**table, "items": items, "scores": instrument.scores}, f"{instrument.slug} {instrument.version}"
    )


@transaction.atomic
def publish(instrument: Instrument) -> Instrument:
    """The draft as it stands, never to change again. Raises DocumentError if it cannot be asked as it is."""
    # A change of an item at this moment is waited for, and is published too; see the triggers.
    Instrument.objects.select_for_update().get(pk=instrument.pk)
    instrument.fingerprint = fingerprint(document_of(instrument))
    instrument.status = Instrument.Status.PUBLISHED
    instrument.save()
    return instrument


def advise(instrument: Instrument) -> str:
    """What a designer should think of before publishing it; "" if nothing.

    Items that compare stories are asked about groups, and so is all that stands in one instrument with them.
    """
    items = list(instrument.items.all())
    comparing = [item for item in items if find_type(item.type).about_stories]
    if not comparing or len(comparing) == len(items):
        return ""
    sentence = _(
        "“%(question)s” compares stories, so the instrument can be asked about groups only, and never about each "
        "story, and so can the rest of it. To ask the other questions about each story, put them into an instrument of "
        "their own."
    )
    return sentence % {"question": comparing[0].question}


@transaction.atomic
def load_cloze(text: str) -> Cloze:
    """The published cloze of that document, with its two instruments: the one loaded earlier if it says the same.

    Raises DocumentError, VersionConflict.
    """
    draft = Cloze(document=text)
    stored = Cloze.objects.filter(slug=draft.parsed.slug, version=draft.parsed.version).first()
    if stored is None:
        return publish_cloze(draft)
    if not stored.is_published:
        raise VersionConflict(f"{stored} is there as a draft; publish or delete the draft first, or raise the version")
    if _fixed_part(stored.parsed) != _fixed_part(draft.parsed):
        raise VersionConflict(
            f"{stored} is published and says something else than this file; raise the version in the file"
        )
    return stored


@transaction.atomic
def publish_cloze(cloze: Cloze) -> Cloze:
    """The cloze as it stands, with its instruments, never to change again. Raises DocumentError, VersionConflict."""
    document = cloze.parsed
    cloze.filling = load_instrument(compilation.filling_instrument(document))
    cloze.judging = load_instrument(compilation.judging_instrument(document))
    cloze.save()
    return cloze


def _fixed_part(document: ClozeDocument) -> ClozeDocument:
    """The document without what may be corrected under the same version."""
    return replace(document, citation="", licence="", notes="")


@transaction.atomic
def load_study(path: Path, *, rename: Callable[[str], str] | None = None) -> Study:
    """The study in that study file, as a draft that can be planned. Raises DocumentError; then nothing has changed.

    rename : another slug for one that is taken; without it, that is an error
    """
    document = read_study(path)
    if rename:
        document = replace(document, study={**document.study, "slug": rename(document.study["slug"])})
    if Study.objects.filter(slug=document.study["slug"]).exists():
        reason = f"there is a study “{document.study['slug']}” already; choose another slug"
        raise DocumentError(document.path, "slug", reason)
    _load_cloze(document)
    _load_instruments(document.path.parent)
    collection = document.collection
    try:
        study = construction.create_study(
            {**document.study, **_plan_fields(document)},
            stories=collection.stories,
            groups=collection.groups,
            steps=document.steps,
            instruments=find_instruments(document.steps, path=document.path),
        )
    except construction.SourceConflict as error:
        reason = f"{error}, so correct it or rename the source"
        raise DocumentError(collection.path, f"story {error.story}, source_kind", reason) from None
    findings = protocol.collect_findings(study, protocol.load_protocol(study.versions.get()))
    if errors := protocol.select_errors(findings, protocol.Purpose.PLAN):
        if all(error.location == analysis_plan.KEY for error in errors):
            # A person who has the file knows the sources, so the message may list them.
            faults = protocol.find_plan_faults(study, protocol.load_protocol(study.versions.get()))
            raise DocumentError(document.path, analysis_plan.KEY, "; ".join(faults))
        raise DocumentError(document.path, "steps", "; ".join(map(str, errors)))
    return study


def _plan_fields(document: StudyDocument) -> dict[str, Any]:
    return {analysis_plan.KEY: document.analysis_plan.as_table()} if document.analysis_plan else {}


def _load_cloze(document: StudyDocument) -> None:
    if document.cloze:
        try:
            load_cloze(document.cloze)
        except VersionConflict as error:
            raise DocumentError(document.path, "cloze", str(error)) from None


def _load_instruments(folder: Path) -> None:
    """Load the instruments next to a study file."""
    for path in sorted((folder / INSTRUMENTS).glob("*.toml")):
        try:
            load_instrument(read_instrument(path))
        except VersionConflict as error:
            raise DocumentError(path, "version", str(error)) from None


def find_instruments(steps: Iterable[StepDocument], *, path: Path) -> dict[str, Instrument]:
    """The instruments by the names under which the steps ask for them. Raises DocumentError if there is none."""
    instrument_by_name: dict[str, Instrument] = {}
    for step in steps:
        if step.instrument and step.instrument not in instrument_by_name:
            instrument_by_name[step.instrument] = _find_instrument(step, path=path)
    return instrument_by_name


def _find_instrument(step: StepDocument, *, path: Path) -> Instrument:
    """The instrument that a step names, "slug" or "slug@version". A built-in one is loaded if it is not there yet."""
    location = f"{step.location}, instrument"
    try:
        if document := _builtin(step.instrument):
            return load_instrument(document)
    except VersionConflict as error:
        raise DocumentError(path, location, str(error)) from None
    slug, _at, version = step.instrument.partition("@")
    published = Instrument.objects.filter(status=Instrument.Status.PUBLISHED)
    candidates = list(published.filter(slug=slug, version=version) if version else published.filter(slug=slug))
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        names = ", ".join(f"{slug}@{candidate.version}" for candidate in candidates)
        raise DocumentError(path, location, f"“{slug}” has several versions; name one: {names}")
    available = sorted({*discover(), *(f"{candidate.slug}@{candidate.version}" for candidate in published)})
    near = get_close_matches(step.instrument, available, n=1)
    way_out = f"did you mean “{near[0]}”?" if near else f"there are {', '.join(available)}"
    raise DocumentError(path, location, f"there is no instrument “{step.instrument}”; {way_out}")


def _builtin(name: str) -> InstrumentDocument | None:
    """The built-in instrument of that name. A slug alone means the file of that slug; it has a version as well."""
    slug, _at, version = name.partition("@")
    builtin = discover()
    if name in builtin:
        return read_instrument(builtin[name])
    document = read_instrument(builtin[slug]) if slug in builtin else None
    return document if document and document.version == version else None
