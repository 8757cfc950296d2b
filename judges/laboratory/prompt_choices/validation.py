"""How well a run agrees with people on pairs that are set apart for choosing a prompt.

As in LitBench (Fein et al., 2025), where of six templates each model gets the one that is best on a validation split.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from annotation.models import Rater, Response
from judges.laboratory import splits
from judges.models import Run
from judges.planning import CannotRun
from studies import items as item_types
from studies import protocol as protocols
from studies.models import Item, Step, Study

if TYPE_CHECKING:
    from stats.arrays import FloatArray

BOTH_ORDERS = ("planned", "reversed")
SALT = 29  # of the seed


@dataclass(frozen=True)
class PairQuestion:
    """The question which of two stories is better. step : that asks it"""

    step: Step
    item: Item


@dataclass(frozen=True)
class PairAccuracy:
    """How well a run agrees with people on pairs, in shares from 0 to 1.

    accuracy : of all answers that were asked for in both orders, the share that named the story which most people
        chose; a reply without an answer counts as none that did
    low, high : its 95 % interval over clusters of pairs that share a story or a premise; None if there is none
    note : what a reader must know of the interval
    n_pairs, n_clusters : that count: most people chose one of the stories
    n_both, n_flipped : of those, the pairs with an answer in both orders, and the ones where the two differ
    n_asked, n_lost : answers about these pairs that were asked for, and those that did not come
    """

    accuracy: float
    low: float | None
    high: float | None
    note: str
    n_pairs: int
    n_clusters: int
    n_both: int
    n_flipped: int
    n_asked: int
    n_lost: int

    @property
    def document(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def percent(self) -> dict[str, float]:
        """Accuracy and its interval in percent; without an interval the accuracy alone."""
        values = {"accuracy": self.accuracy, "low": self.low, "high": self.high}
        return {name: 100 * value for name, value in values.items() if value is not None}


def find_pair_question(study: Study) -> PairQuestion:
    """The first question of the protocol that asks which story of a group is better. Raises CannotRun without one."""
    try:
        ratings = protocols.load_protocol(protocols.current(study)).ratings
    except protocols.NotPlannable as error:
        raise CannotRun(str(error)) from None
    for step in ratings:
        for item in protocols.items_of(step):
            if item_types.find_type(item.type).chooses_story:
                return PairQuestion(step, item)
    message = _("No step of %(study)s asks which of two stories is better. Add one to its protocol.")
    raise CannotRun(message % {"study": study.slug})


def count_votes(study: Study, question: PairQuestion, groups: Collection[str]) -> dict[str, Counter[str]]:
    """By code of the group how many people chose each of its stories, and “none”. One query."""
    rows = Response.objects.filter(
        assignment__study=study,
        assignment__rater_kind=Rater.Kind.PERSON,
        assignment__rater__is_simulated=False,
        assignment__group__code__in=groups,
        assignment__status="submitted",
        assignment__repeats=None,
        step__key=question.step.key,
        item__key=question.item.key,
        outcome=Response.Outcome.ANSWERED,
    )
    counts: dict[str, Counter[str]] = {}
    for group, value in rows.values_list("assignment__group__code", "value"):
        counts.setdefault(str(group), Counter())[str(value)] += 1
    return counts


def find_majorities(study: Study, question: PairQuestion, groups: Collection[str]) -> dict[str, str]:
    """By code of the group the story that more than half of the people chose; groups without one are left out."""
    majorities: dict[str, str] = {}
    for group, counter in count_votes(study, question, groups).items():
        best, n = counter.most_common(1)[0]
        if 2 * n > counter.total() and best != "none":
            majorities[group] = best
    return majorities


def measure_accuracy(run: Run, question: PairQuestion, majority_by_group: Mapping[str, str]) -> PairAccuracy:
    """How well the run, which asked about these pairs in both orders, agrees with people on them.

    Raises CannotRun if there is no pair. Loads numpy and scipy.
    """
    if not majority_by_group:
        raise CannotRun(_("People have preferred no story in these pairs; there is nothing to compare with."))
    import numpy as np

    from stats import intervals, judge_orders
    from stats.reasons import Incomputable

    groups = list(run.study.groups.filter(code__in=majority_by_group).prefetch_related("stories").order_by("code"))
    codes = {group.code: sorted(story.code for story in group.stories.all()) for group in groups}
    chosen = _load_choices(run, question, codes)
    preferred = np.array([codes[code].index(majority_by_group[code]) for code in codes], dtype=np.float64)
    right = (chosen == preferred[:, np.newaxis]).sum(axis=1) / len(BOTH_ORDERS)
    changed = judge_orders.pair_choices(chosen, preferred).changed
    number_by_group = splits.number_clusters(groups)
    clusters = [number_by_group[code] for code in codes]
    rng = np.random.default_rng([abs(run.study.seed), SALT])
    low = high = None
    note = ""
    try:
        interval = intervals.mean_interval(right, clusters, rng=rng).clipped(0, 1)
        low, high, note = interval.low, interval.high, interval.note
    except Incomputable:
        pass
    return PairAccuracy(
        accuracy=float(right.mean()),
        low=low,
        high=high,
        note=note,
        n_pairs=len(codes),
        n_clusters=len(set(clusters)),
        n_both=int(np.isfinite(changed).sum()),
        n_flipped=int(np.nansum(changed)),
        n_asked=chosen.size,
        n_lost=int(np.isnan(chosen).sum()),
    )


def _load_choices(run: Run, question: PairQuestion, codes: Mapping[str, Sequence[str]]) -> FloatArray:
    """What the run chose, shape (P, 2), as `judge_orders.pair_choices` takes it. One query.

    codes : of the stories of each pair, sorted
    """
    import numpy as np

    chosen = np.full((len(codes), len(BOTH_ORDERS)), np.nan)
    position_by_group = {group: n for n, group in enumerate(codes)}
    answers = Response.objects.filter(
        assignment__reading__run=run,
        assignment__group__code__in=codes,
        step__key=question.step.key,
        item__key=question.item.key,
        outcome=Response.Outcome.ANSWERED,
    ).order_by("pk")
    for group, order, value in answers.values_list("assignment__group__code", "assignment__seat__order", "value"):
        stories = codes[group]
        at = (position_by_group[group], int(order[0] != stories[0]))
        if np.isnan(chosen[at]):
            chosen[at] = stories.index(value) if value in stories else -1
    return chosen
