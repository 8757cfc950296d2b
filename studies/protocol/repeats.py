"""Hidden repeats: so many of the groups that one person reads are ones that they have read before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol as Interface

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from studies.models import Study
from studies.protocol.purposes import Finding, Purpose
from studies.protocol.steps import Protocol

NEAR = 3  # other groups in between: with fewer, answers are remembered
BEFORE_RATERS = frozenset({Purpose.PLAN, Purpose.LAUNCH})


class RepeatChoices(Interface):
    """What decides when somebody reads a group again: of a study, or of a plan that is not saved yet."""

    @property
    def n_repeats(self) -> int: ...
    @property
    def groups_per_sitting(self) -> int: ...
    @property
    def groups_per_rater(self) -> int | None: ...


def count_groups_before(choices: RepeatChoices) -> int | None:
    """How many groups somebody reads before the first one comes again, so that repeats end a sitting, or all that one
    person may read; None if neither says how much that is."""
    sitting = choices.groups_per_sitting if choices.groups_per_sitting > 1 else None
    ends = [n for n in (sitting, choices.groups_per_rater) if n]
    return min(ends) - choices.n_repeats if ends else None


def find_obstacle(choices: RepeatChoices) -> str:
    """Why so many groups cannot be read twice; "" if they can."""
    n, n_before = choices.n_repeats, count_groups_before(choices)
    if not n:
        return ""
    if n_before is None:
        return _("groups are to be read twice, but the number of groups per sitting or per person is not set")
    if n_before < max(2, n):
        sentence = ngettext(
            "%(n)d group is to be read twice, which needs a sitting of at least %(least)d groups, repeats included",
            "%(n)d groups are to be read twice, which needs a sitting of at least %(least)d groups, repeats included",
            n,
        )
        return sentence % {"n": n, "least": n + max(2, n)}
    return ""


def collect_findings(study: Study, protocol: Protocol) -> Iterator[Finding]:
    """What keeps groups from being read twice, and what makes it worth little."""
    if not study.n_repeats:
        return
    place = {"part": "reading_plan", "anchor": "id_n_repeats"}
    if protocol.fills_text:
        sentence = _("groups are to be read twice, but a text that is filled in is written once")
        yield Finding("error", "n_repeats", sentence, _("repeat none"), BEFORE_RATERS, **place)
    elif sentence := find_obstacle(study):
        yield Finding("error", "n_repeats", sentence, _("repeat fewer, or have more read"), BEFORE_RATERS, **place)
    elif (n := (count_groups_before(study) or 1) - 1) < NEAR:
        sentence = ngettext(
            "between a group and its repeat only %(n)d other is read, so that answers may be remembered",
            "between a group and its repeat only %(n)d others are read, so that answers may be remembered",
            n,
        )
        yield Finding("warning", "n_repeats", sentence % {"n": n}, _("have more read"), BEFORE_RATERS, **place)
