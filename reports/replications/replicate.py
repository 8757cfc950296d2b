"""A published study brought in whole, and what its rows say as arrays to compute with."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from annotation import imports
from annotation.models import Rater
from reports import frames
from reports.models import Report
from reports.procedures import Evidence
from reports.replications import Release
from studies import hashing, protocol
from studies.loading import load_instrument
from studies.models import ProtocolVersion, Provenance, Source, Step, Story, StoryGroup, Study

WAY_OUT = "name another study with --study SLUG, or another database with DATABASE_URL=sqlite:////tmp/another.sqlite3"


class Occupied(Exception):
    """The study is there already and holds something else; the message names the way out."""


@transaction.atomic
def load(release: Release, said: Mapping[str, Any], *, slug: str, at: datetime) -> Study:
    """The closed study that holds the release, brought in now or before. Raises Occupied, imports.InvalidRow.

    A judge that is not yet in the study is brought in; everything else must be what came in the first time.
    """
    study = Study.objects.filter(slug=slug).first()
    if study is None:
        study = _study(release, said, slug=slug, at=at)
        imports.bring(study, release.rows, version=protocol.current(study), at=at)
        loaded: dict[str, str] = {}
    else:
        loaded = _loaded_judges(study, release)
        if all(judge.name in loaded for judge in release.judges):
            return study
    fresh = [judge for judge in release.judges if judge.name not in loaded]
    imports.bring(study, [row for judge in fresh for row in judge.rows], version=protocol.current(study), at=at)
    _add_silent(study, [judge.name for judge in fresh])
    files = dict(release.sha256_by_file)
    Report.objects.update_or_create(
        study=study,
        kind=Report.Kind.RELEASE,
        fingerprint=hashing.sha256(hashing.canonical(files)),
        defaults={
            "result": {"files": files, "judges": loaded | {judge.name: judge.sha256 for judge in fresh}},
            "made_at": at,
            "made_by": "replicate",
        },
    )
    return study


def _loaded_judges(study: Study, release: Release) -> dict[str, str]:
    """SHA-256 of the file of each judge that the study holds. Raises Occupied unless it holds this very release."""
    record = study.reports.filter(kind=Report.Kind.RELEASE).first()
    if record is None:
        raise Occupied(f"there is a study “{study.slug}” already, which was not brought in from a release; {WAY_OUT}")
    loaded: dict[str, str] = record.result["judges"]
    now = dict(release.sha256_by_file) | {judge.name: judge.sha256 for judge in release.judges if judge.name in loaded}
    then: dict[str, str] = record.result["files"] | loaded
    changed = [name for name, digest in now.items() if then.get(name) != digest]
    if changed:
        held = f"study “{study.slug}” was brought in from another release ({', '.join(changed)} was different then)"
        raise Occupied(f"{held}; {WAY_OUT}")
    return loaded


def _add_silent(study: Study, names: Sequence[str]) -> None:
    """A judge whose file holds no answer has no row to come in with, but is a judge all the same."""
    known = set(study.raters.values_list("code", flat=True))
    Rater.objects.bulk_create(Rater(study=study, code=n, kind=Rater.Kind.MODEL) for n in names if n not in known)


def _study(release: Release, said: Mapping[str, Any], *, slug: str, at: datetime) -> Study:
    """The study with its stories, groups and frozen protocol, closed."""
    about = said["study"]
    study = Study.objects.create(
        slug=slug,
        title=about["title"],
        description=f"{about['description'].strip()}\n\n{said['citation']}",
        notice=about["notice"],
        state=Study.State.CLOSED,
        seats_per_group=about["seats_per_group"],
        order_policy=Study.OrderPolicy.FIXED,
        closed_at=at,
    )
    _stories(study, release, said)
    version = ProtocolVersion.objects.create(study=study, number=1)
    Step.objects.create(
        version=version,
        position=1,
        key=about["step"],
        kind=Step.Kind.RATING,
        title=about["step_title"],
        instrument=load_instrument(release.instrument),
        scope=Step.Scope.STORY,
    )
    protocol.freeze(version, reason=f"replication of {said['name']}", by="replicate", at=at)
    return study


def _stories(study: Study, release: Release, said: Mapping[str, Any]) -> None:
    named = {**said["sources"], **release.sources}
    source_by_name = {name: _source(each["name"], each["kind"]) for name, each in named.items()}
    group_by_code = {
        code: StoryGroup.objects.create(study=study, code=code, premise=premise)
        for code, premise in release.premise_by_group.items()
    }
    for told in release.stories:
        story = Story(study=study, code=told.code, text=told.text, is_withheld=not told.text)
        story.save()
        group_by_code[told.group].stories.add(story)
        Provenance.objects.create(
            story=story,
            source=source_by_name[told.source],
            title=told.title,
            url=told.url,
            licence=said["study"]["licence"] if told.text else "",
            factors=dict(told.factors),
        )


def _source(name: str, kind: str) -> Source:
    """The source of that name. A source has one kind in all studies. Raises Occupied if this one is known as another.

    Results depend on the kind, so that another one would give other figures without a word.
    """
    found, _ = Source.objects.get_or_create(name=name, defaults={"kind": kind})
    if found.kind != kind:
        other = WAY_OUT.partition(", or ")[2]
        raise Occupied(f"source “{name}” is known here as {found.kind}, not {kind}; name {other}")
    return found


def evidence(study: Study, said: Mapping[str, Any], *, judges: Sequence[str]) -> Evidence:
    """What the study's rows say, as arrays over all its stories."""
    table = frames.counted(frames.frame(study, with_sources=True))
    keys = [(step.key, item.key) for step, item in frames.asked(study)]
    units = frames.units(study)
    # A source that only the files name is called as they call it.
    name_by_source = {each["name"]: name for name, each in said["sources"].items()}
    about = frames.source_by_story(study)
    verdicts = frames.cube(frames.judges(table), keys, raters=list(judges), among=units).values
    return Evidence(
        people=frames.cube(frames.people(table), keys, among=units),
        judges={name: verdicts[:, r, :] for r, name in enumerate(judges)},
        answers=frames.judges(table),
        sources=tuple(name_by_source.get(about[story]["source"], about[story]["source"]) for _, story in units),
        kinds=tuple(about[story]["source_kind"] for _, story in units),
    )
