"""Changing the draft of a protocol: its steps, one at a time, and what raters are told of the study.

Every change takes the draft's row first, so that two at once follow each other, and refuses once it is frozen. Keys and
positions are made here.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils.text import slugify
from django.utils.translation import gettext as _

from studies import items, lifecycle
from studies.documents.names import first_free
from studies.facts import KEYS
from studies.models import Instrument, ProtocolVersion, Step, Study
from studies.protocol.steps import Protocol, name_of, read_rows

LONGEST_KEY = 40
OUT_OF_THE_WAY = 10_000  # added to positions while they are dealt anew, since no two steps may share one
# What of the study raters are told, and a page of its own changes.
TOLD = ("title", "text_kind", *KEYS, "closes_at")


class NotChanged(ValueError):
    """The draft stays as it was; the message says why, and what would do."""


class NotEditable(NotChanged):
    """The study has been launched, or its protocol is frozen."""


class Misplaced(NotChanged):
    """A step cannot stand where it was put."""


@dataclass(frozen=True)
class ScopeChoice:
    """One way in which questions can be asked. reason : why not these; "" if they can"""

    scope: str
    reason: str = ""


def list_scopes(instrument: Instrument) -> list[ScopeChoice]:
    """Every scope, and of each whether the instrument's questions can be asked so. Its items are read."""
    questions = list(instrument.items.all())
    if getattr(instrument, "cloze", None):
        reason = _("a text with blanks is filled as a whole")
    elif any(items.find_type(item.type).about_stories for item in questions):
        reason = _("these questions compare stories")
    else:
        reason = ""
    return [ScopeChoice(scope, "" if scope == Step.Scope.GROUP else reason) for scope in Step.Scope.values]


@transaction.atomic
def add_step(
    study: Study, *, kind: str, fields: Mapping[str, Any], scope: str = "", index: int | None = None, key: str = ""
) -> Step:
    """A new step of the draft. Raises NotEditable, Misplaced; NotChanged for a scope that its questions cannot have.

    fields : of `Step`
    index : at which place it stands, from 0; at the end if not given
    key : as files and templates name it; otherwise made from its name
    """
    version = _take_draft(study)
    steps = list(read_rows(version).steps)
    step = Step(version=version, kind=kind, scope=scope, **fields)
    step.layout = _layout_of(step)
    _check_scope(step)
    step.key = key or _free_key(step, {other.key for other in steps})
    after = list(steps)
    after.insert(len(steps) if index is None else index, step)
    _check_order(steps, after)
    step.position = len(steps) + 1
    step.save()
    _number(after)
    return step


@transaction.atomic
def change_step(step: Step, fields: Mapping[str, Any]) -> Step:
    """The step with these fields changed. Raises NotEditable, Misplaced or NotChanged."""
    version = _take_draft(step.version.study)
    steps = list(read_rows(version).steps)
    current = _find(steps, step)
    changed = _with_fields(steps, current, fields)
    changed.save()
    return changed


def try_step(drafted: Protocol, step: Step, fields: Mapping[str, Any]) -> Protocol:
    """The protocol with that step changed, saved nowhere. Raises Misplaced or NotChanged as `change_step` does."""
    changed = _with_fields(drafted.steps, step, fields)
    return replace(drafted, steps=tuple(changed if other.pk == step.pk else other for other in drafted.steps))


def _with_fields(steps: Sequence[Step], step: Step, fields: Mapping[str, Any]) -> Step:
    """A copy of the step with these fields, which can stand in its place."""
    changed = copy(step)
    for name, value in fields.items():
        setattr(changed, name, value)
    if changed.instrument_id != step.instrument_id:
        changed.layout = _layout_of(changed)
    _check_scope(changed)
    _check_order(steps, [changed if other.pk == changed.pk else other for other in steps])
    return changed


@transaction.atomic
def move_step(step: Step, *, to: int) -> Step:
    """The step at that place, from 0; beyond either end is the end. Raises NotEditable and Misplaced."""
    version = _take_draft(step.version.study)
    steps = list(read_rows(version).steps)
    current = _find(steps, step)
    after = [other for other in steps if other.pk != current.pk]
    after.insert(min(max(to, 0), len(after)), current)
    _check_order(steps, after)
    _number(after)
    return current


@transaction.atomic
def remove_step(step: Step) -> None:
    """Take the step out of the draft. Raises NotEditable, and Misplaced if another step builds on it."""
    version = _take_draft(step.version.study)
    steps = list(read_rows(version).steps)
    current = _find(steps, step)
    after = [other for other in steps if other.pk != current.pk]
    _check_order(steps, after)
    current.delete()
    _number(after)


@transaction.atomic
def change_told(study: Study, fields: Mapping[str, Any]) -> None:
    """Change what raters are told of the study (`TOLD`). Raises NotEditable."""
    _take_draft(study).study.say({name: fields[name] for name in TOLD if name in fields})


