"""What of a planned study is simulated: its outcomes by what an answer can be, and what is assumed of the answers."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

from studies.documents.analysis_plan import BY_DEFAULT, BY_MODEL, AnalysisPlan
from studies.documents.scores import MEAN
from studies.models import Item, Step
from studies.protocol import Outcome, Protocol, items_of, list_outcomes

TYPICAL = Path(__file__).with_name("typical_deviations.toml")
PRIMARY = "primary"
TYPICAL_ENDS = 1.0, 5.0  # of the scales that typical deviations are from
BETTER_IN = 65.0  # percent of pairs, as a difference that is looked for
EFFECTS = {"verdict": 20.0, "verdicts": 15.0}  # percentage points
EFFECT_OF_WIDTH = 1 / 8  # of the width of a scale: half a point from 1 to 5
DEVIATIONS = ("rater", "rater_source", "premise", "story", "rest")


@dataclass(frozen=True, kw_only=True)
class Assumptions:
    """What is assumed of the answers to an outcome, in its unit.

    effect : the difference that is to be found; of pairs and rankings how often the better is put first, in percent
    mean : of all answers; the others are standard deviations, as in `stats.planned_answers`
    """

    effect: float
    mean: float = 0.0
    rater: float = 0.0
    rater_source: float = 0.0
    premise: float = 0.0
    story: float = 0.0
    rest: float = 0.0


@dataclass(frozen=True, kw_only=True)
class PlannedOutcome:
    """Outcomes that are alike to a simulation, or the primary one of the analysis plan.

    key : of the form's fields; kind : as in `stats.planned_answers`, unit : "percent", "points" or "places"
    low, high, step : what an answer can be; n_outcomes : how many are alike
    typical : a key in TYPICAL; test : as in the analysis plan; pairs : of names of sources, planned
    questions : what is asked of each of the outcomes that are alike, by which a pilot that asked the same is known
    """

    key: str
    title: str
    kind: str
    unit: str
    typical: str
    low: float = 0.0
    high: float = 100.0
    step: float = 0.0
    n_outcomes: int = 1
    is_primary: bool = False
    test: str = BY_MODEL
    pairs: tuple[tuple[str, str], ...] = ()
    questions: tuple[str, ...] = ()

    @property
    def width(self) -> float:
        return self.high - self.low

    @property
    def fields(self) -> tuple[str, ...]:
        """The assumptions that it takes; the rest of a verdict follows from the others."""
        if self.kind == "verdict":
            return ("effect", "mean", "rater", "rater_source", "premise", "story")
        if self.kind == "scale":
            return ("effect", "mean", *DEVIATIONS)
        return ("effect", "rater_source", "story", "rest")

    @property
    def typical_source(self) -> str:
        return str(_typical()[self.typical]["source"])

    @property
    def assumptions(self) -> Assumptions:
        """Those of published studies, on the scale of this one."""
        values = {name: float(value) for name, value in _typical()[self.typical].items() if name != "source"}
        if self.unit == "points":
            low, high = TYPICAL_ENDS
            factor = self.width / (high - low)
            values = {name: round(value * factor, 3) for name, value in values.items()}
            values["mean"] = round(self.low + self.width / 2, 3)
            return Assumptions(effect=round(self.width * EFFECT_OF_WIDTH, 3), **values)
        return Assumptions(effect=EFFECTS.get(self.typical, BETTER_IN), **values)


@cache
def _typical() -> dict[str, dict[str, Any]]:
    return tomllib.loads(TYPICAL.read_text(encoding="utf-8"))


def list_planned(
    of_study: Protocol, plan: AnalysisPlan | None, *, sources: Sequence[str], most_stories: int
) -> list[PlannedOutcome]:
    """What is simulated of a protocol: the primary outcome, then one of each kind that is alike.

    sources : names, of which pairs are planned; most_stories : of a group, as many places as there are in a ranking
    """
    alike: dict[tuple[Any, ...], PlannedOutcome] = {}
    primary = None
    for outcome, planned in list_single(of_study.steps, most_stories=most_stories):
        if plan is not None and outcome.key == plan.outcome:
            pairs = tuple(pair for pair in combinations(sources, 2) if plan.names(*pair))
            title = outcome.title or planned.title
            test = plan.test if plan.test != BY_MODEL or planned.test == BY_MODEL else planned.test
            primary = replace(planned, key=PRIMARY, title=title, is_primary=True, pairs=pairs, test=test)
            continue
        if outcome.kind == "dimension":
            continue
        form = (planned.kind, planned.typical, planned.low, planned.high, planned.step)
        first = alike.get(form)
        if first:
            both = (*first.questions, *planned.questions)
            alike[form] = replace(first, n_outcomes=first.n_outcomes + 1, questions=both)
        else:
            alike[form] = replace(planned, key=f"o{len(alike) + 1}")
    return [*([primary] if primary else []), *alike.values()]


def list_single(steps: Iterable[Step], *, most_stories: int = 2) -> Iterator[tuple[Outcome, PlannedOutcome]]:
    """Every outcome that can be simulated, each by itself."""
    steps = list(steps)
    item_by_key = {(step.key, item.key): item for step in steps for item in items_of(step)}
    instrument_by_step = {step.key: step.instrument.slug for step in steps if step.instrument}
    for outcome in list_outcomes(steps):
        planned = _planned(outcome, item_by_key, most_stories)
        if planned is not None:
            # Items of the same instrument, whatever the step that asks them; a ranking of any number of stories.
            asked = sorted({f"{instrument_by_step[step]}/{item}" for step, item in outcome.items})
            form = planned.kind if planned.kind == "rank" else form_of(planned)
            score = outcome.score.key if outcome.score else outcome.kind
            yield outcome, replace(planned, questions=(" ".join([form, score, *asked]),))


def _planned(outcome: Outcome, item_by_key: Mapping[tuple[str, str], Item], most_stories: int) -> PlannedOutcome | None:
    """What is simulated of the outcome; None of a scale without ends."""
    items = [item_by_key[key] for key in outcome.items]
    fields: dict[str, Any] = {"key": outcome.key, "title": outcome.title}
    if outcome.kind == "verdict":
        return PlannedOutcome(**fields, kind="verdict", unit="percent", typical="verdict")
    if outcome.kind in ("verdicts", "dimension"):
        return PlannedOutcome(**fields, kind="scale", unit="percent", typical="verdicts", step=100 / len(items))
    if outcome.kind == "preference":
        return PlannedOutcome(**fields, kind="preference", unit="percent", typical="order", test=BY_DEFAULT)
    if outcome.kind == "rank":
        fields |= {"low": 1.0, "high": float(max(most_stories, 2))}
        return PlannedOutcome(**fields, kind="rank", unit="places", typical="order", test=BY_DEFAULT)
    ends_of_items = [tuple(item.settings.get(end) for end in ("low", "high")) for item in items]
    if any(low is None or high is None for low, high in ends_of_items):
        return None
    low, high, step = _scale(outcome, [(float(low), float(high)) for low, high in ends_of_items])
    typical = "mean" if outcome.score else "rating"
    return PlannedOutcome(**fields, kind="scale", unit="points", typical=typical, low=low, high=high, step=step)


def _scale(outcome: Outcome, ends: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    """The ends of a scale, or of a score of several, and its step."""
    if outcome.score is None:
        return *ends[0], 1.0
    from stats import composites  # here, so that pages without scores come without it

    weights = [outcome.score.weights.get(key, 1.0) for key in outcome.score.items]
    low, high = composites.bounds(outcome.score.how, ends=ends, weights=weights)
    return low, high, 1.0 / sum(weights) if outcome.score.how == MEAN else 1.0


def read_assumptions(
    outcomes: Iterable[PlannedOutcome], values: Mapping[str, Any]
) -> Iterator[tuple[str, Assumptions]]:
    """Of each outcome's key what was assumed of it last, or what is typical."""
    for outcome in outcomes:
        fields = values.get(outcome.key) or {}
        numbers = {name: float(fields[name]) for name in outcome.fields if name in fields}
        is_alike = fields.get("form") == form_of(outcome)
        yield outcome.key, replace(outcome.assumptions, **numbers) if is_alike else outcome.assumptions


def form_of(outcome: PlannedOutcome) -> str:
    """What an answer can be, as text: assumptions about another kind of answer are not taken over."""
    return f"{outcome.kind} {outcome.low:g}–{outcome.high:g}"
