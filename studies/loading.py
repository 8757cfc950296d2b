"""Bringing instruments and studies from files into the database: each whole, in one transaction, or not at all."""

from collections.abc import Iterable
from dataclasses import asdict, replace
from difflib import get_close_matches
from pathlib import Path

from django.db import transaction

from studies import documents, protocol, studyfile
from studies.cloze import compiling
from studies.cloze.document import ClozeDocument
from studies.documents import DocumentError, InstrumentDocument, ItemDocument
from studies.models import (
    Cloze,
    Instrument,
    Item,
    ProtocolVersion,
    Provenance,
    Source,
    Step,
    Story,
    StoryGroup,
    Study,
    measure,
)
from studies.stories import StoryDocument
from studies.studyfile import StepDocument, StudyDocument

MODEL_FIELDS = ("slug", "version", "title", "language", "citation", "note")


class Changed(ValueError):
    """Something of that name and version is there already and says something else; the message has the way out."""


@transaction.atomic
def load_instrument(document: InstrumentDocument) -> Instrument:
    """The published instrument of that document: the one loaded earlier if it asks the same, a new one otherwise.

    Raises Changed.
    """
    mark = documents.fingerprint(document)
    found = Instrument.objects.filter(slug=document.slug, version=document.version).first()
    if found is None:
        return _create(document, mark)
    if found.status != Instrument.Status.PUBLISHED:
        raise Changed(f"{found} is there as a draft; publish or delete the draft first, or raise the version")
    if found.fingerprint != mark:
        raise Changed(f"{found} is published and asks something else than this file; raise the version in the file")
    return found


def _create(document: InstrumentDocument, mark: str) -> Instrument:
    made = Instrument.objects.create(**{name: getattr(document, name) for name in MODEL_FIELDS})
    Item.objects.bulk_create(
        Item(instrument=made, position=position, **asdict(item))
        for position, item in enumerate(document.items, start=1)
    )
    made.status, made.fingerprint = Instrument.Status.PUBLISHED, mark
    made.save()
    return made


def document_of(instrument: Instrument) -> InstrumentDocument:
    """The instrument in the database as a document. Raises DocumentError if it could not be read from a file."""
    items = []
    for item in instrument.items.order_by("position"):
        items.append({name: getattr(item, name) for name in ItemDocument.__dataclass_fields__})
    table = {name: getattr(instrument, name) for name in MODEL_FIELDS}
    return documents.parse({**table, "items": items}, f"{instrument.slug} {instrument.version}")


@transaction.atomic
def publish(instrument: Instrument) -> Instrument:
    """The draft as it stands, never to change again. Raises DocumentError if it cannot be asked as it is."""
    instrument.fingerprint = documents.fingerprint(document_of(instrument))
    instrument.status = Instrument.Status.PUBLISHED
    instrument.save()
    return instrument


@transaction.atomic
def load_cloze(text: str) -> Cloze:
    """The published cloze of that document, with its two instruments: the one loaded earlier if it says the same.

    Raises DocumentError, Changed.
    """
    made = Cloze(document=text)
    found = Cloze.objects.filter(slug=made.parsed.slug, version=made.parsed.version).first()
    if found is None:
        return publish_cloze(made)
    if not found.is_published:
        raise Changed(f"{found} is there as a draft; publish or delete the draft first, or raise the version")
    if _said(found.parsed) != _said(made.parsed):
        raise Changed(f"{found} is published and says something else than this file; raise the version in the file")
    return found


@transaction.atomic
def publish_cloze(cloze: Cloze) -> Cloze:
    """The cloze as it stands, with its instruments, never to change again. Raises DocumentError, Changed."""
    document = cloze.parsed
    cloze.filling = load_instrument(compiling.filling(document))
    cloze.judging = load_instrument(compiling.judging(document))
    cloze.save()
    return cloze


def _said(document: ClozeDocument) -> ClozeDocument:
    """The document but for what may be corrected without making it another."""
    return replace(document, citation="", licence="", notes="")