def _take_draft(study: Study) -> ProtocolVersion:
    """The version that may still be edited, held until the end of the transaction. Raises NotEditable."""
    versions = ProtocolVersion.objects.select_for_update(of=("self",)).select_related("study").filter(study=study)
    rows = list(versions.order_by("number"))
    is_frozen = any(version.frozen_at is not None for version in rows)
    if not rows or not lifecycle.may_edit(rows[0].study, is_frozen=is_frozen):
        raise NotEditable(_("The protocol is frozen and cannot be changed. To ask something else, make a new study."))
    return rows[0]


def _find(steps: Sequence[Step], step: Step) -> Step:
    for other in steps:
        if other.pk == step.pk:
            return other
    raise NotChanged(_("Someone else has removed this step."))


def _layout_of(step: Step) -> str:
    """How the step is laid out: as a running text if its instrument fills one."""
    is_cloze = bool(step.instrument and getattr(step.instrument, "cloze", None))
    return Step.Layout.CLOZE if is_cloze else Step.Layout.ITEMS


def _check_scope(step: Step) -> None:
    if step.kind != Step.Kind.RATING or step.instrument is None:
        return
    reason = next((choice.reason for choice in list_scopes(step.instrument) if choice.scope == step.scope), "")
    if reason:
        message = _("“%(step)s” can only be asked about the group as a whole: %(reason)s.")
        raise NotChanged(message % {"step": name_of(step), "reason": reason})


def _check_order(before: Sequence[Step], after: Sequence[Step]) -> None:
    """Raise Misplaced for the first fault that the new order has and the old one had not."""
    old_faults = set(_faults_of_order(before))
    for fault in _faults_of_order(after):
        if fault not in old_faults:
            raise Misplaced(fault)


def _faults_of_order(steps: Sequence[Step]) -> Iterator[str]:
    """What in this order cannot be, in sentences. Study files are held to the same."""
    for index, step in enumerate(steps):
        earlier = steps[:index]
        names = {"step": name_of(step)}
        if step.kind == Step.Kind.CONSENT and any(other.kind == Step.Kind.CONSENT for other in earlier):
            yield _("There is already a consent step: raters agree once, to one text.")
        elif step.kind == Step.Kind.CONSENT and earlier:
            yield _("“%(step)s” must stay first: nothing is asked before the rater has agreed.") % names
        if step.kind == Step.Kind.PRACTICE and any(_is_in_group(other) for other in earlier):
            yield _("“%(step)s” belongs before the first group: practice comes before the real questions.") % names
        if step.locks and step.scope == Step.Scope.ONCE:
            yield _("“%(step)s” is asked once, outside of the groups, so it cannot lock answers.") % names
        elif step.locks and not any(other.kind == Step.Kind.RATING for other in earlier):
            yield (
                _("“%(step)s” locks what was answered before it, so it cannot come before all other questions.") % names
            )
        if step.revises and not any(_is_revised(step, other) for other in earlier):
            sentence = _("“%(step)s” shows the answers of an earlier step again, which must come before it.")
            yield sentence % names


def _is_in_group(step: Step) -> bool:
    return step.kind == Step.Kind.RATING and step.scope != Step.Scope.ONCE


def _is_revised(step: Step, other: Step) -> bool:
    is_same = (other.key, other.instrument_id) == (step.revises, step.instrument_id)
    return is_same and other.scope in (Step.Scope.ONCE, step.scope)


def _free_key(step: Step, keys: set[str]) -> str:
    """A key from the step's name, unlike those that there are."""
    return first_free(slugify(name_of(step)).strip("-_") or str(step.kind), keys, longest=LONGEST_KEY)


def _number(steps: Sequence[Step]) -> None:
    """Give the steps their positions in this order, from 1."""
    if not steps:
        return
    Step.objects.filter(version=steps[0].version_id).update(position=F("position") + OUT_OF_THE_WAY)
    for position, step in enumerate(steps, start=1):
        step.position = position
        Step.objects.filter(pk=step.pk).update(position=position)


def default_index(protocol: Protocol, *, kind: str, scope: str, is_last: bool = False) -> int:
    """Where a new step of that kind stands at first, from 0; before the debriefing, but for another text after it.

    is_last : it belongs after the groups
    """
    end = len(protocol.steps)
    if protocol.debriefing and (kind == Step.Kind.RATING or not is_last):
        end = protocol.steps.index(protocol.debriefing)
    in_group = [index for index, step in enumerate(protocol.steps) if _is_in_group(step)]
    if kind == Step.Kind.CONSENT:
        return 0
    if kind == Step.Kind.RATING and scope != Step.Scope.ONCE:
        alike = [index for index in in_group if protocol.steps[index].scope == scope]
        if alike:
            return alike[-1] + 1
        if scope == Step.Scope.STORY and in_group:
            return in_group[0]
        return in_group[-1] + 1 if in_group else end
    return end if is_last or not in_group else in_group[0]


def practisable_items(step: Step) -> list[Any]:
    """The items of a practice step's instrument that can be practised, all of them and not only those with a sample."""
    questions = step.instrument.items.all() if step.instrument else []
    return [item for item in questions if not items.find_type(item.type).about_stories]
