"""One simulated study from the copy to what the report finds in it. Same study, same trial, same answers."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from statistics import median

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Max, Min
from django.utils.translation import gettext as _

from annotation import simulated_panel
from annotation.design import rehearsals
from annotation.models import Assignment, Rater, Response, Timing
from annotation.simulated_panel import SimulatedRater
from annotation.simulation import KINDS, RaterKind, Simulation, count_kinds
from reports.dataset import Dataset, answers
from reports.figures.raters.pace import PanelPace
from reports.figures.raters.questions import RaterQuestions
from reports.figures.sources.comparisons import Comparisons
from reports.figures.sources.contrast_rows import ContrastRow, OutcomeContrasts
from reports.lazy import np
from reports.simulated_studies.plantings import USUAL_SHARE, Planting, SourcePair, choose_pair
from reports.simulated_studies.summaries import KindSummary, OutcomeSummary, SimulatedStudy
from studies.models import Study
from studies.protocol import Outcome
from studies.rehearsals import WHOLE

FEWEST_RATERS, MOST_RATERS = 2, 500
HURRIED = {"fast", "short", "hurried"}  # of `reports.figures.raters.pace.QUESTIONS`, those about too little time
DAYS_PER_RATER = 1.25  # at most, between two arrivals
CAREFUL = KINDS[0]


class CopyGone(Exception):
    """The copy was deleted while raters answered in it; the message says so."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What is simulated. n : raters; effect : in the unit of the main outcome, None for a tenth of its width"""

    n: int
    seed: int
    effect: float | None = None


def run_trial(
    study: Study,
    trial: Trial,
    *,
    by: User | None,
    sees_sources: bool,
    at: datetime,
    before_each: Callable[[], None] = lambda: None,
) -> SimulatedStudy:
    """What raters of all kinds answer in a copy of the draft, and what the report makes of it. Takes minutes.

    by : whose rehearsal the copy replaces; None for one of nobody, which the caller deletes
    sees_sources : whether the effect may be planted between who wrote the stories
    before_each : called before each rater and before the contrasts; what it raises ends the trial
    Raises NotReady, CannotPlant, CopyGone.
    """
    began = time.monotonic()
    n_by_kind = count_kinds(trial.n)
    with transaction.atomic():  # what cannot be planted leaves the rehearsal that was there
        copy = rehearsals.renew(study, by=by, sees_sources=sees_sources, at=at, size=WHOLE)
        planting, log_odds = _plant(copy, trial, n_by_kind)
    try:
        members = simulated_panel.simulate_panel(
            planting.simulation,
            n_by_kind,
            begins=at - timedelta(days=DAYS_PER_RATER * (trial.n + 1)),
            before_each=before_each,
        )
        before_each()
        summary = _summarise(study, copy, trial, planting, log_odds, members)
    except Exception:
        # A copy that its owner renews at this moment, or that a launch deletes, fails wherever a row of it is missed.
        if Study.every.filter(pk=copy.pk).exists():
            raise
        message = _("The rehearsal was renewed or deleted while raters answered in it. Simulate it again.")
        raise CopyGone(message) from None
    return replace(summary, seconds=time.monotonic() - began)


def _plant(copy: Study, trial: Trial, n_by_kind: Mapping[RaterKind, int]) -> tuple[Planting, float]:
    """What stories are worth, with the effect in it, and how large that is in log-odds. Raises CannotPlant."""
    rng = np.random.default_rng(trial.seed)
    pair = choose_pair(copy, rng)
    planting = Planting(Simulation(copy, {}, rng), pair)
    size = planting.width(planting.main) * USUAL_SHARE if trial.effect is None else trial.effect
    log_odds = planting.log_odds_for(size, _expected_shares(n_by_kind))
    planting.simulation.tendency_by_story = planting.draw_tendencies(log_odds, rng)
    return planting, log_odds


def _expected_shares(n_by_kind: Mapping[RaterKind, int]) -> dict[RaterKind, float]:
    """How much of the answers each kind gives, before it is known: as many as any other, those who leave about half."""
    return {kind: n * (0.5 if kind.leaves else 1.0) for kind, n in n_by_kind.items()}


def read_dataset(copy: Study, pair: SourcePair) -> Dataset:
    """The dataset of the copy with the pair's sources, which may be halves that the database does not know."""
    dataset = Dataset.of(copy, blind=pair.is_drawn)
    if not pair.is_drawn:
        return dataset
    halves = dict(pair.sources)
    return replace(dataset, is_sealed=False, source_by_story=halves, answers=answers.table(copy, halves))


