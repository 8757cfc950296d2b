"""Libraries that only computing needs, imported when they are first used: `from reports.lazy import np, agreement`.

A web process lists figures and shows stored reports without them; with them it would hold twice the memory.
"""

import importlib
from typing import TYPE_CHECKING, Any


class _OnFirstUse:
    """Stands for a module until something is asked of it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(importlib.import_module(self._name), attribute)


if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from stats import (
        agreement,
        alternative_annotator,
        comparisons,
        human_line,
        intervals,
        judge_biases,
        judge_orders,
        judge_scores,
        judgements,
        personas,
        prediction_powered,
        rankings,
        rates,
    )
else:
    np, pd = _OnFirstUse("numpy"), _OnFirstUse("pandas")
    agreement, alternative_annotator = _OnFirstUse("stats.agreement"), _OnFirstUse("stats.alternative_annotator")
    comparisons, intervals = _OnFirstUse("stats.comparisons"), _OnFirstUse("stats.intervals")
    judgements, rankings, rates = (_OnFirstUse(f"stats.{name}") for name in ("judgements", "rankings", "rates"))
    human_line, judge_biases = _OnFirstUse("stats.human_line"), _OnFirstUse("stats.judge_biases")
    judge_orders, personas = _OnFirstUse("stats.judge_orders"), _OnFirstUse("stats.personas")
    judge_scores, prediction_powered = _OnFirstUse("stats.judge_scores"), _OnFirstUse("stats.prediction_powered")

__all__ = [
    "agreement",
    "alternative_annotator",
    "comparisons",
    "human_line",
    "intervals",
    "judge_biases",
    "judge_orders",
    "judge_scores",
    "judgements",
    "np",
    "pd",
    "personas",
    "prediction_powered",
    "rankings",
    "rates",
]
