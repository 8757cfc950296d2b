"""What the surprise of a fill rests on: the reference set and its variants, raw distances beside those divided.

Source: Zou & Xu (2026), sections 4.2, 5.3 and 6.3, 4. Dividing by the largest distance lifts even noise, so what random
directions would have stands beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from judges.laboratory.embeddings import explain
from reports.dataset.scored_clozes import reference_masks
from reports.document import columns
from reports.document.columns import LEAD, decimals
from reports.document.files import file_only
from reports.document.model import DocumentSection, Facts, Files, Head, ReportTable, TextBlock
from reports.document.phrases import phrase
from reports.figures.base import Figure, estimate, select_labels
from reports.figures.cloze.part_names import LEAVE_ONE_OUT, REFERENCES, WITHOUT_OUTLIERS
from reports.figures.cloze.participants import number
from reports.lazy import cloze, comparisons, np
from reports.numbers import NONE, coefficient, whole

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
    title = gettext_lazy("Filled texts: basis of surprise")
    position = 144
    section = "cloze"
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

    def describe(self, result: ClozeSurpriseResult, head: Head) -> Iterator[DocumentSection]:
        main = result.variants[0]
        sentence = _(
            "“Surprises” is a distance from what %(n)s texts have in common, not surprise in a reader: divided by the "
            "largest distance, random directions would have %(noise)s."
        )
        yield DocumentSection(
            heading=self.title,
            body=[
                TextBlock(words=sentence % {"n": main.n, "noise": coefficient(result.noise)}, css="says"),
                _set_table(result),
                _every_participant(result),
                Files(words=_("Every participant with every set"), table="cloze-surprise"),
                _participant_table(result),
                _every_fill(result),
                Files(words=_("Every fill"), table="cloze-fills"),
            ],
            margin=list(_margin(result)),
        )


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
    members = scored.have_texts_in(is_in)
    is_left_out = scored.have_texts_in(scored.reference.is_in & ~is_in)
    return ReferenceVariant(
        name=name,
        n=int(is_in.sum()),
        left_out=tuple(select_labels(scored.participants, is_left_out)),
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


def _set_table(result: ClozeSurpriseResult) -> ReportTable[ReferenceVariant]:
    """Every set, beside the main one."""
    main = result.variants[0]

    def beside(write: Callable[[ReferenceVariant], str]) -> Callable[[ReferenceVariant], str]:
        return lambda row: NONE if row is main else write(row)

    return ReportTable(
        label=_("Reference sets"),
        caption=_("The totals with other reference sets, beside those with the main one, which stands first."),
        rows=result.variants,
        columns=[
            columns.words("name", _("Reference set"), shown=lambda row: REFERENCES[row.name], is_head=True),
            columns.number("n", _("Texts")),
            columns.number(
                "with_main", _("Rho with the main set"), shown=beside(lambda row: coefficient(row.with_main))
            ),
            columns.number("n_moved", _("Other rank"), shown=beside(lambda row: whole(row.n_moved))),
            columns.words("leaders", _("First"), lambda row: ", ".join(row.leaders)),
            columns.words("left_out", _("Not in this set"), lambda row: ", ".join(row.left_out)),
        ],
    )


def _every_participant(result: ClozeSurpriseResult) -> ReportTable[tuple[ReferenceVariant, ParticipantSurprise]]:
    return file_only(
        "cloze-surprise",
        [(variant, row) for variant in result.variants for row in variant.participants],
        columns.fields(reference="name", n="n", of=lambda pair: pair[0]),
        columns.fields("participant", "total", in_reference="is_in_reference", of=lambda pair: pair[1]),
        columns.fields(raw_distance="raw", surprising="divided", of=lambda pair: pair[1]),
        columns.in_file("rank", lambda pair: pair[1].rank or None),
    )


def _participant_table(result: ClozeSurpriseResult) -> ReportTable[tuple[ParticipantSurprise, ParticipantSurprise]]:
    """Each participant with the main set beside the same held against the others."""
    main, last = result.variants[0], result.variants[-1]
    caption = _("Distances from the middle of %(n)s texts, as they are and divided by the largest of each blank.")
    return ReportTable(
        label=_("Raw and divided distances"),
        caption=caption % {"n": main.n},
        rows=list(zip(main.participants, last.participants, strict=True)),
        columns=[
            columns.words("participant", _("Participant"), lambda pair: pair[0].participant, is_head=True),
            columns.number("raw", _("Raw"), lambda pair: pair[0].raw, write=decimals(3)),
            columns.number("divided", _("Divided"), lambda pair: pair[0].divided, write=coefficient, css=LEAD),
            columns.number("others", _("Held against the others, raw"), lambda pair: pair[1].raw, write=decimals(3)),
            columns.yes_or_no("is_in", _("In the set"), lambda pair: pair[0].is_in_reference),
        ],
        css="ruled close",
    )


def _every_fill(result: ClozeSurpriseResult) -> ReportTable[tuple[FilledTextDistances, int]]:
    return file_only(
        "cloze-fills",
        [(text, place) for text in result.texts for place in range(len(result.blanks))],
        columns.fields("story", "participant", of=lambda pair: pair[0]),
        columns.in_file("blank", lambda pair: result.blanks[pair[1]]),
        columns.in_file("raw_distance", lambda pair: pair[0].raw[pair[1]]),
        columns.in_file("surprising", lambda pair: pair[0].divided[pair[1]]),
    )


def _margin(result: ClozeSurpriseResult) -> Iterator[Facts | TextBlock]:
    counted = ngettext("%(n)s blank", "%(n)s blanks", len(result.blanks)) % {"n": len(result.blanks)}
    yield Facts(pairs=[(_("Embedding"), f"{explain(result.embedding)} ({result.version})"), (_("Based on"), counted)])
    if result.with_satisfied is not None:
        sentence = _(
            "Over %(n)s participants, Spearman’s rho of satisfying and surprising is <strong>%(rho)s</strong>."
        )
        rho = coefficient(result.with_satisfied)
        yield TextBlock(words=phrase(sentence, n=whole(result.n_with_satisfied), rho=rho))
    outliers = _(
        "Outliers are texts whose mean distance lies more than 1.5 interquartile ranges above the upper quartile of "
        "the set. Held against the others: a text does not move the middle that it is measured from."
    )
    yield TextBlock(words=outliers)
    incomparable = _(
        "Raw distances of two embeddings, or of an embedding that is fitted to the fills, cannot be compared between "
        "studies."
    )
    yield TextBlock(words=incomparable)
