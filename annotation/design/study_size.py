"""Whether a study is large enough for the difference that it looks for, and what would help most if it is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from annotation.design import expected_outcomes
from annotation.design.planned_outcomes import PlannedOutcome
from studies.models import StudyJob

ENOUGH = 0.8  # of studies that should find the difference, the usual power
ALIKE = 0.05  # of a width, by which two are not worth telling apart


@dataclass(frozen=True)
class LargerStudy:
    """A study with more groups or more raters. power, width : of the primary outcome, in words"""

    label: str
    power: str
    width: str


@dataclass(frozen=True)
class StudySize:
    """The answer to whether the study is large enough.

    is_enough : None where that cannot be said: nothing is compared, or too few studies of a large plan were simulated
    advice : what would help most; "" where nothing is known of larger studies
    plans : the study as it is planned, then larger ones
    """

    is_enough: bool | None
    headline: str
    finding: str
    advice: str
    plans: list[LargerStudy]


def describe_size(job: StudyJob | None, planned: Sequence[PlannedOutcome]) -> StudySize | None:
    """By the primary outcome, or the first; None before a simulation has ended, or if another version kept it."""
    if job is None or job.outcome is None or "n_groups" not in job.outcome or not planned or not job.outcome["rows"]:
        return None
    row = job.outcome["rows"][0]
    outcome = next((outcome for outcome in planned if outcome.key == row["key"]), None)
    if outcome is None:
        return None
    contrasts = row["contrasts"]
    if contrasts["power"] is None:
        (problem, *_others) = expected_outcomes.list_problems(contrasts, outcome)
        return StudySize(None, _("No difference can be looked for."), problem, "", [])
    is_enough, larger = _is_enough(contrasts["power"], contrasts["n_studies"]), row.get("larger")
    return StudySize(
        is_enough,
        {
            True: _("Large enough for the difference you look for"),
            False: _("Too small for the difference you look for"),
            None: _("Too few simulated studies to say whether it is large enough"),
        }[is_enough],
        _finding(row, outcome),
        _advise(larger, is_enough=is_enough) if larger and is_enough is not None else "",
        [
            _plan(_as_planned(job.outcome), contrasts, outcome),
            *([_plan(_with_more_groups(job.outcome), larger["groups"], outcome)] if larger else []),
            *([_plan(_with_more_raters(job.outcome), larger["raters"], outcome)] if larger else []),
        ],
    )


def _is_enough(power: float, n_studies: int) -> bool | None:
    """None where few studies were simulated, and the true power may lie on either side."""
    if n_studies < expected_outcomes.FEW_STUDIES:
        from stats import rates  # here, so that other pages come without it

        ends = rates.wilson(round(power * n_studies), n_studies)
        if ends.low < 100 * ENOUGH <= ends.high:
            return None
    return power >= ENOUGH


def _finding(row: Mapping[str, Any], outcome: PlannedOutcome) -> str:
    contrasts = row["contrasts"]
    names = {
        "outcome": expected_outcomes.title_of(outcome),
        "effect": expected_outcomes.effect_text(row["effect"], outcome),
        "power": expected_outcomes.studies_text(contrasts["power"], contrasts["n_studies"]),
    }
    return _("%(outcome)s: %(effect)s is found in %(power)s. The usual aim is 80 %%.") % names


def _advise(larger: Mapping[str, Any], *, is_enough: bool) -> str:
    """What would help most: what raises the power more, or if chance may do that, what narrows intervals more."""
    groups, raters = larger["groups"], larger["raters"]
    if groups["power"] is None or raters["power"] is None:
        return ""
    lead = groups["power"] - raters["power"]
    error = 1.96 * (0.5 / min(groups["n_studies"], raters["n_studies"])) ** 0.5
    if abs(lead) < error and groups["other_raters"] and raters["other_raters"]:
        ratio = raters["other_raters"] / groups["other_raters"]
        lead = ratio - 1 if abs(ratio - 1) > ALIKE else 0.0
    if not is_enough and max(groups["power"], raters["power"]) < ENOUGH:
        if lead == 0:
            return _("More groups and more raters help about as much, but twice as many of one are not enough.")
        if lead > 0:
            return _("More groups help most, but twice as many are not enough.")
        return _("More raters help most, but twice as many are not enough.")
    if lead == 0:
        return _("More groups and more raters would help about as much.")
    return _("More groups would help most.") if lead > 0 else _("More raters would help most.")


def _plan(label: str, contrasts: Mapping[str, Any], outcome: PlannedOutcome) -> LargerStudy:
    power = contrasts["power"]
    return LargerStudy(
        label,
        "–" if power is None else expected_outcomes.share_text(power, contrasts["n_studies"]),
        expected_outcomes.written_width(contrasts["other_raters"], outcome),
    )


def _as_planned(simulated: Mapping[str, Any]) -> str:
    names = {"groups": simulated["n_groups"], "raters": simulated["seats_per_group"]}
    return _("As planned: %(groups)d groups, %(raters)d raters for each") % names


def _with_more_groups(simulated: Mapping[str, Any]) -> str:
    names = {"n": 2 * simulated["n_groups"]}
    if simulated["same_raters"]:
        return _("%(n)d groups, read by the same people") % names
    return _("%(n)d groups, with new people for the new ones") % names


def _with_more_raters(simulated: Mapping[str, Any]) -> str:
    return _("%(n)d raters for each group") % {"n": 2 * simulated["seats_per_group"]}
