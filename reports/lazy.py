"""Libraries that only computing needs, imported when they are first used: `from reports.lazy import np, agreement`.

A web process lists figures and shows stored reports without them; with them it would hold twice the memory.
"""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any


class _OnFirstUse:
    """Stands for a module until something is asked of it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._module: ModuleType | None = None

    def __getattr__(self, attribute: str) -> Any:
        if self._module is None:
            self._module = importlib.import_module(self._name)
        return getattr(self._module, attribute)


if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from stats import agreement as agreement
    from stats import agreement_claims as agreement_claims
    from stats import alignment_gain as alignment_gain
    from stats import alternative_annotator as alternative_annotator
    from stats import arrays as arrays
    from stats import calibration as calibration
    from stats import cloze as cloze
    from stats import comparisons as comparisons
    from stats import composites as composites
    from stats import contrasts as contrasts
    from stats import dawid_skene as dawid_skene
    from stats import exchangeable_judges as exchangeable_judges
    from stats import guessed_kinds as guessed_kinds
    from stats import human_likeness as human_likeness
    from stats import human_line as human_line
    from stats import intervals as intervals
    from stats import item_analysis as item_analysis
    from stats import judge_biases as judge_biases
    from stats import judge_orders as judge_orders
    from stats import judge_scores as judge_scores
    from stats import judge_sides as judge_sides
    from stats import judgements as judgements
    from stats import jury as jury
    from stats import kneser_ney as kneser_ney
    from stats import log_odds_checks as log_odds_checks
    from stats import mean_intervals as mean_intervals
    from stats import missing_bounds as missing_bounds
    from stats import missing_patterns as missing_patterns
    from stats import neighbours as neighbours
    from stats import nsv as nsv
    from stats import nsv_procedure as nsv_procedure
    from stats import one_factor as one_factor
    from stats import outlying_raters as outlying_raters
    from stats import paired_shifts as paired_shifts
    from stats import panel as panel
    from stats import personas as personas
    from stats import prediction_powered as prediction_powered
    from stats import rankings as rankings
    from stats import rates as rates
    from stats import reliability as reliability
    from stats import repeats as repeats
    from stats import resamples as resamples
    from stats import score_pairs as score_pairs
    from stats import shared_sequences as shared_sequences
    from stats import source_contrasts as source_contrasts
    from stats import source_model as source_model
    from stats import spreads as spreads
    from stats import strengths as strengths
    from stats import table_scores as table_scores
    from stats import top_precision as top_precision
    from stats import trait_effects as trait_effects
    from stats import trends as trends
    from stats import variance_components as variance_components

    __all__ = ["np", "pd"]
else:

    def __getattr__(name: str) -> _OnFirstUse:
        if name.startswith("_"):
            raise AttributeError(name)
        return _OnFirstUse({"np": "numpy", "pd": "pandas"}.get(name, f"stats.{name}"))
