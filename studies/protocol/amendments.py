"""What of a launched study can be amended, how two states of it differ, and writing an amendment down.

Whether one may be made, and who it applies to, is decided where people and seats are known: `annotation.design`.
"""

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from django.db.models import Max
from django.utils.translation import gettext as _

from studies import hashing
from studies.documents import placeholders
from studies.facts import COLUMNS, KEYS, LABEL_BY_KEY
from studies.models import Amendment, ProtocolVersion, Step, Study
from studies.protocol.findings import collect_findings
from studies.protocol.frozen import write_document
from studies.protocol.purposes import Finding
from studies.protocol.steps import Protocol, name_of, read_rows, reword
from studies.protocol.versions import current
from studies.protocol.warnings import check_deadline

FIELDS = ("title", *KEYS, "seats_per_group", "closes_at")
WORDS = ("title", "text")


@dataclass(frozen=True)
class AmendableState:
    """All of a study that an amendment can change.

    values : by field of the study, `FIELDS`
    words : of every step by key its title and text, as typed, with names in braces
    """

    values: dict[str, Any] = field(default_factory=dict)
    words: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def sha256(self) -> str:
        """A hash of it, by which a page knows what its reader saw."""
        values = {name: _as_text(value) for name, value in self.values.items()}
        return hashing.sha256(hashing.canonical_json({"values": values, "words": self.words}))


@dataclass(frozen=True)
class AmendedPlace:
    """One place that says something else. key : a field of the study, or "step consent text"; label : for people"""

    key: str
    label: str
    before: str
    after: str

    def as_table(self) -> dict[str, str]:
        return {"place": self.key, "before": self.before, "after": self.after}


def read_state(study: Study, protocol: Protocol) -> AmendableState:
    """What stands now. protocol : of its latest version, by its rows, so that names in braces are there"""
    words = {step.key: {name: getattr(step, name) for name in WORDS} for step in protocol.steps}
    return AmendableState({name: getattr(study, name) for name in FIELDS}, words)


def list_places(before: AmendableState, after: AmendableState, steps: tuple[Step, ...]) -> list[AmendedPlace]:
    """Where the two differ, fields first, then the steps in their order."""
    return [*_differing_fields(before, after), *_differing_words(before, after, steps)]


def _differing_fields(before: AmendableState, after: AmendableState) -> Iterator[AmendedPlace]:
    for name in FIELDS:
        old, new = before.values[name], after.values[name]
        if old != new:
            yield AmendedPlace(name, label_of(name), _as_text(old), _as_text(new))


def _differing_words(before: AmendableState, after: AmendableState, steps: tuple[Step, ...]) -> Iterator[AmendedPlace]:
    for step in steps:
        for name in WORDS:
            # With its names filled: where the pay stands in a text, other pay is another text.
            old, new = (placeholders.fill(state.words[step.key][name], state.values) for state in (before, after))
            if old != new:
                key = f"step {step.key} {name}"
                yield AmendedPlace(key, label_of(key, {step.key: step}), old, new)


def label_of(place: str, step_by_key: Mapping[str, Step] | None = None) -> str:
    """What a place is called on pages."""
    if place in LABEL_BY_KEY and place not in COLUMNS:
        return str(LABEL_BY_KEY[place])
    if not place.startswith("step "):
        return str(Study._meta.get_field(place).verbose_name).capitalize()  # type: ignore[union-attr]
    _kind, key, name = place.split(" ")
    step = (step_by_key or {}).get(key)
    of_step = name_of(step) if step else key
    if name == "title":
        return _("“%(step)s”: heading") % {"step": of_step}
    return _("“%(step)s”: text") % {"step": of_step}


def list_stored_places(amendment: Amendment, step_by_key: Mapping[str, Step]) -> list[AmendedPlace]:
    """The places of a stored amendment, named in the reader's language."""
    return [
        AmendedPlace(row["place"], label_of(row["place"], step_by_key), row["before"], row["after"])
        for row in amendment.changes
    ]


