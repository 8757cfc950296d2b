"""How much answers vary, taken from an earlier study that asked the same: chosen by somebody who may see its results.

A worker computes it for each outcome of the pilot (`reports.pilots`); here it is asked for, and matched with what is
planned. It says nothing of any source, and is still for those alone who may see the pilot's results by source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from annotation.design.planned_outcomes import DEVIATIONS, Assumptions, PlannedOutcome
from config import roles
from studies import jobs
from studies.access import visible_studies
from studies.models import Study, StudyJob

TASK = "reports.tasks.read_pilot"
NOT_ASKED = "not_asked"
FEW_RATERS, FEW_STORIES = 8, 20  # below which a standard deviation can easily be off by half


@dataclass(frozen=True, kw_only=True)
class PilotRow:
    """What one outcome of the pilot amounts to, as JSON has it.

    question : as in `PlannedOutcome.questions`; values : a mean and standard deviations, by the names of `Assumptions`
    why, why_values : the code of the reason if it amounts to nothing, and what its words name
    """

    question: str
    values: Mapping[str, float]
    n_answers: int = 0
    n_raters: int = 0
    n_stories: int = 0
    why: str = ""
    why_values: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class PilotOutcome:
    """What the pilot says of one planned outcome.

    assumed : with the pilot's numbers; None if it has none for this outcome
    told : which of these are the pilot's; what it does not tell stays as it was assumed
    n_outcomes : of so many alike; the largest number of raters and stories of any
    """

    outcome: PlannedOutcome
    assumed: Assumptions | None = None
    told: tuple[str, ...] = ()
    n_outcomes: int = 0
    n_answers: int = 0
    n_raters: int = 0
    n_stories: int = 0
    why: str = ""
    why_values: Mapping[str, Any] | None = None

    @property
    def is_small(self) -> bool:
        return self.assumed is not None and (self.n_raters < FEW_RATERS or self.n_stories < FEW_STORIES)


def list_pilots(user: User, *, instruments: Sequence[str] | None = None) -> QuerySet[Study]:
    """The studies whose answers the account may take numbers from: closed ones whose results it sees by source.

    instruments : slugs, of which the study asks one
    """
    of_both = Q(pk__in=visible_studies(user, roles.VIEW_REPORT).values("pk"))
    studies = visible_studies(user, roles.BY_SOURCE).filter(
        of_both, state=Study.State.CLOSED, rehearsal_of__isnull=True
    )
    if instruments is not None:
        studies = studies.filter(versions__steps__kind="rating", versions__steps__instrument__slug__in=instruments)
    return studies.order_by("title", "pk").distinct()


def instruments_of(outcomes: Sequence[PlannedOutcome]) -> list[str]:
    """The slugs of the instruments that are asked."""
    parts = {part for outcome in outcomes for question in outcome.questions for part in question.split(" ")}
    return sorted({part.split("/")[0] for part in parts if "/" in part})


def ask(study: Study, pilot: Study, *, by: User, at: datetime) -> StudyJob:
    """Have a worker read the pilot's answers as they are now; what another one amounted to is forgotten."""
    StudyJob.objects.filter(study=study, task=TASK).delete()
    arguments = {"pilot": pilot.pk, jobs.LASTS: True}
    return jobs.ask(study, TASK, jobs.hash_inputs(pilot.pk, at.isoformat()), by=by, at=at, arguments=arguments)


def find(study: Study, user: User) -> tuple[StudyJob, Study] | None:
    """The pilot that was read last for this study, if the account may see what came of it. Up to four queries."""
    job = jobs.find_last(study, TASK)
    pilot = list_pilots(user).filter(pk=job.arguments["pilot"]).first() if job else None
    return (job, pilot) if job and pilot else None


def match(outcomes: Sequence[PlannedOutcome], job: StudyJob) -> list[PilotOutcome]:
    """Of each planned outcome what the pilot says; none while it is not read."""
    rows = [PilotRow(**row) for row in job.outcome or []]
    if job.outcome is None:
        return []
    return [_match(outcome, [row for row in rows if row.question in outcome.questions]) for outcome in outcomes]


def _match(outcome: PlannedOutcome, rows: Sequence[PilotRow]) -> PilotOutcome:
    """Of several that are alike the mean, and the root of the mean variance."""
    usable_rows = [row for row in rows if not row.why]
    if not usable_rows:
        if not rows:
            return PilotOutcome(outcome=outcome, why=NOT_ASKED)
        return PilotOutcome(outcome=outcome, why=rows[0].why, why_values=rows[0].why_values)
    places = 1 if outcome.unit == "percent" and outcome.kind in ("verdict", "scale") else 3
    numbers = {}
    for name in outcome.fields:
        values = [row.values[name] for row in usable_rows if name in row.values]
        if values and name in DEVIATIONS:
            numbers[name] = round((sum(value**2 for value in values) / len(values)) ** 0.5, places)
        elif values:
            numbers[name] = round(sum(values) / len(values), places)
    return PilotOutcome(
        outcome=outcome,
        assumed=replace(outcome.assumptions, **numbers),
        told=tuple(numbers),
        n_outcomes=len(usable_rows),
        n_answers=sum(row.n_answers for row in usable_rows),
        n_raters=max(row.n_raters for row in usable_rows),
        n_stories=max(row.n_stories for row in usable_rows),
    )


def assumptions_with(current: Mapping[str, Assumptions], matched: Sequence[PilotOutcome]) -> dict[str, Assumptions]:
    """The pilot's numbers, with the difference that was to be found; of outcomes it did not ask what is there."""
    of_pilot = {row.outcome.key: row.assumed for row in matched if row.assumed is not None}
    return {
        key: replace(of_pilot[key], effect=assumed.effect) if key in of_pilot else assumed
        for key, assumed in current.items()
    }


def write(row: PilotRow) -> dict[str, Any]:
    """The row as JSON has it."""
    return asdict(row)
