"""What the surprise of a fill rests on: the reference set and its variants, raw distances beside those divided.

Source: Zou & Xu (2026), sections 4.2, 5.3 and 6.3, 4. Dividing by the largest distance lifts even noise, so what random
directions would have stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy

from reports.dataset.scored_clozes import reference_masks
from reports.figures.base import Figure, Row, estimate
from reports.figures.cloze_participants import number
from reports.figures.cloze_words import LEAVE_ONE_OUT, REFERENCES, WITHOUT_OUTLIERS
from reports.lazy import cloze, comparisons, np
from reports.numbers import coefficient, decimal

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.scored_clozes import FillVectors, ScoredCloze
    from stats.arrays import BoolArray, FloatArray

SALT = 141  # of the seed
N_BLANKS = 200  # of random directions


@dataclass(frozen=True, kw_only=True)
class ParticipantSurprise:
    """The mean over sections: raw : of distances as they are; divided : by the largest of each blank"""

    participant: str
    is_in_reference: bool
    raw: float | None
    divided: float | None
    total: float | None
    rank: int


@dataclass(frozen=True, kw_only=True)
class ReferenceVariant:
    """The same with another reference set of n texts.

    left_out : participants that the main set holds and this one does not; with_main : Spearman's rho of the totals with
    those of the main set; n_moved : participants whose rank is another
    """

    name: str
    n: int
    left_out: tuple[str, ...]
    with_main: float | None
    n_moved: int
    participants: tuple[ParticipantSurprise, ...]

    @property
    def leaders(self) -> list[str]:
        return [row.participant for row in self.participants if row.rank == 1]


@dataclass(frozen=True, kw_only=True)
class FilledTextDistances:
    """One text's fills in the order of the blanks, as raw distances and divided."""

    story: str
    participant: str
    raw: tuple[float | None, ...]
    divided: tuple[float | None, ...]


@dataclass(frozen=True, kw_only=True)
class ClozeSurpriseResult:
    """variants : the main set first; with_satisfied : Spearman's rho of the participants' means of both parts

    n_with_satisfied : participants that have both
    noise : the mean of divided distances that random directions would have, as many as the reference has texts
    """

    embedding: str
    version: str
    blanks: tuple[int, ...]
    variants: tuple[ReferenceVariant, ...]
    with_satisfied: float | None
    n_with_satisfied: int
    noise: float | None
    texts: tuple[FilledTextDistances, ...]


class ClozeSurprise(Figure[ClozeSurpriseResult]):
    key = "cloze_surprise"
    title = gettext_lazy("Filled texts: what surprise rests on")
    position = 142
    result = ClozeSurpriseResult
    tables = ("cloze-surprise", "cloze-fills")
    is_shown_sealed = False
    needs_answers = False
    edition = 2

    def compute(self, dataset: Dataset) -> ClozeSurpriseResult | None:
        scored = dataset.scored_cloze
        fills = scored.fills if scored else None
        if scored is None or fills is None or fills.why or not scored.reference.is_in.any():
            return None
        return _compute(dataset, scored, fills)

    def rows(self, result: ClozeSurpriseResult) -> dict[str, Iterator[Row]]:
        return {"cloze-surprise": _variant_rows(result), "cloze-fills": _fill_rows(result)}

    def lines(self, result: ClozeSurpriseResult) -> Iterator[str]:
        yield f"\nWhat surprise rests on: {result.embedding} {result.version}"
        for variant in result.variants:
            words = (
                f"{variant.n} texts, rho with the main set {coefficient(variant.with_main)}, {variant.n_moved} moved"
            )
            yield f"  {variant.name:<18} {words}, first {', '.join(variant.leaders) or '–'}"
        yield f"  random directions would have {coefficient(result.noise)}"
        for row in result.variants[0].participants:
            yield f"  {row.participant[:34]:<34} raw {decimal(row.raw, 3)}, divided {coefficient(row.divided)}"

    def context(self, result: ClozeSurpriseResult) -> dict[str, Any]:
        """The sets by name; and each participant with the main set beside the same held against the others."""
        main, last = result.variants[0], result.variants[-1]
        return {
            "main": main,
            "variants": [(REFERENCES[variant.name], variant) for variant in result.variants],
            "pairs": list(zip(main.participants, last.participants, strict=True)),
        }


