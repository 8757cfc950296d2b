"""A published study brought in whole, and what its rows say as arrays to compute with."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.db import transaction

from annotation.models import Rater
from annotation.responses import imports
from reports.dataset import Dataset, cubes
from reports.dataset.sources import source_by_story
from reports.dataset.step_items import step_items
from reports.models import Report
from reports.replications import Release
from reports.replications.procedures import Evidence
from reports.replications.voted_pairs import collect_pairs
from studies import hashing, protocol
from studies.construction import SourceConflict, create_study
from studies.documents.stories import GroupDocument, StoryDocument
from studies.documents.study import StepDocument
from studies.loader import load_instrument
from studies.models import Step, Study

WAY_OUT = "name another study with --study SLUG, or another database with DATABASE_URL=sqlite:////tmp/another.sqlite3"


class StudyConflict(Exception):
    """The study is there already and holds something else; the message names the way out."""


@transaction.atomic
def load_release(release: Release, spec: Mapping[str, Any], *, slug: str, at: datetime) -> Study:
    """The closed study that holds the release, brought in now or before. Raises StudyConflict, InvalidRow.

    A judge that is not yet in the study is brought in; everything else must be what came in the first time.
    """
    study = Study.objects.filter(slug=slug).first()
    if study is None:
        study = _create_study(release, spec, slug=slug, at=at)
        imports.import_rows(study, release.rows, version=protocol.current(study), at=at)
        sha256_by_judge: dict[str, str] = {}
    else:
        sha256_by_judge = _loaded_judges(study, release)
        if all(judge.name in sha256_by_judge for judge in release.judges):
            return study
    fresh = [judge for judge in release.judges if judge.name not in sha256_by_judge]
    code_by_code = _kept_codes(study, release)
    fresh = [replace(judge, rows=tuple(_recode(judge.rows, code_by_code))) for judge in fresh]
    imports.import_rows(study, [row for judge in fresh for row in judge.rows], version=protocol.current(study), at=at)
    _add_silent_judges(study, [judge.name for judge in fresh])
    files = dict(release.sha256_by_file)
    Report.objects.update_or_create(
        study=study,
        kind=Report.Kind.RELEASE,
        fingerprint=hashing.sha256(hashing.canonical_json(files)),
        defaults={
            "result": {"files": files, "judges": sha256_by_judge | {judge.name: judge.sha256 for judge in fresh}},
            "made_at": at,
            "made_by": "replicate",
        },
    )
    return study


def store_comparison(study: Study, document: Mapping[str, Any], *, command: str, at: datetime) -> None:
    """Keep what the comparison gave beside what was brought in, for the page; a later one takes its place."""
    record = study.reports.get(kind=Report.Kind.RELEASE)
    record.result = record.result | {
        "comparison": dict(document),
        "command": command,
        "compared_at": at.isoformat(timespec="seconds"),
    }
    record.save(update_fields=["result"])


def _loaded_judges(study: Study, release: Release) -> dict[str, str]:
    """SHA-256 of the file of each judge that the study holds. Raises StudyConflict unless it holds this release."""
    record = study.reports.filter(kind=Report.Kind.RELEASE).first()
    if record is None:
        raise StudyConflict(
            f"there is a study “{study.slug}” already, which was not brought in from a release; {WAY_OUT}"
        )
    sha256_by_judge: dict[str, str] = record.result["judges"]
    now = dict(release.sha256_by_file) | {
        judge.name: judge.sha256 for judge in release.judges if judge.name in sha256_by_judge
    }
    loaded: dict[str, str] = record.result["files"] | sha256_by_judge
    changed = [name for name, digest in now.items() if loaded.get(name) != digest]
    if changed:
        reason = f"study “{study.slug}” was brought in from another release ({', '.join(changed)} was different then)"
        raise StudyConflict(f"{reason}; {WAY_OUT}")
    return sha256_by_judge


def _kept_codes(study: Study, release: Release) -> dict[str, str]:
    """The study's code of each story and group by the one that the reader makes now, another one under another key.

    By the name that the release gives the story, where it is kept among its factors; without it codes stay as they are.
    Groups are known by their stories.
    """
    kept = {source.factors.get("release_id"): code for code, source in source_by_story(study).items()}
    named = [(story.code, story.factors["release_id"]) for story in release.stories if "release_id" in story.factors]
    code_by_code = {code: kept[name] for code, name in named if name in kept}
    stories_by_group = defaultdict[str, set[str]](set)
    for group, story in cubes.list_units(study):
        stories_by_group[group].add(story)
    group_by_stories = {frozenset(stories): group for group, stories in stories_by_group.items()}
    for document in _group_documents(release):
        of_group = frozenset(code_by_code.get(code, code) for code in document.stories)
        if of_group in group_by_stories:
            code_by_code[document.key] = group_by_stories[of_group]
    return code_by_code


def _recode(rows: Iterable[imports.Row], code_by_code: Mapping[str, str]) -> Iterator[imports.Row]:
    """The rows with the study's codes of their stories and groups, in answers that are a story, too."""
    for row in rows:
        value = row.answer.value
        is_code = isinstance(value, str) and value in code_by_code
        answer = replace(row.answer, value=code_by_code[value]) if is_code else row.answer
        group, story = code_by_code.get(row.group, row.group), code_by_code.get(row.story, row.story)
        yield replace(row, group=group, story=story, answer=answer)


