"""What other pages say of a study's expected precision, with the way to its own page."""

from __future__ import annotations

from typing import Any

from django import template

from annotation.design import expected_outcomes, precision
from annotation.design.reading_plans import ReadingPlan, plan_of_study
from studies.models import Study

register = template.Library()


@register.inclusion_tag("annotation/designer/precision_summary.html")
def planned_precision(study: Study, plan: ReadingPlan) -> dict[str, Any]:
    """Differences of sources, as expected of the plan that is saved; plan : the one that the page shows."""
    return _summary(study) | {"is_saved": plan == plan_of_study(study)}


@register.inclusion_tag("annotation/designer/precision_of_plan.html")
def primary_precision(study: Study) -> dict[str, Any]:
    """What can be found of the primary outcome."""
    summary = _summary(study)
    return summary | {"primary": next((one for one in summary["outcomes"] if one.is_primary), None)}


def _summary(study: Study) -> dict[str, Any]:
    """Seven queries. outcomes : none while nothing has been simulated"""
    planned, job = precision.read_planned(study), precision.find_last(study)
    has_outcome = job is not None and job.outcome is not None
    return {
        "study": study,
        "planned": planned,
        "job": job if has_outcome else None,
        "is_under_way": job is not None and job.is_under_way,
        "is_outdated": job is not None and precision.is_outdated(job, planned),
        "outcomes": expected_outcomes.describe_outcomes(job, planned.outcomes),
    }
