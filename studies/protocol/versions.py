"""The versions of a protocol: the draft, those that are frozen, and how each is read."""

from datetime import datetime
from functools import lru_cache

from django.db import transaction
from django.db.models import F, Max
from django.utils.translation import gettext as _

from studies import hashing
from studies.items.number import Number
from studies.models import Instrument, ProtocolVersion, Step, Study
from studies.protocol.findings import collect_findings
from studies.protocol.frozen import compile_steps, write_document
from studies.protocol.purposes import Purpose, select_errors
from studies.protocol.steps import Protocol, read_rows


class NotPlannable(ValueError):
    """The study cannot run as it stands; the message says what is missing."""


def load_protocol(version: ProtocolVersion) -> Protocol:
    """The protocol of that version: of a frozen one as frozen, with no query once this process has read it.

    A draft is read from the rows, in two queries. Raises DamagedProtocol if rows of a frozen one are missing.
    """
    if version.frozen_at is None:
        return read_rows(version)
    return Protocol(version=version, steps=_compiled(version.pk, version.sha256, version.frozen_at))


# By the time of freezing too: a number that was rolled back could come again for another version with the same words.
@lru_cache(maxsize=64)
def _compiled(pk: int, sha256: str, frozen_at: datetime) -> tuple[Step, ...]:
    version = ProtocolVersion.objects.only("document", "amends_id").get(pk=pk)
    return compile_steps(version, version.document)


def forget_protocols() -> None:
    """Read every protocol again from now on, as after rows were changed by hand."""
    _compiled.cache_clear()


def draft(study: Study) -> ProtocolVersion:
    """The version that can still be edited. Raises NotPlannable if all are frozen."""
    version = study.versions.filter(frozen_at=None).first()
    if version is None:
        raise NotPlannable(_("%(study)s: the protocol is frozen already") % {"study": study.slug})
    return version


def current(study: Study) -> ProtocolVersion:
    """The frozen version that newcomers get. Raises NotPlannable if there is none yet."""
    version = study.frozen_versions.last()
    if version is None:
        raise NotPlannable(_("%(study)s: no protocol is frozen yet; launch it") % {"study": study.slug})
    return version


def latest(study: Study) -> ProtocolVersion:
    """The version that would run now: the last frozen one, or the draft if none is frozen."""
    # Asked once: between two questions another request may freeze the draft, and neither would be found.
    return study.versions.order_by(F("frozen_at").desc(nulls_last=True), "-number")[0]


def is_frozen(study: Study) -> bool:
    """Whether a protocol of the study is frozen, so that its texts, groups and steps are to stay as they are."""
    return study.frozen_versions.exists()


def ensure_frozen(study: Study, *, purpose: Purpose, reason: str, by: str, at: datetime) -> ProtocolVersion:
    """The version that newcomers get, frozen for that purpose if none is yet. Raises NotPlannable as `freeze` does."""
    if is_frozen(study):
        return current(study)
    return freeze(draft(study), purpose=purpose, reason=reason, by=by, at=at)


def read_plannable(version: ProtocolVersion, purpose: Purpose) -> Protocol:
    """The protocol as its rows have it now. Raises NotPlannable with all that stands in the way of that purpose."""
    protocol = read_rows(version)
    if hindering := select_errors(collect_findings(version.study, protocol), purpose):
        raise NotPlannable(f"{version.study.slug}: " + "; ".join(map(str, hindering)))
    return protocol


@transaction.atomic
def freeze(version: ProtocolVersion, *, purpose: Purpose, reason: str, by: str, at: datetime) -> ProtocolVersion:
    """The version with its document and hash, never to change again.

    Raises NotPlannable with all that stands in the way of that purpose, or if the version is frozen already.
    """
    # Of two that freeze at once the second waits for this row, and then finds it frozen.
    version = ProtocolVersion.objects.select_for_update(of=("self",)).select_related("study").get(pk=version.pk)
    if version.frozen_at is not None:
        raise NotPlannable(_("%(study)s: the protocol is frozen already") % {"study": version.study.slug})
    version.document = write_document(read_plannable(version, purpose))
    version.sha256 = hashing.sha256(version.document)
    version.reason, version.frozen_by, version.frozen_at = reason, by, at
    version.save()
    return version


@transaction.atomic
def add_metric_step(version: ProtocolVersion, instrument: Instrument, *, key: str) -> Step:
    """The step of a frozen version that holds a metric's values, made if it is missing. The version's hash stays.

    Raises NotPlannable if the version is not frozen, the instrument is not published or asks for anything but numbers,
    or the key names another step.
    """
    # Held until the end of the transaction: two metrics that start at once must not choose the same position.
    ProtocolVersion.objects.select_for_update().get(pk=version.pk)
    if version.frozen_at is None:
        raise NotPlannable(_("%(study)s: its protocol is not frozen yet") % {"study": version.study.slug})
    is_published = instrument.status == Instrument.Status.PUBLISHED
    if not is_published or instrument.items.exclude(type=Number.name).exists():
        message = _("%(instrument)s is not a published instrument of numbers, so it cannot hold the values of a metric")
        raise NotPlannable(message % {"instrument": instrument})
    steps = Step.objects.filter(version=version.asked_by_id)
    step = steps.filter(key=key).first()
    if step is None:
        last = steps.aggregate(last=Max("position"))["last"] or 0
        return Step.objects.create(
            version_id=version.asked_by_id, position=last + 1, key=key, kind=Step.Kind.METRIC, instrument=instrument
        )
    if (step.kind, step.instrument_id) != (Step.Kind.METRIC, instrument.pk):
        message = _("%(study)s: its protocol has another step called %(step)s already")
        raise NotPlannable(message % {"study": version.study.slug, "step": key})
    return step
