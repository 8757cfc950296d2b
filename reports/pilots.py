"""How much answers of a closed study vary, read by a worker for another study with the same questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from annotation.design import pilots
from annotation.design.pilots import PilotRow
from annotation.design.planned_outcomes import PlannedOutcome, list_single
from reports.dataset import Dataset, OutcomeTable
from reports.lazy import np
from stats.reasons import Incomputable
from studies import jobs
from studies.models import StudyJob

if TYPE_CHECKING:
    from stats.pilot_deviations import PilotAnswers


def carry_out(pk: int) -> None:
    """Do a job of `annotation.design.pilots.ask`."""
    jobs.carry_out(pk, _read)


def _read(job: StudyJob, renew: jobs.Renew) -> list[dict[str, Any]]:
    pilot = pilots.list_pilots(job.user).filter(pk=job.arguments["pilot"]).first()
    if pilot is None:
        raise jobs.WorkRefused(_("You may not see the results of that study, or it is no longer closed."))
    dataset = Dataset.of(pilot)
    planned_by_key = {
        outcome.key: planned for outcome, planned in list_single(dict.fromkeys(item.step for item in dataset.items))
    }
    rows = []
    for table in dataset.outcomes:
        if planned := planned_by_key.get(table.outcome.key):
            rows.append(pilots.write(_row(dataset, table, planned)))
            renew()
    return rows


def _row(dataset: Dataset, table: OutcomeTable, planned: PlannedOutcome) -> PilotRow:
    from stats import pilot_deviations

    (question,) = planned.questions
    kind: Any = planned.kind
    try:
        of_pilot = pilot_deviations.estimate_deviations(_answers(table), kind)
    except Incomputable as error:
        return PilotRow(question=question, values={}, why=error.code, why_values=error.values)
    values = {"mean": of_pilot.mean, **vars(of_pilot.deviations)}
    if not of_pilot.is_source_told:
        del values["rater_source"]
    return PilotRow(
        question=question,
        values=values,
        n_answers=of_pilot.n_answers,
        n_raters=of_pilot.n_raters,
        n_stories=of_pilot.n_stories,
    )


def _answers(table: OutcomeTable) -> PilotAnswers:
    from stats.pilot_deviations import PilotAnswers

    groups = np.unique(np.array([group for group, _story in table.units]), return_inverse=True)[1]
    sources = np.unique(table.sources.astype(str), return_inverse=True)[1]
    return PilotAnswers(
        ratings=table.ratings,
        source=sources.astype(np.int64),
        block=table.blocks,
        group=groups.astype(np.int64),
        story=table.stories,
    )