def _summarise(
    study: Study, copy: Study, trial: Trial, planting: Planting, log_odds: float, members: Sequence[SimulatedRater]
) -> SimulatedStudy:
    dataset = read_dataset(copy, planting.pair)
    kind_by_rater = {member.rater.code: member.kind for member in members}
    read = dataset.people[["assignment", "rater"]].drop_duplicates()
    weights = Counter(kind_by_rater[code] for code in read["rater"] if code in kind_by_rater)
    statuses = Counter(Assignment.objects.filter(study=copy).exclude(seat=None).values_list("status", flat=True))
    return SimulatedStudy(
        copy=copy.slug,
        seed=trial.seed,
        first=planting.pair.first,
        second=planting.pair.second,
        is_drawn=planting.pair.is_drawn,
        kinds=tuple(_kinds(dataset, members, set(read["rater"]))),
        n_groups=copy.groups.count(),
        n_groups_in_all=study.groups.count(),
        n_seats=copy.seats.filter(rater_kind=Rater.Kind.PERSON).count(),
        n_filled=statuses[Assignment.Status.SUBMITTED],
        n_open=statuses[Assignment.Status.OPEN],
        n_returned=statuses[Assignment.Status.GIVEN_UP],
        n_without_place=sum(not member.found_place for member in members),
        n_answers=Response.objects.filter(assignment__study=copy).count(),
        minutes=_median_minutes(copy),
        days=_days(copy),
        seconds=0.0,
        outcomes=tuple(_outcomes(dataset, planting, log_odds, weights)),
    )


def _kinds(dataset: Dataset, members: Sequence[SimulatedRater], counted: set[str]) -> list[KindSummary]:
    pace = PanelPace().compute(dataset)
    hurried = {row.rater for row in pace.raters if HURRIED & set(row.questions)} if pace else set()
    apart = RaterQuestions().compute(dataset)
    asked_about = hurried | {row.rater for row in (apart.rows if apart else ())}
    codes_by_kind = {kind.key: {member.rater.code for member in members if member.kind == kind} for kind in KINDS}
    return [
        KindSummary(key=key, n=len(codes), n_counted=len(codes & counted), n_named=len(codes & asked_about))
        for key, codes in codes_by_kind.items()
    ]


def _outcomes(
    dataset: Dataset, planting: Planting, log_odds: float, weights: Mapping[RaterKind, int]
) -> list[OutcomeSummary]:
    """The main outcome first, then the others in the order of the report."""
    comparisons = Comparisons().compute(dataset)
    contrasts_by_key = {outcome.key: outcome for outcome in comparisons.outcomes} if comparisons else {}
    main = planting.main if planting.outcomes else None
    ordered = sorted(planting.outcomes, key=lambda outcome: outcome != main)
    return [_outcome(planting, outcome, contrasts_by_key.get(outcome.key), log_odds, weights) for outcome in ordered]


def _outcome(
    planting: Planting,
    outcome: Outcome,
    contrasts: OutcomeContrasts | None,
    log_odds: float,
    weights: Mapping[RaterKind, int],
) -> OutcomeSummary:
    summary = OutcomeSummary(
        key=outcome.key,
        title=outcome.title,
        is_percent=outcome.is_percent,
        planted=planting.difference(outcome, log_odds, weights),
        careful=planting.difference(outcome, log_odds, {CAREFUL: 1}),
    )
    row = _find_row(contrasts, planting.pair)
    return replace(summary, found=row.value, ends=row.ends, why=row.why) if row else summary


def _find_row(contrasts: OutcomeContrasts | None, pair: SourcePair) -> ContrastRow | None:
    """The first source less the second, of places the reverse; None if the report has no such contrast."""
    if contrasts is None or not {pair.first, pair.second} <= {level.source for level in contrasts.sources}:
        return None
    return contrasts.oriented(contrasts.between(pair.first, pair.second))


def _median_minutes(copy: Study) -> float | None:
    submitted = Assignment.Status.SUBMITTED
    timings = Timing.objects.filter(
        assignment__study=copy, assignment__status=submitted, assignment__seat__isnull=False
    )
    seconds_by_assignment: Counter[int] = Counter()
    for assignment, seconds in timings.values_list("assignment", "active_seconds"):
        seconds_by_assignment[assignment] += seconds
    return median(seconds_by_assignment.values()) / 60 if seconds_by_assignment else None


def _days(copy: Study) -> float:
    ends = (
        Assignment.objects.filter(study=copy)
        .exclude(seat=None)
        .aggregate(first=Min("started_at"), last=Max(F("last_active_at")))
    )
    return float((ends["last"] - ends["first"]) / timedelta(days=1)) if ends["last"] and ends["first"] else 0.0
