"""The participants of a cloze: the total of each, what it rests on, and how far it holds when something is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reports.document.values import Interval, Reason
from reports.figures.base import ends_of_mean, without_value
from reports.lazy import cloze, np

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.scored_clozes import ScoredCloze
    from stats.arrays import FloatArray

MOST = 2  # of a section: satisfied in full, by the fill of the reference set that surprises most
FAMILY_OF_A_NAME = re.compile(r"[a-z]+")


@dataclass(frozen=True, kw_only=True)
class SectionScore:
    """distance : the mean raw distance of its fills, before it is divided by the largest"""

    section: str
    satisfied: float | None
    surprising: float | None
    distance: float | None
    score: float | None


@dataclass(frozen=True, kw_only=True)
class Sensitivity:
    """What a total and its rank are over n ways of leaving something out: a range, no interval."""

    low: float
    high: float
    best_rank: int
    worst_rank: int
    n: int


@dataclass(frozen=True, kw_only=True)
class WithoutFamily:
    """A total and its rank without the judges of the participant's own family of models."""

    judges: tuple[str, ...]
    total: float | None
    rank: int


@dataclass(frozen=True, kw_only=True)
class ParticipantScore:
    """One participant, the mean over n_texts of theirs.

    rank : 1 the highest, equal ones share it; 0 without a total
    interval : over repeated fills, of those who filled the text more than once
    capped, capped_rank : with ratings capped where a required check was denied
    """

    participant: str
    is_model: bool
    n_texts: int
    is_in_reference: bool
    total: float | None
    rank: int
    why: Reason | None = None
    interval: Interval
    satisfied: float | None
    surprising: float | None
    distance: float | None
    without_a_judge: Sensitivity | None
    without_a_section: Sensitivity | None
    without_family: WithoutFamily | None
    capped: float | None
    capped_rank: int
    sections: tuple[SectionScore, ...]


@dataclass(frozen=True, kw_only=True)
class KindMean:
    """People or models: the mean over n participants with a total, with its interval over participants."""

    is_model: bool
    n: int
    total: float | None
    interval: Interval
    satisfied: float | None
    surprising: float | None


def score_participants(dataset: Dataset, scored: ScoredCloze) -> list[ParticipantScore]:
    """Every participant from the first rank down; those without a total last."""
    rows = list(_participants(dataset, scored))
    return sorted(rows, key=lambda row: (row.rank or len(rows) + 1, row.participant))


def number(value: float) -> float | None:
    """The number; None if there is none."""
    return float(value) if np.isfinite(value) else None


def _participants(dataset: Dataset, scored: ScoredCloze) -> Iterator[ParticipantScore]:
    satisfied, surprising = scored.satisfied_softly, scored.surprising
    totals = scored.totals(satisfied)
    ranks = cloze.ranks(totals)
    capped = scored.totals(scored.satisfied(is_capped=True))
    capped_ranks = cloze.ranks(capped)
    of_judges, of_sections = _without_judges(scored), _without_sections(scored)
    families = _own_judges(dataset, scored)
    parts = [scored.of_participants(v) for v in (satisfied, surprising, scored.by_section(scored.raw_distances))]
    scores = scored.of_participants(cloze.scores(satisfied, surprising))
    of_texts = cloze.totals(satisfied, surprising)
    is_in_reference = scored.have_texts_in(scored.reference.is_in)
    for place, name in enumerate(scored.participants):
        means = [number(part[place].mean()) for part in parts]
        yield ParticipantScore(
            participant=name,
            is_model=scored.has_model(place),
            n_texts=int((scored.place_of == place).sum()),
            is_in_reference=bool(is_in_reference[place]),
            total=number(totals[place]),
            rank=int(ranks[place]),
            why=None if np.isfinite(totals[place]) else _why(scored, satisfied, place),
            interval=_repeated(dataset, of_texts[scored.place_of == place], most=_most(scored, [place])),
            satisfied=means[0],
            surprising=means[1],
            distance=means[2],
            without_a_judge=_sensitivity(of_judges, place),
            without_a_section=_sensitivity(of_sections, place),
            without_family=_without_family(scored, families.get(name, ()), place),
            capped=number(capped[place]),
            capped_rank=int(capped_ranks[place]),
            sections=tuple(
                SectionScore(
                    section=title,
                    satisfied=number(parts[0][place, g]),
                    surprising=number(parts[1][place, g]),
                    distance=number(parts[2][place, g]),
                    score=number(scores[place, g]),
                )
                for g, title in enumerate(scored.section_titles)
            ),
        )


def _why(scored: ScoredCloze, satisfied: FloatArray, place: int) -> Reason:
    if scored.why:
        return Reason.of(scored.why)
    if not scored.reference.is_in.any():
        return without_value("no_reference_texts")
    is_rated = np.isfinite(satisfied[scored.place_of == place]).all(axis=1).any()
    return without_value("open_blank") if is_rated else without_value("not_all_constraints_rated")