def _as_text(value: Any) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="minutes")
    return "" if value is None else str(value)


def compose(study: Study, state: AmendableState, protocol: Protocol) -> Protocol:
    """The protocol as it would be, saved nowhere: another version of a copy of the study. protocol : as it is"""
    amended = copy(study)
    for name, value in state.values.items():
        setattr(amended, name, value)
    root = protocol.version.asked_by_id
    version = ProtocolVersion(study=amended, number=protocol.version.number + 1, amends_id=root)
    return Protocol(version, reword(tuple(copy(step) for step in protocol.steps), state.words))


def collect_amended_findings(amended: Protocol, *, at: datetime) -> list[Finding]:
    """Everything to be said of the study as it would be: the same list as before its launch."""
    study = amended.version.study
    return [*collect_findings(study, amended), *check_deadline(study, amended, at=at)]


def write_amendment(
    study: Study,
    state: AmendableState,
    places: list[AmendedPlace],
    amended: Protocol,
    *,
    reason: str,
    holds_for: str,
    by: str,
    at: datetime,
) -> Amendment:
    """The amendment, with the version that it makes if the document changes, and the study saying so.

    Only inside a transaction that holds the study's row.
    """
    at = at.astimezone(UTC)
    before = study.amendments.aggregate(number=Max("number"))["number"] or 0
    latest = study.amendments.filter(number=before).first()
    amendment = Amendment(
        study=study,
        number=before + 1,
        version=_freeze_amended(study, amended, reason=reason, by=by, at=at),
        reason=reason,
        holds_for=holds_for,
        at=at,
        by=by,
        words=state.words,
        changes=[place.as_table() for place in places],
        previous=latest.digest if latest else "",
        **state.values,
    )
    amendment.digest = digest(amendment)
    amendment.save(force_insert=True)
    # Only now: the database lets the study say what its latest amendment says, and nothing else.
    study.say(state.values)
    return amendment


def _freeze_amended(study: Study, amended: Protocol, *, reason: str, by: str, at: datetime) -> ProtocolVersion | None:
    """The amended version, frozen; None if its document is the one that holds already."""
    document = write_document(amended)
    sha256 = hashing.sha256(document)
    if sha256 == current(study).sha256:
        return None
    version = amended.version
    return ProtocolVersion.objects.create(
        study_id=study.pk,
        number=version.number,
        amends_id=version.amends_id,
        document=document,
        sha256=sha256,
        reason=reason,
        frozen_by=by,
        frozen_at=at,
    )


def digest(amendment: Amendment) -> str:
    """SHA-256 of all that it says, bound to the one before."""
    return hashing.sha256(hashing.canonical_json(amendment.content))


def find_faults(study: Study) -> Iterator[str]:
    """What is wrong with the amendments of a study, in sentences. Three queries."""
    previous = ""
    amendments = list(study.amendments.select_related("study", "version").defer("version__document").order_by("number"))
    for number, amendment in enumerate(amendments, start=1):
        if amendment.number != number:
            yield f"amendment {amendment.number} stands where {number} should"
        if amendment.previous != previous:
            yield f"amendment {amendment.number} does not follow from the one before"
        if digest(amendment) != amendment.digest:
            yield f"amendment {amendment.number} is not the one that was made: its digest differs"
        previous = amendment.digest
    versions = {amendment.version_id for amendment in amendments}
    for version in study.frozen_versions.exclude(amends=None).defer("document"):
        if version.pk not in versions:
            yield f"version {version.number} amends another and no amendment says so"
    last = amendments[-1] if amendments else None
    rows = Study.objects.filter(pk=study.pk).values(*Amendment.FIELDS)
    if last and rows.get() != {name: getattr(last, name) for name in Amendment.FIELDS}:
        yield f"the study does not say what its amendment {last.number} says"


def state_of(study: Study) -> tuple[AmendableState, Protocol]:
    """What stands now, and the protocol that says it. Raises NotPlannable if nothing is frozen. Four queries."""
    protocol = read_rows(current(study))
    return read_state(study, protocol), protocol