def _add_silent_judges(study: Study, names: Sequence[str]) -> None:
    """Add the judges whose files hold no answer: no row brings them in, but they are judges all the same."""
    codes = set(study.raters.values_list("code", flat=True))
    Rater.objects.bulk_create(Rater(study=study, code=n, kind=Rater.Kind.MODEL) for n in names if n not in codes)


def _create_study(release: Release, spec: Mapping[str, Any], *, slug: str, at: datetime) -> Study:
    """The study with its stories, groups and frozen protocol, closed. Raises StudyConflict."""
    instruments = {release.instrument.slug: load_instrument(release.instrument)}
    try:
        study = create_study(
            _study_fields(spec, slug=slug, at=at),
            stories=_story_documents(release, spec),
            groups=_group_documents(release),
            steps=[_step_document(release, spec)],
            instruments=instruments,
        )
    except SourceConflict as error:
        # Results depend on the kind, so that another one would give other figures without a word.
        other = WAY_OUT.partition(", or ")[2]
        reason = f"source “{error.source.name}” is known here as {error.source.kind}, not {error.kind}"
        raise StudyConflict(f"{reason}; name {other}") from None
    version = study.versions.get()
    purpose = protocol.Purpose.IMPORT
    protocol.freeze(version, purpose=purpose, reason=f"replication of {spec['name']}", by="replicate", at=at)
    return study


def _study_fields(spec: Mapping[str, Any], *, slug: str, at: datetime) -> dict[str, Any]:
    about = spec["study"]
    return {
        "slug": slug,
        "title": about["title"],
        "description": f"{about['description'].strip()}\n\n{spec['citation']}",
        "notice": about["notice"],
        "state": Study.State.CLOSED,
        "seats_per_group": about["seats_per_group"],
        "order_policy": Study.OrderPolicy.FIXED,
        "closed_at": at,
    }


def _story_documents(release: Release, spec: Mapping[str, Any]) -> list[StoryDocument]:
    sources = {**spec["sources"], **release.sources}
    return [
        StoryDocument(
            key=story.code,
            text=story.text,
            source=sources[story.source]["name"],
            source_kind=sources[story.source]["kind"],
            title=story.title,
            url=story.url,
            licence=spec["study"]["licence"] if story.text else "",
            factors=story.factors,
        )
        for story in release.stories
    ]


def _group_documents(release: Release) -> list[GroupDocument]:
    stories_by_group: dict[str, list[str]] = {code: [] for code in release.premise_by_group}
    for story in release.stories:
        for code in story.groups:
            stories_by_group[code].append(story.code)
    return [
        GroupDocument(code, premise, tuple(stories_by_group[code]))
        for code, premise in release.premise_by_group.items()
    ]


def _step_document(release: Release, spec: Mapping[str, Any]) -> StepDocument:
    return StepDocument(
        location="step 1",
        key=spec["study"]["step"],
        kind=Step.Kind.RATING,
        title=spec["study"]["step_title"],
        instrument=release.instrument.slug,
        scope=Step.Scope(spec["study"].get("scope", Step.Scope.STORY)),
    )


def collect_evidence(study: Study, spec: Mapping[str, Any], *, judges: Sequence[str]) -> Evidence:
    """What the study's rows say, as arrays over all its stories."""
    data = Dataset.of(study)
    keys = [item.key for item in step_items(study)]
    units = cubes.list_units(study)
    # A source that only the files name is called as they call it.
    name_by_source = {source["name"]: name for name, source in spec["sources"].items()}
    source_by_code = source_by_story(study)
    verdicts = cubes.build_cube(data.judges, keys, raters=list(judges), units=units).values
    return Evidence(
        people=cubes.build_cube(data.people, keys, units=units),
        judges={name: verdicts[:, r, :] for r, name in enumerate(judges)},
        answers=data.judges,
        sources=tuple(name_by_source.get(source_by_code[story].name, source_by_code[story].name) for _, story in units),
        kinds=tuple(source_by_code[story].kind for _, story in units),
        pairs=collect_pairs(data, judges=judges) if any(item.is_preference for item in data.items) else None,
    )