def _most(scored: ScoredCloze, places: Sequence[int]) -> float:
    """The highest total that texts of these participants can have: none is highest outside of the reference set."""
    is_in = scored.reference.is_in[np.isin(scored.place_of, places)]
    return float(MOST * scored.n_sections if is_in.all() else np.inf)


def _repeated(dataset: Dataset, totals: FloatArray, *, most: float) -> Interval:
    """The interval of the mean of the totals of one participant's texts."""
    present = totals[np.isfinite(totals)]
    if present.size < 2:
        return Interval(low=None, high=None, why=without_value("filled_once"))
    return ends_of_mean(present, np.arange(present.size), rng=dataset.resampling(), low=0, high=most)


def _without_judges(scored: ScoredCloze) -> list[FloatArray]:
    """The totals without each judge in turn, where there are several."""
    judges = scored.judged.judges if scored.judged else ()
    if len(judges) < 2:
        return []
    return [scored.totals(scored.satisfied(judges=[other for other in judges if other != name])) for name in judges]


def _without_sections(scored: ScoredCloze) -> list[FloatArray]:
    """The totals without each section in turn, where there are several."""
    if scored.n_sections < 2:
        return []
    masks = (np.arange(scored.n_sections) != g for g in range(scored.n_sections))
    return [scored.totals(scored.satisfied_softly[:, keep], scored.surprising[:, keep]) for keep in masks]


def _sensitivity(totals: Sequence[FloatArray], place: int) -> Sensitivity | None:
    """The range of a participant's total, and of its rank, over what was left out."""
    values = [(float(row[place]), int(cloze.ranks(row)[place])) for row in totals if np.isfinite(row[place])]
    if not values:
        return None
    amounts, ranks = zip(*values, strict=True)
    return Sensitivity(low=min(amounts), high=max(amounts), best_rank=min(ranks), worst_rank=max(ranks), n=len(values))


def _own_judges(dataset: Dataset, scored: ScoredCloze) -> dict[str, tuple[str, ...]]:
    """The judges of each model's own family, by participant. One query.

    The family is the factor `family` of a text, or the letters with which the name of the model begins: those with
    whose names it begins, too, are of it.
    """
    if scored.judged is None or not scored.judged.is_judged_by_models:
        return {}
    model_by_slug = dataset.records.read_models(scored.participants)
    own: dict[str, tuple[str, ...]] = {}
    for text in scored.texts:
        model = model_by_slug.get(text.participant) or text.participant
        begins = FAMILY_OF_A_NAME.match(model.rpartition("/")[2].casefold())
        family = dataset.story_factor(text.story, "family") or (begins[0] if begins else "")
        if text.is_by_model and family:
            own[text.participant] = tuple(n for n in scored.judged.judges if _is_of_family(dataset, n, family))
    return own


def _is_of_family(dataset: Dataset, judge: str, family: str) -> bool:
    row = dataset.judge_by_slug.get(judge)
    model = (row.model if row and row.model else judge).casefold()
    return any(name.startswith(family) for name in (model, model.rpartition("/")[2]))


def _without_family(scored: ScoredCloze, own: tuple[str, ...], place: int) -> WithoutFamily | None:
    """The participant's total without these judges, ranked among the others' totals by all judges."""
    if not own or scored.judged is None:
        return None
    others = [name for name in scored.judged.judges if name not in own]
    total = scored.totals(scored.satisfied(judges=others))[place]
    totals = scored.totals(scored.satisfied_softly).copy()
    totals[place] = total
    return WithoutFamily(judges=own, total=number(total), rank=int(cloze.ranks(totals)[place]))


def compare_kinds(dataset: Dataset, scored: ScoredCloze, rows: Sequence[ParticipantScore]) -> Iterator[KindMean]:
    """People and models, where there are both."""
    by_kind = [(kind, [row for row in rows if row.is_model == kind]) for kind in (False, True)]
    for is_model, of_kind in by_kind if all(of_kind for _kind, of_kind in by_kind) else ():
        totals = np.array([row.total for row in of_kind if row.total is not None], dtype=np.float64)
        most = _most(scored, [scored.participants.index(row.participant) for row in of_kind])
        ends = ends_of_mean(totals, np.arange(totals.size), rng=dataset.resampling(), low=0, high=most)
        yield KindMean(
            is_model=is_model,
            n=totals.size,
            total=number(totals.mean()) if totals.size else None,
            interval=ends,
            satisfied=_mean([row.satisfied for row in of_kind]),
            surprising=_mean([row.surprising for row in of_kind]),
        )


def _mean(values: Sequence[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return sum(present) / len(present) if present else None