@transaction.atomic
def load_study(path: Path) -> Study:
    """The study in that study file, as a draft that can be planned. Raises DocumentError; then nothing has changed."""
    document = studyfile.read(path)
    if Study.objects.filter(slug=document.study["slug"]).exists():
        reason = f"there is a study “{document.study['slug']}” already; choose another slug"
        raise DocumentError(document.path, "slug", reason)
    study = Study.objects.create(**document.study)
    _cloze(document)
    _stories(study, document)
    version = ProtocolVersion.objects.create(study=study, number=1)
    for position, step in enumerate(document.steps, start=1):
        _step(version, position, step, path=document.path)
    if found := protocol.findings(study, protocol.read(version)):
        raise DocumentError(document.path, "steps", "; ".join(found))
    return study


def _cloze(document: StudyDocument) -> None:
    if document.cloze:
        try:
            load_cloze(document.cloze)
        except Changed as error:
            raise DocumentError(document.path, "cloze", str(error)) from None


def _stories(study: Study, document: StudyDocument) -> None:
    """The stories, their provenance and their groups."""
    told = document.collection
    made = [measure(Story(study=study, code=s.key, text=s.text, language=study.language)) for s in told.stories]
    story_by_code = {story.code: story for story in Story.objects.bulk_create(made)}
    source_by_name = _sources(told.stories, path=told.path)
    Provenance.objects.bulk_create(
        Provenance(
            story=story_by_code[s.key],
            source=source_by_name[s.source],
            title=s.title,
            url=s.url,
            licence=s.licence,
            may_redistribute=s.may_redistribute,
            may_send_out=s.may_send_out,
            factors=dict(s.factors),
        )
        for s in told.stories
    )
    for group in told.groups:
        made_group = StoryGroup.objects.create(study=study, code=group.key, premise=group.premise)
        made_group.stories.set([story_by_code[key] for key in group.stories])


def _sources(told: Iterable[StoryDocument], *, path: Path) -> dict[str, Source]:
    """The sources by name. A source is of one kind, in all studies. Raises DocumentError."""
    found: dict[str, Source] = {}
    for story in told:
        if story.source not in found:
            found[story.source], _ = Source.objects.get_or_create(
                name=story.source, defaults={"kind": story.source_kind}
            )
        if (kind := found[story.source].kind) != story.source_kind:
            reason = f"“{story.source}” is known as {kind}, not {story.source_kind}; a source has one kind"
            raise DocumentError(
                path, f"story {story.key}, source_kind", f"{reason}, so correct it or rename the source"
            )
    return found


def _step(version: ProtocolVersion, position: int, told: StepDocument, *, path: Path) -> Step:
    return Step.objects.create(
        version=version,
        position=position,
        key=told.key,
        kind=told.kind,
        title=told.title,
        text=told.text,
        instrument=_instrument(told, path=path) if told.instrument else None,
        scope=told.scope,
        locks=told.locks,
        background=told.background,
        layout=told.layout,
        revises=told.revises,
        options=dict(told.options),
        story=told.story,
        samples=dict(told.samples),
    )


def _instrument(step: StepDocument, *, path: Path) -> Instrument:
    """The instrument that a step names, "slug" or "slug@version". A built-in one is loaded if it is not there yet."""
    where = f"{step.where}, instrument"
    try:
        if document := _builtin(step.instrument):
            return load_instrument(document)
    except Changed as error:
        raise DocumentError(path, where, str(error)) from None
    slug, _, version = step.instrument.partition("@")
    published = Instrument.objects.filter(status=Instrument.Status.PUBLISHED)
    known = list(published.filter(slug=slug, version=version) if version else published.filter(slug=slug))
    if len(known) == 1:
        return known[0]
    if known:
        names = ", ".join(f"{slug}@{each.version}" for each in known)
        raise DocumentError(path, where, f"“{slug}” has several versions; name one: {names}")
    there = sorted({*documents.discover(), *(f"{each.slug}@{each.version}" for each in published)})
    near = get_close_matches(step.instrument, there, n=1)
    way_out = f"did you mean “{near[0]}”?" if near else f"there are {', '.join(there)}"
    raise DocumentError(path, where, f"there is no instrument “{step.instrument}”; {way_out}")


def _builtin(name: str) -> InstrumentDocument | None:
    """The built-in instrument of that name. A slug alone means the file of that slug; it has a version as well."""
    slug, _, version = name.partition("@")
    builtin = documents.discover()
    if name in builtin:
        return documents.read(builtin[name])
    document = documents.read(builtin[slug]) if slug in builtin else None
    return document if document and document.version == version else None
