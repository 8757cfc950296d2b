"""The protocol of a study: its steps as raters meet them, and the version that freezes them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.db import transaction
from django.db.models import Prefetch
from django.utils.translation import gettext as _

from studies import hashing, items
from studies.cloze import switches
from studies.models import Cloze, Item, ProtocolVersion, Step, StoryGroup, Study


class NotPlannable(ValueError):
    """The study cannot run as it stands; the message says what is missing."""


@dataclass(frozen=True)
class Protocol:
    """The steps of one version, with their instruments and items at hand."""

    version: ProtocolVersion
    steps: tuple[Step, ...]

    @cached_property
    def ratings(self) -> tuple[Step, ...]:
        """The steps that belong to a group and ask an instrument, in order."""
        return tuple(s for s in self.steps if s.kind == Step.Kind.RATING and s.scope != Step.Scope.ONCE)

    @cached_property
    def consent(self) -> Step | None:
        return next((s for s in self.steps if s.kind == Step.Kind.CONSENT), None)

    @property
    def fills_cloze(self) -> bool:
        """Whether raters fill a text instead of reading stories: a group then holds that text and nothing else."""
        return any(step.layout == Step.Layout.CLOZE for step in self.ratings)

    @property
    def asks_reasons(self) -> bool:
        """Whether any answer, in a group or around it, has a field for reasons."""
        return any(item.rationale != Item.Rationale.NONE for step in self.steps for item in items_of(step))

    def step(self, key: str) -> Step | None:
        return next((s for s in self.steps if s.key == key), None)

    def locked_by(self, step: Step) -> Step | None:
        """The first later step that locks this one, if there is one."""
        return next((s for s in self.steps if s.position > step.position and s.locks), None)

    def revised_by(self, step: Step) -> Step | None:
        """The earlier step whose answers stand in this one again; None if it revises none, or one that does not fit."""
        asked = (s for s in self.steps if s.position < step.position and s.instrument_id == step.instrument_id)
        fitting = (s for s in asked if s.kind == Step.Kind.RATING and s.scope in (Step.Scope.ONCE, step.scope))
        return next((s for s in fitting if s.key == step.revises), None)


def read(version: ProtocolVersion) -> Protocol:
    """The protocol of that version, in three queries: steps with instruments, and their items."""
    by_position = Prefetch("instrument__items", Item.objects.order_by("position"))
    steps = version.steps.select_related("instrument").prefetch_related(by_position).order_by("position")
    return Protocol(version=version, steps=tuple(steps))


def items_of(step: Step) -> list[Item]:
    """The items that a step asks, in order: of a practice those that have a sample answer; none for a text."""
    every = list(step.instrument.items.all()) if step.instrument else []
    # Samples that were edited into something else are named by `findings`.
    sampled = step.samples if isinstance(step.samples, dict) else {}
    return [item for item in every if step.kind != Step.Kind.PRACTICE or item.key in sampled]


def draft(study: Study) -> ProtocolVersion:
    """The version that can still be edited. Raises NotPlannable if all are frozen."""
    version = study.versions.filter(frozen_at=None).first()
    if version is None:
        raise NotPlannable(_("%(study)s: the protocol is frozen already") % {"study": study.slug})
    return version


def current(study: Study) -> ProtocolVersion:
    """The frozen version that newcomers get. Raises NotPlannable if there is none yet."""
    version = study.versions.exclude(frozen_at=None).order_by("-number").first()
    if version is None:
        raise NotPlannable(_("%(study)s: no protocol is frozen yet; run `plan %(study)s`") % {"study": study.slug})
    return version


def document(protocol: Protocol) -> str:
    """The protocol as canonical JSON: the words of every step, item, story and premise that raters meet, by hash where
    they are long, and nothing that depends on this database. Title, organiser and notice stay the study's own."""
    study = protocol.version.study
    content: dict[str, Any] = {
        "study": study.slug,
        "language": study.language,
        "shows_premise": study.shows_premise,
        "asks_recognition": study.asks_recognition,
        "seats_per_group": study.seats_per_group,
        "order_policy": study.order_policy,
        "seed": study.seed,
        "groups_per_sitting": study.groups_per_sitting,
        "steps": [_step(step) for step in protocol.steps],
        "groups": {g.code: sorted(s.code for s in g.stories.all()) for g in study.groups.prefetch_related("stories")},
        "stories": {s.code: s.sha256 for s in study.stories.all()},
    }
    if study.shows_premise:
        content["premises"] = {g.code: g.premise for g in study.groups.all()}
    return hashing.canonical(content)


def _step(step: Step) -> dict[str, Any]:
    said: dict[str, Any] = {
        name: getattr(step, name)
        for name in ("key", "kind", "title", "text", "scope", "locks", "background", "layout", "revises", "options")
    }
    if step.kind == Step.Kind.PRACTICE:
        said |= {"story": step.story, "samples": step.samples}
    if step.instrument:
        said["instrument"] = {
            "slug": step.instrument.slug,
            "version": step.instrument.version,
            "fingerprint": step.instrument.fingerprint,
        }
    return said


