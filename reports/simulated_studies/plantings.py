"""An effect of chosen size between two sources: which ones, and what the raters' answers then differ by on average."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from django.utils.translation import gettext as _

from annotation.simulation import RaterKind, Simulation, Tendency
from reports.dataset import KINDS_IN_ORDER
from reports.dataset.sources import StorySource, source_by_story
from reports.dataset.step_items import StepItem, step_items
from reports.figures.outcome_titles import outcome_name
from reports.lazy import composites, np
from reports.numbers import decimal
from studies import items, protocol
from studies.documents.analysis_plan import AnalysisPlan
from studies.items.chance import draw_bounds
from studies.models import Source, StoryGroup, Study
from studies.protocol import Outcome, list_outcomes

STORIES = 0.5  # standard deviation of what stories of one source are worth, in log-odds
MOST_LOG_ODDS = 8.0  # between the two sources; more changes no answer
USUAL_SHARE = 0.1  # of the width of an outcome, where no size is chosen
N_HALVINGS = 60


class CannotPlant(Exception):
    """No such effect can be planted; the message says why, and what can."""


@dataclass(frozen=True)
class SourcePair:
    """The two sources that are to differ. is_drawn : halves of the stories by chance, whoever wrote them"""

    first: str
    second: str
    sources: Mapping[str, StorySource]
    is_drawn: bool = False

    def shift(self, code: str, effect: float) -> float:
        """What the story is worth more than others, by its source. effect : first less second, in log-odds"""
        source = self.sources.get(code)
        return {self.first: effect / 2, self.second: -effect / 2}.get(source.name if source else "", 0.0)


def choose_pair(copy: Study, rng: np.random.Generator) -> SourcePair:
    """The first two sources that the plan compares, else the first two of the report, if there are any that share a
    group; without two of them, as in the copy of somebody who may not know who wrote the stories, drawn halves."""
    sources = source_by_story(copy)
    kind_by_name = {source.name: source.kind for source in sources.values()}
    names = sorted(
        kind_by_name, key=lambda name: (KINDS_IN_ORDER.index(Source.Kind(kind_by_name[name])), name.casefold())
    )
    if len(names) < 2:
        halves = _draw_halves(copy, rng)
        return SourcePair(_("First half"), _("Second half"), halves, is_drawn=True)
    plan = protocol.frozen_plan(copy)
    groups = [{sources[code].name for code in codes if code in sources} for codes in _codes_by_group(copy).values()]

    def rank(pair: tuple[str, str]) -> tuple[bool, bool]:
        is_planned = plan is not None and plan.names(*pair)
        return not is_planned, not any(group.issuperset(pair) for group in groups)

    first, second = min(combinations(names, 2), key=rank)
    is_turned = plan is not None and plan.reference == first
    return SourcePair(second, first, sources) if is_turned else SourcePair(first, second, sources)


def _draw_halves(copy: Study, rng: np.random.Generator) -> dict[str, StorySource]:
    """Half of the stories of every group for each of two names, by chance; who wrote them is not looked at."""
    first, second = (StorySource(name, Source.Kind.OTHER, {}) for name in (_("First half"), _("Second half")))
    halves: dict[str, StorySource] = {}
    for codes in _codes_by_group(copy).values():
        balance = sum(1 if half == first else -1 for code, half in halves.items() if code in codes)
        overall = sum(1 if half == first else -1 for half in halves.values())
        open_codes = [code for code in codes if code not in halves]
        for place in rng.permutation(len(open_codes)).tolist():
            lead = balance or overall or (1 if rng.random() < 0.5 else -1)
            halves[open_codes[place]] = second if lead > 0 else first
            balance, overall = (n + (-1 if lead > 0 else 1) for n in (balance, overall))
    return halves


def _codes_by_group(copy: Study) -> dict[str, list[str]]:
    """The codes of the stories of each group, both in order. One query."""
    rows = StoryGroup.objects.filter(study=copy, stories__isnull=False).order_by("code", "stories__code")
    codes_by_group: dict[str, list[str]] = {}
    for group, code in rows.values_list("code", "stories__code"):
        codes_by_group.setdefault(group, []).append(code)
    return codes_by_group


class Planting:
    """Two sources, the outcomes on which they are compared, and how much an effect in log-odds changes each."""

    def __init__(self, simulation: Simulation, pair: SourcePair) -> None:
        copy = simulation.study
        self.simulation, self.pair = simulation, pair
        self._item_by_key: dict[tuple[str, str], StepItem] = {item.key: item for item in step_items(copy)}
        self._groups = list(_codes_by_group(copy).values())
        outcomes = list_outcomes(dict.fromkeys(item.step for item in self._item_by_key.values()))
        self.plan: AnalysisPlan | None = protocol.frozen_plan(copy)
        self.outcomes = [outcome for outcome in outcomes if self._is_whole(outcome) and self._can_expect(outcome)]
        for key in sorted({key for outcome in self.outcomes for key in outcome.items}):
            simulation.shared(self._item_by_key[key].item.key)  # known before any answer is drawn

    @property
    def main(self) -> Outcome:
        """The primary outcome of the plan, else the first. Raises CannotPlant if there is none."""
        if not self.outcomes:
            raise CannotPlant(
                _(
                    "This study asks nothing on which stories could be compared: add Yes or No, a scale with two ends, "
                    "a preference or a ranking."
                )
            )
        primary = self.plan.outcome if self.plan else ""
        return next((outcome for outcome in self.outcomes if outcome.key == primary), self.outcomes[0])

    def _is_whole(self, outcome: Outcome) -> bool:
        return not outcome.is_part or (self.plan is not None and outcome.key == self.plan.outcome)

    def _can_expect(self, outcome: Outcome) -> bool:
        questions = [self._item_by_key[key] for key in outcome.items]
        if outcome.kind in ("preference", "rank"):
            return any(self._holds_both(codes) for codes in self._groups)
        return all(item.type.is_verdict or np.isfinite(item.bounds).all() for item in questions)

    def _holds_both(self, codes: Sequence[str]) -> bool:
        return {self.pair.first, self.pair.second} <= {self._name(code) for code in codes}

    def _name(self, code: str) -> str:
        source = self.pair.sources.get(code)
        return source.name if source else ""

    def width(self, outcome: Outcome) -> float:
        """How far apart two means of the outcome can be."""
        if outcome.is_percent:
            return 100.0
        if outcome.kind == "rank":
            return float(max(map(len, self._groups)) - 1)
        questions = [self._item_by_key[key] for key in outcome.items]
        if outcome.score is None:
            return questions[0].bounds[1] - questions[0].bounds[0]
        score = outcome.score
        weights = [score.weights.get(key, 1.0) for key in score.items]
        low, high = composites.bounds(score.how, ends=[item.bounds for item in questions], weights=weights)
        return float(high - low)

    def log_odds_for(self, size: float, n_by_kind: Mapping[RaterKind, float]) -> float:
        """How much better the stories of the first source must be for that effect on the main outcome, or how much
        worse where it counts in the other direction.

        size : in the unit of the outcome, 0 or more
        n_by_kind : how much of the answers each kind of rater gives, in any unit
        Raises CannotPlant for an effect that no quality of the stories would have.
        """
        outcome = self.main
        direction = 1 if self.difference(outcome, MOST_LOG_ODDS, n_by_kind) >= 0 else -1  # of a reversed scale -1
        most = self.difference(outcome, direction * MOST_LOG_ODDS, n_by_kind)
        if size > most:
            numbers = {"outcome": outcome_name(outcome.key, outcome.title), "most": decimal(most * 0.99, 2)}
            raise CannotPlant(
                _("On “%(outcome)s” these raters can differ by %(most)s at most. Choose a smaller effect.") % numbers
            )
        low, high = 0.0, MOST_LOG_ODDS
        for _halving in range(N_HALVINGS):
            middle = (low + high) / 2
            is_too_small = self.difference(outcome, direction * middle, n_by_kind) < size
            low, high = (middle, high) if is_too_small else (low, middle)
        return direction * (low + high) / 2

    def difference(self, outcome: Outcome, log_odds: float, n_by_kind: Mapping[RaterKind, float]) -> float:
        """What the answers to the first source's stories are better by on average, in the unit of the outcome.

        Averaged by the rule by which answers are drawn, over stories that such a source might have written and raters
        of these kinds; nothing in it is estimated from answers. Of places it is the second less the first.
        """
        n = sum(n_by_kind.values())
        of_kinds = (
            share * self._difference(outcome, log_odds, kind)
            for kind, share in n_by_kind.items()
            if kind.follows_sources
        )
        return sum(of_kinds) / n if n else 0.0

    def _difference(self, outcome: Outcome, log_odds: float, kind: RaterKind) -> float:
        if outcome.kind in ("preference", "rank"):
            return fmean(
                self._difference_in_group(outcome, codes, log_odds, kind)
                for codes in self._groups
                if self._holds_both(codes)
            )
        first, second = (self._expected(outcome, half * log_odds / 2, kind) for half in (1, -1))
        return first - second

    def _difference_in_group(self, outcome: Outcome, codes: Sequence[str], log_odds: float, kind: RaterKind) -> float:
        from annotation.simulation import expectations  # with SciPy, for which web processes have no use

        means = [self.pair.shift(code, log_odds) for code in codes]
        deviation = expectations.deviation_beside_others(kind, stories=STORIES)
        if outcome.kind == "rank":
            values = -expectations.expected_places(means, deviation)
        else:
            values = 100 * expectations.chances_of_first(means, deviation)
        names = np.array([self._name(code) for code in codes], dtype=object)
        return float(values[names == self.pair.first].mean() - values[names == self.pair.second].mean())

    def _expected(self, outcome: Outcome, shift: float, kind: RaterKind) -> float:
        """The mean answer about stories that are worth so much more than others."""
        questions = [self._item_by_key[key] for key in outcome.items]
        means = [self._expected_answer(item, shift, kind) for item in questions]
        score = outcome.score
        if score is None:
            return fmean(means) * (100 if outcome.is_percent else 1)
        return float(
            composites.composite(
                means,
                score.how,
                ends=[item.bounds for item in questions],
                weights=[score.weights.get(key, 1.0) for key in score.items],
                is_reversed=[key in score.reversed for key in score.items],
            )
        )

    def _expected_answer(self, step_item: StepItem, shift: float, kind: RaterKind) -> float:
        from annotation.simulation import expectations  # as above

        item = step_item.item
        mean = shift + self.simulation.shared(item.key)
        deviation = expectations.deviation_on_item(kind, stories=STORIES)
        if step_item.type.is_verdict:
            return expectations.chance_of_yes(mean, deviation)
        low, high = draw_bounds(step_item.type.schema(item))
        return float(
            items.find_type(item.type).analysed(item, expectations.expected_number(low, high, mean, deviation))
        )

    def draw_tendencies(self, log_odds: float, rng: np.random.Generator) -> dict[str, Tendency]:
        """What each story of the copy is worth: by its source, and by chance."""
        codes = sorted({code for group in self._groups for code in group})
        return {code: Tendency(self.pair.shift(code, log_odds) + float(rng.normal(0, STORIES))) for code in codes}
