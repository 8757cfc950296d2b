"""Simulated studies: raters of declared kinds answer a copy of a study in which an effect was planted, and the report's
own contrasts say what is found of it."""

from reports.simulated_studies.plantings import CannotPlant
from reports.simulated_studies.summaries import KindSummary, OutcomeSummary, SimulatedStudy
from reports.simulated_studies.trials import FEWEST_RATERS, MOST_RATERS, CopyGone, Trial, run_trial

__all__ = [
    "FEWEST_RATERS",
    "MOST_RATERS",
    "CannotPlant",
    "CopyGone",
    "KindSummary",
    "OutcomeSummary",
    "SimulatedStudy",
    "Trial",
    "run_trial",
]
