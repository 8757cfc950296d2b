"""How far filled texts satisfy and surprise, section by section: the two parts of QUIET's score and their variants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from judges.laboratory.embeddings import CannotEmbed, Occasion, find_embedding
from reports.dataset.judged_clozes import FilledText, JudgedCloze, PublishedSections
from reports.lazy import arrays, cloze, np
from stats.reasons import Incomputable
from studies.documents.analysis_plan import ALL_TEXTS, EMBEDDING, OF_MODELS, OF_PEOPLE, SHORTLISTED, AnalysisPlan

if TYPE_CHECKING:
    from stats.arrays import BoolArray, FloatArray, IntArray
    from stats.cloze import NamedForm
    from studies.models import Study

BY_PLAN = "the analysis plan"  # which names the embedding of fills


@dataclass(frozen=True)
class Reference:
    """The texts that say what is usual. Axes: N texts.

    name : as the analysis plan names them
    is_planned : whether the plan says so; else it is our default
    """

    name: str
    is_planned: bool
    is_in: BoolArray

    @property
    def n(self) -> int:
        return int(self.is_in.sum())


@dataclass(frozen=True)
class FillVectors:
    """The fills as vectors, shape (N, B, D), nan where there is none; or why there are none.

    sections : of each blank, from 0, shape (B,)
    """

    embedding: str
    version: str
    vectors: FloatArray
    blanks: tuple[int, ...]
    sections: IntArray
    why: Incomputable | None = None


@dataclass(frozen=True)
class ScoredCloze:
    """Texts with what their sections satisfy and surprise, as judged here or as published. Axes: N texts, G sections.

    participants : in alphabetical order; place_of : of each text, the place of its participant among them, shape (N,)
    """

    title: str
    section_titles: tuple[str, ...]
    n_blanks: int
    texts: tuple[FilledText, ...]
    reference: Reference
    judged: JudgedCloze | None = None
    published: PublishedSections | None = None
    fills: FillVectors | None = None
    participants: tuple[str, ...] = field(init=False)
    place_of: IntArray = field(init=False)

    def __post_init__(self) -> None:
        names = sorted({text.participant for text in self.texts}, key=lambda name: (name.casefold(), name))
        places = np.array([names.index(text.participant) for text in self.texts], dtype=np.int64)
        object.__setattr__(self, "participants", tuple(names))
        object.__setattr__(self, "place_of", places)

    @property
    def n_sections(self) -> int:
        return len(self.section_titles)

    @property
    def why(self) -> Incomputable | None:
        """Why there is no surprise, if there is none."""
        return self.fills.why if self.fills else None

    def satisfied(
        self, *, judges: Sequence[str] | None = None, bucket: bool = False, is_capped: bool = False
    ) -> FloatArray:
        """How far each text satisfies each section, shape (N, G); nan where nobody rated all of its constraints.

        judges : only these; is_capped : ratings are capped where their judge denied a required check
        Published scores are what they are: without judges, and as means.
        """
        if self.published is not None:
            return self.published.satisfied
        if self.judged is None:
            return self._nothing
        ratings = self.judged.ratings
        if is_capped:
            ratings = cloze.apply_knockout(ratings, self.judged.is_broken)
        if judges is not None:
            ratings = ratings[[name in judges for name in self.judged.judges]]
        if not len(ratings):
            return self._nothing
        groups = [constraint.section for constraint in self.judged.constraints]
        return np.asarray(cloze.satisfaction_by_group(ratings.transpose(1, 0, 2), groups, bucket=bucket))

    @cached_property
    def raw_distances(self) -> FloatArray:
        """Of each fill to the centroid of the reference's fills of that blank, shape (N, B); no blanks if published."""
        return self.distances(self.reference.is_in)

    def distances(self, is_in: BoolArray, *, leave_one_out: bool = False) -> FloatArray:
        """The same with another reference."""
        if self.fills is None or self.fills.why or not is_in.any():
            return np.full((len(self.texts), len(self.fills.blanks) if self.fills else 0), np.nan)
        return np.asarray(cloze.distances(self.fills.vectors, is_in, leave_one_out=leave_one_out))

    @cached_property
    def surprising(self) -> FloatArray:
        """How far each text surprises in each section, shape (N, G)."""
        if self.published is not None:
            return self.published.surprising
        return self.surprising_by(self.raw_distances, self.reference.is_in)

    def surprising_by(self, raw: FloatArray, is_in: BoolArray) -> FloatArray:
        """The same from other distances, divided by the largest of these texts at each blank."""
        if self.fills is None or not is_in.any():
            return self._nothing
        return self.by_section(cloze.relative(raw, is_in))

    def by_section(self, values: FloatArray) -> FloatArray:
        """The mean over the blanks of each section, shape (N, B) to (N, G); nan where fills are not known."""
        return np.asarray(cloze.group_means(values, self.fills.sections)) if self.fills else self._nothing

    @property
    def _nothing(self) -> FloatArray:
        return np.full((len(self.texts), self.n_sections), np.nan)

    @cached_property
    def satisfied_softly(self) -> FloatArray:
        """`satisfied` by all judges, as the mean over constraints."""
        return self.satisfied()

    def of_participants(self, values: FloatArray) -> FloatArray:
        """The mean over the texts of each participant, shape (N, …) to (P, …); nan where none of them has a value."""
        parts = [arrays.mean_present(values[self.place_of == place], axis=0) for place in range(len(self.participants))]
        return np.array(parts)

    def have_texts_in(self, is_in: BoolArray) -> BoolArray:
        """Which participants have a text among these, shape (N,) to (P,)."""
        return np.bincount(self.place_of[is_in], minlength=len(self.participants)) > 0

    def totals(
        self, satisfied: FloatArray, surprising: FloatArray | None = None, form: NamedForm | None = None
    ) -> FloatArray:
        """The total of each participant, the mean over their texts, shape (P,); in the main form unless another."""
        parts = self.surprising if surprising is None else surprising
        return self.of_participants(cloze.totals(satisfied, parts, *([form] if form else [])))

    def has_model(self, place: int) -> bool:
        """Whether the participant at that place is a model."""
        return any(t.is_by_model for t, p in zip(self.texts, self.place_of, strict=True) if p == place)