def _compute(dataset: Dataset, scored: ScoredCloze, fills: FillVectors) -> ClozeSurpriseResult:
    main = scored.totals(scored.satisfied_softly)
    parts = (scored.satisfied_softly, scored.surprising)
    satisfied, surprising = (scored.of_participants(values).mean(axis=1) for values in parts)
    divided = cloze.relative(scored.raw_distances, scored.reference.is_in)
    return ClozeSurpriseResult(
        embedding=fills.embedding,
        version=fills.version,
        blanks=fills.blanks,
        variants=tuple(_variant(scored, *variant, main) for variant in _references(scored)),
        with_satisfied=estimate(comparisons.spearman, satisfied, surprising).value,
        n_with_satisfied=int(np.isfinite(satisfied + surprising).sum()),
        noise=_noise(dataset, scored.reference.n, fills.vectors.shape[2]),
        texts=tuple(
            FilledTextDistances(
                story=text.story,
                participant=text.participant,
                raw=tuple(map(number, scored.raw_distances[n])),
                divided=tuple(map(number, divided[n])),
            )
            for n, text in enumerate(scored.texts)
        ),
    )


def _references(scored: ScoredCloze) -> Iterator[tuple[str, BoolArray, FloatArray]]:
    """Each set with the distances from its middle: the main one, then those that differ from it and hold two texts."""
    main = scored.reference
    yield main.name, main.is_in, scored.raw_distances
    outliers = cloze.find_outliers(scored.raw_distances, main.is_in)
    others = reference_masks(scored.texts) | {WITHOUT_OUTLIERS: main.is_in & ~outliers}
    for name, is_in in others.items():
        if is_in.sum() > 1 and (is_in != main.is_in).any():
            yield name, is_in, scored.distances(is_in)
    if main.n > 1:
        yield LEAVE_ONE_OUT, main.is_in, scored.distances(main.is_in, leave_one_out=True)


def _variant(
    scored: ScoredCloze, name: str, is_in: BoolArray, distances: FloatArray, main: FloatArray
) -> ReferenceVariant:
    surprising = scored.surprising_by(distances, is_in)
    totals = scored.totals(scored.satisfied_softly, surprising)
    ranks, main_ranks = cloze.ranks(totals), cloze.ranks(main)
    raw, divided = (scored.of_participants(v).mean(axis=1) for v in (scored.by_section(distances), surprising))
    members = scored.of_participants(is_in[:, np.newaxis].astype(np.float64))[:, 0] > 0
    dropped = scored.of_participants((scored.reference.is_in & ~is_in)[:, np.newaxis].astype(np.float64))[:, 0] > 0
    return ReferenceVariant(
        name=name,
        n=int(is_in.sum()),
        left_out=tuple(p for p, is_out in zip(scored.participants, dropped, strict=True) if is_out),
        with_main=estimate(comparisons.spearman, totals, main).value,
        n_moved=int((ranks != main_ranks).sum()),
        participants=tuple(
            ParticipantSurprise(
                participant=participant,
                is_in_reference=bool(members[n]),
                raw=number(raw[n]),
                divided=number(divided[n]),
                total=number(totals[n]),
                rank=int(ranks[n]),
            )
            for n, participant in enumerate(scored.participants)
        ),
    )


def _noise(dataset: Dataset, n: int, size: int) -> float | None:
    """What n random directions of as many dimensions would have on average."""
    if n < 2:
        return None
    drawn = dataset.rng(SALT).standard_normal((n, N_BLANKS, size))
    return number(cloze.surprises(drawn, np.ones(n, dtype=np.bool_)).mean())


def _variant_rows(result: ClozeSurpriseResult) -> Iterator[Row]:
    for variant in result.variants:
        for row in variant.participants:
            yield {
                "reference": variant.name,
                "n": variant.n,
                "participant": row.participant,
                "in_reference": row.is_in_reference,
                "raw_distance": row.raw,
                "surprises": row.divided,
                "total": row.total,
                "rank": row.rank or None,
            }


def _fill_rows(result: ClozeSurpriseResult) -> Iterator[Row]:
    for text in result.texts:
        for blank, raw, divided in zip(result.blanks, text.raw, text.divided, strict=True):
            yield {
                "story": text.story,
                "participant": text.participant,
                "blank": blank,
                "raw_distance": raw,
                "surprise": divided,
            }