def findings(study: Study, protocol: Protocol) -> list[str]:
    """What stands in the way of running the study, one sentence each; empty if nothing does."""
    found: list[str] = []
    groups = list(study.groups.prefetch_related("stories"))
    if not groups:
        found.append(_("the study has no groups of stories"))
    found += [_("group %(group)s has no stories") % {"group": g.code} for g in groups if not g.stories.all()]
    if not protocol.ratings:
        found.append(_("no step asks an instrument about stories or groups"))
    consents = [s.position for s in protocol.steps if s.kind == Step.Kind.CONSENT]
    if len(consents) > 1:
        found.append(_("there is more than one consent step"))
    if consents and consents[0] != min(s.position for s in protocol.steps):
        found.append(_("consent must be the first step"))
    for step in protocol.steps:
        for item in items_of(step):
            kind = items.named(item.type)
            if not kind.about_stories or step.kind == Step.Kind.PRACTICE:
                continue
            if step.scope != Step.Scope.GROUP:
                said = _("step %(step)s asks %(item)s, which compares stories, so its scope must be group")
                found.append(said % {"step": step.key, "item": item.key})
            for group in groups:
                n, named = len(group.stories.all()), {"step": step.key, "item": item.key, "group": group.code}
                if n == 1:
                    said = _("step %(step)s asks %(item)s, which compares stories, but group %(group)s has only one")
                    found.append(said % named)
                elif kind.most_stories and n > kind.most_stories:
                    said = _("step %(step)s asks %(item)s, which compares two stories, but group %(group)s has %(n)d")
                    found.append(said % {**named, "n": n})
    for step in protocol.steps:
        found += _findings_of_cloze(step, groups)
        found += _findings_of_practice(step, protocol)
        if step.locks and step not in protocol.ratings:
            said = _("step %(step)s, locks: only a step that asks about stories or groups can lock what came before")
            found.append(said % {"step": step.key})
        if step.revises and protocol.revised_by(step) is None:
            said = _("step %(step)s revises %(revised)s, which is no earlier step with its instrument and scope")
            found.append(said % {"step": step.key, "revised": step.revises})
    return found


def _findings_of_cloze(step: Step, groups: Sequence[StoryGroup]) -> Iterator[str]:
    """What keeps a step from being filled in the running text."""
    if step.layout != Step.Layout.CLOZE:
        if step.options:
            yield _("step %(step)s has options, which belong to the layout cloze") % {"step": step.key}
        return
    cloze = Cloze.objects.filter(filling=step.instrument_id).first() if step.instrument_id else None
    if cloze is None:
        yield _("step %(step)s is laid out as a cloze, but its instrument does not fill one") % {"step": step.key}
        return
    if step.scope != Step.Scope.GROUP:
        yield _("step %(step)s is laid out as a cloze, so its scope must be group") % {"step": step.key}
    if reason := switches.misfit(step.options):
        yield _("step %(step)s: %(why)s") % {"step": step.key, "why": reason}
    for group in groups:
        if [story.text for story in group.stories.all()] != [cloze.skeleton]:
            said = _("group %(group)s must hold one story, the text of %(cloze)s with its markers, for step %(step)s")
            yield said % {"group": group.code, "cloze": cloze, "step": step.key}


def _findings_of_practice(step: Step, protocol: Protocol) -> Iterator[str]:
    """What keeps a story from being practised on."""
    if step.kind != Step.Kind.PRACTICE or not step.instrument:
        return
    if any(rating.position < step.position for rating in protocol.ratings):
        yield _("step %(step)s is a practice, which belongs before the first group") % {"step": step.key}
    if not step.story:
        yield _("step %(step)s has no story to practise on") % {"step": step.key}
    if not step.samples or not isinstance(step.samples, dict):
        yield _("step %(step)s has no sample answers, so it asks nothing") % {"step": step.key}
        return
    item_by_key = {item.key: item for item in step.instrument.items.all()}
    for key, sample in step.samples.items():
        named = {"step": step.key, "item": key, "instrument": step.instrument}
        if not isinstance(sample, dict) or set(sample) != {"value", "why"}:
            yield _("step %(step)s, the sample answer to %(item)s: must have value and why, and nothing else") % named
            continue
        if key not in item_by_key:
            yield _("step %(step)s has a sample answer to %(item)s, which %(instrument)s does not ask") % named
            continue
        kind = items.named(item_by_key[key].type)
        if kind.about_stories:
            yield _("step %(step)s practises %(item)s, which compares stories; a practice has one") % named
            continue
        try:
            kind.clean(item_by_key[key], sample["value"], stories=())
        except items.InvalidAnswer as error:
            why = {**named, "why": error}
            yield _("step %(step)s, the sample answer to %(item)s: %(why)s") % why


@transaction.atomic
def freeze(version: ProtocolVersion, *, reason: str, by: str, at: datetime) -> ProtocolVersion:
    """The version with its document and hash, never to change again. Raises NotPlannable with all that is missing."""
    protocol = read(version)
    if found := findings(version.study, protocol):
        raise NotPlannable(f"{version.study.slug}: " + "; ".join(found))
    version.document = document(protocol)
    version.sha256 = hashing.sha256(version.document)
    version.reason, version.frozen_by, version.frozen_at = reason, by, at
    version.save()
    return version