def score_cloze(
    judged: JudgedCloze | None, published: PublishedSections | None, plan: AnalysisPlan | None, *, study: Study
) -> ScoredCloze | None:
    """What was judged or published, ready to be scored as the plan says; None if there is neither."""
    if judged is not None:
        document = judged.document
        return ScoredCloze(
            title=document.title,
            section_titles=tuple(section.title for section in document.sections),
            n_blanks=len(document.blanks),
            texts=judged.texts,
            reference=_reference(judged.texts, plan),
            judged=judged,
            fills=_embed(judged, plan.embedding if plan else EMBEDDING, study),
        )
    if published is not None:
        reference = replace(_reference(published.texts, None), is_in=np.ones(len(published.texts), dtype=np.bool_))
        return ScoredCloze("", published.titles, 0, published.texts, reference, published=published)
    return None


def reference_masks(texts: Sequence[FilledText]) -> dict[str, BoolArray]:
    """Which texts each named reference holds, shape (N,)."""
    is_by_model = np.array([text.is_by_model for text in texts], dtype=np.bool_)
    return {
        OF_MODELS: is_by_model,
        ALL_TEXTS: np.ones(len(texts), dtype=np.bool_),
        OF_PEOPLE: ~is_by_model,
        SHORTLISTED: np.array([text.is_shortlisted for text in texts], dtype=np.bool_),
    }


def _reference(texts: Sequence[FilledText], plan: AnalysisPlan | None) -> Reference:
    """The texts of models, as in the paper, where two or more are by models; else all. The plan may say otherwise."""
    masks = reference_masks(texts)
    planned = plan.reference_texts if plan else ""
    name = planned or (OF_MODELS if masks[OF_MODELS].sum() > 1 else ALL_TEXTS)
    return Reference(name, bool(planned), masks[name])


def _embed(judged: JudgedCloze, name: str, study: Study) -> FillVectors:
    """The fills as vectors, all at once, so that those of a fitted embedding stand in one space.

    Of an endpoint that the plan names, vectors that are not kept are asked for in a run of the study.
    """
    document = judged.document
    blanks = tuple(blank.number for blank in document.blanks)
    place_by_section = {section.number: place for place, section in enumerate(document.sections)}
    sections = np.array([place_by_section[blank.section] for blank in document.blanks], dtype=np.int64)
    places = [
        (n, b)
        for n, text in enumerate(judged.texts)
        for b, number in enumerate(blanks)
        if any(letter.isalnum() for letter in text.fills.get(number, ""))
    ]
    nothing = np.full((len(judged.texts), len(blanks), 1), np.nan)
    if not places:
        return FillVectors(name, "", nothing, blanks, sections, Incomputable("no_fills"))
    try:
        embedding = find_embedding(name, occasion=Occasion(study, BY_PLAN))
        rows = embedding.vectors([judged.texts[n].fills[blanks[b]] for n, b in places])
        version = embedding.version
    except CannotEmbed as error:
        return FillVectors(name, "", nothing, blanks, sections, Incomputable("no_vectors", why=str(error)))
    vectors = np.full((len(judged.texts), len(blanks), rows.shape[1]), np.nan)
    for place, row in zip(places, rows, strict=True):
        vectors[place] = row
    return FillVectors(name, version, vectors, blanks, sections)
