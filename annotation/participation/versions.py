"""Under which version of the protocol a rater works: as they began, unless an amendment holds for everybody."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from annotation.models import Assignment, Consent, Rater
from studies.models import Amendment, ProtocolVersion, Study
from studies.protocol import current


@dataclass(frozen=True)
class PromisedPay:
    """What a rater was promised, in the words of the study."""

    pay: str
    pay_for_part: str


def find_version(rater: Rater) -> ProtocolVersion:
    """The frozen version that the rater's next work is asked under. One query, three where the study was amended.

    Raises NotPlannable if nothing is frozen.
    """
    amended = rater.study.frozen_versions.select_related("amendment").defer("document")
    versions = list(amended)
    if len(versions) < 2:
        return versions[0] if versions else current(rater.study)
    return _choose(versions, _number_begun(rater, versions))


def _choose(versions: Sequence[ProtocolVersion], begun: int | None) -> ProtocolVersion:
    """Of the versions by number the last for whoever has not begun; else the one begun with, or a later one that holds
    for everybody."""
    if begun is None:
        return versions[-1]
    return next(v for v in reversed(versions) if v.number <= begun or _holds_for_everybody(v))


def _holds_for_everybody(version: ProtocolVersion) -> bool:
    # A version that amends none has its own steps, which the next raters are asked.
    amendment = getattr(version, "amendment", None)
    return amendment is None or bool(amendment.holds_for == Amendment.HoldsFor.EVERYBODY)


def _number_begun(rater: Rater, versions: Sequence[ProtocolVersion]) -> int | None:
    """The number of the version that the rater has begun: by their work, or else by when they agreed. Two queries."""
    numbers = Assignment.objects.filter(rater=rater).order_by("-version__number").values_list("version__number")
    if begun := numbers.first():
        return begun[0]
    agreed_at = Consent.objects.filter(rater=rater).order_by("at").values_list("at", flat=True).first()
    if agreed_at is None:
        return None
    # What they agreed to is what stood there then.
    earlier = [v.number for v in versions if v.frozen_at and v.frozen_at <= agreed_at]
    return earlier[-1] if earlier else versions[0].number


def promised_pay(study: Study, rater: Rater | None) -> PromisedPay:
    """The pay: what the study says now for those who have not begun, what their version says for others.

    One query, four where the study was amended.
    """
    now = PromisedPay(study.pay, study.pay_for_part)
    if rater is None or not study.amendments.exists():
        return now
    content = json.loads(find_version(rater).document)
    return PromisedPay(content.get("pay", ""), content.get("pay_for_part", ""))
