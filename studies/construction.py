"""Making a study in the database: its stories with their provenance, its groups, and the draft of its protocol.

The one place where this is done, for study files, for studies of fills and for replications.
"""

import secrets
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Any, TypeVar

from django.db import transaction

from studies.documents.stories import GroupDocument, StoryDocument
from studies.documents.study import StepDocument
from studies.models import (
    Instrument,
    ProtocolVersion,
    Provenance,
    Source,
    Step,
    Story,
    StoryGroup,
    Study,
    measure,
)
from studies.vocabulary import SourceKind

T = TypeVar("T")
MOST_KEY = 2**52  # below what scripts and spreadsheets can count to


class SourceConflict(ValueError):
    """A source is known as one of another kind; a source has one kind in all studies.

    story : key of the first story that says otherwise
    """

    def __init__(self, source: Source, *, kind: str, story: str) -> None:
        super().__init__(f"“{source.name}” is known as {source.kind}, not {kind}; a source has one kind")
        self.source, self.kind, self.story = source, kind, story


@transaction.atomic
def create_study(
    fields: Mapping[str, Any],
    *,
    stories: Sequence[StoryDocument],
    groups: Sequence[GroupDocument],
    steps: Sequence[StepDocument] = (),
    instruments: Mapping[str, Instrument] | None = None,
) -> Study:
    """The study with its first version of the protocol, a draft. Raises SourceConflict.

    fields : of `studies.models.Study`
    stories : a story without a text is withheld
    instruments : by the name under which steps ask for them
    """
    study = Study.objects.create(**fields)
    add_stories(study, stories, groups)
    version = ProtocolVersion.objects.create(study=study, number=1)
    for position, step in enumerate(steps, start=1):
        _create_step(version, position, step, instruments or {})
    return study


@transaction.atomic
def add_stories(study: Study, stories: Sequence[StoryDocument], groups: Sequence[GroupDocument]) -> None:
    """Put these stories into the study, and into groups: those that it has by that code, or new ones.

    Raises SourceConflict.
    """
    story_by_key = _create_stories(study, stories)
    add_groups(study, [(group.key, group.premise, [story_by_key[key].pk for key in group.stories]) for group in groups])


def add_groups(study: Study, groups: Iterable[tuple[str, str, Sequence[int]]]) -> None:
    """Put stories into groups, given as code, premise and keys of stories; a code that is there means that group."""
    drawn = _in_chance_order(groups)
    group_by_code = {row.code: row for row in StoryGroup.objects.filter(study=study)}
    rows = [
        StoryGroup(pk=draw_key(), study=study, code=code, premise=text)
        for code, text, _ in drawn
        if code not in group_by_code
    ]
    group_by_code |= {row.code: row for row in StoryGroup.objects.bulk_create(rows)}
    pairs = [(group_by_code[code].pk, key) for code, _premise, keys in drawn for key in keys]
    through = StoryGroup.stories.through
    through.objects.bulk_create(
        through(storygroup_id=group, story_id=story) for group, story in _in_chance_order(pairs)
    )


def _create_stories(study: Study, documents: Sequence[StoryDocument]) -> dict[str, Story]:
    """The stories by key, each with its provenance."""
    source_by_name = _ensure_sources(documents)
    rows = [
        measure(
            Story(
                pk=draw_key(),
                study=study,
                code=story.key,
                text=story.text,
                language=study.language,
                is_withheld=not story.text,
            )
        )
        for story in _in_chance_order(documents)
    ]
    story_by_key = {row.code: row for row in Story.objects.bulk_create(rows)}
    Provenance.objects.bulk_create(
        Provenance(
            story=story_by_key[story.key],
            source=source_by_name[story.source],
            title=story.title,
            url=story.url,
            licence=story.licence,
            may_redistribute=story.may_redistribute,
            may_send_out=story.may_send_out,
            factors=dict(story.factors),
        )
        for story in _in_chance_order(documents)
    )
    return story_by_key


def draw_key() -> int:
    """A primary key of a story or group, which tells neither in which order they came in nor which came in together.

    Primary keys stand in the admin's addresses. If they were counted, those of a second file, or of what a model wrote,
    would come after those of the first, and a blind coordinator could tell who wrote a story.
    """
    return secrets.randbelow(MOST_KEY) + 1


def _in_chance_order(documents: Iterable[T]) -> list[T]:
    """The documents in an order that nobody can draw again: rows are found in the order in which they were written.

    It would tell a blind coordinator who wrote a story if it followed a file that is sorted by source; and whoever
    knows the study's seed would know an order that is drawn from that.
    """
    mixed = list(documents)
    secrets.SystemRandom().shuffle(mixed)
    return mixed


def _ensure_sources(documents: Sequence[StoryDocument]) -> dict[str, Source]:
    """The sources by name, made where they are not there yet."""
    source_by_name: dict[str, Source] = {}
    for story in documents:
        kind = SourceKind(story.source_kind)
        if story.source not in source_by_name:
            source, _ = Source.objects.get_or_create(name=story.source, defaults={"kind": kind})
            source_by_name[story.source] = source
        if source_by_name[story.source].kind != kind:
            raise SourceConflict(source_by_name[story.source], kind=kind, story=story.key)
    return source_by_name


@transaction.atomic
def copy_groups(
    study: Study, groups: Sequence[StoryGroup], pairs: Sequence[tuple[int, int]], *, with_origins: bool
) -> None:
    """Put copies of these groups of another study into the study, each with copies of the stories that pairs name.

    pairs : (group, story) by primary key; a story may stand in several groups
    with_origins : with the provenance of each, which says then of what it is a copy
    """
    story_by_key = Story.objects.in_bulk({story for _group, story in pairs})
    copy_by_key = {key: copy(story) for key, story in _in_chance_order(story_by_key.items())}
    for story in copy_by_key.values():
        story.pk, story.study = draw_key(), study
    Story.objects.bulk_create(copy_by_key.values())
    keys_by_group: dict[int, list[int]] = defaultdict(list)
    for group, key in pairs:
        keys_by_group[group].append(copy_by_key[key].pk)
    add_groups(study, [(group.code, group.premise, keys_by_group[group.pk]) for group in groups])
    if with_origins:
        origins = list(Provenance.objects.in_bulk(copy_by_key).values())
        for origin in origins:
            # Of a copy the story that it is a copy of: the copies in between can be deleted.
            origin.copied_from_id, origin.story = origin.copied_from_id or origin.pk, copy_by_key[origin.pk]
        Provenance.objects.bulk_create(origins)


def copy_steps(steps: Sequence[Step], version: ProtocolVersion) -> None:
    """Give the version these steps of another."""
    for step in steps:
        step.pk, step.version = None, version
    Step.objects.bulk_create(steps)


def _create_step(
    version: ProtocolVersion, position: int, step: StepDocument, instruments: Mapping[str, Instrument]
) -> None:
    Step.objects.create(
        version=version,
        position=position,
        key=step.key,
        kind=step.kind,
        title=step.title,
        text=step.text,
        instrument=instruments[step.instrument] if step.instrument else None,
        scope=step.scope,
        locks=step.locks,
        background=step.background,
        layout=step.layout,
        revises=step.revises,
        options=dict(step.options),
        story=step.story,
        samples=dict(step.samples),
    )
