"""Ideas with novelty, surprise and value, and the score that half of the prompts are fitted on: NSV, as planned."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from reports.dataset.idea_scores import list_preferences, read_scores
from reports.dataset.ideas import PARAPHRASE_OF, IdeaPanel, Ideas, mean_ratings, read_ideas
from reports.lazy import kneser_ney, neighbours, np, nsv, nsv_procedure
from stats.reasons import Incomputable
from studies.typography.word_boundaries import split_words

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from stats.arrays import BoolArray, FloatArray, IntArray
    from stats.nsv_procedure import FittedScore, IdeaMaterial
    from studies.documents.analysis_plan import AnalysisPlan

SALT = 150  # of the seed
K, ALPHA = 10, 0.5
N_FOLDS = 5  # of prompts, for the trigram models
WEAK_DIMENSIONS = 8


@dataclass(frozen=True)
class ScoredIdeas:
    """Ideas that have all three components, and people's ideas of reference that have them too.

    ideas : all of the study; used : of those with components their places among them, shape (U,)
    by_people : places of people's ideas among the references, shape (P,)
    n_without_neighbours, n_without_surprise, n_without_value : ideas that are left out for want of them
    """

    plan: AnalysisPlan
    panel: IdeaPanel
    ideas: Ideas
    used: IntArray
    by_people: IntArray
    material: IdeaMaterial
    fitted: FittedScore
    development: IntArray
    n_without_neighbours: int
    n_without_surprise: int
    n_without_value: int

    @property
    def is_held_out(self) -> BoolArray:
        """Which ideas are rated and on prompts of hold-out, shape (U,)."""
        return np.asarray(self.material.is_rated & ~self.fitted.is_development, dtype=np.bool_)

    @property
    def learnt_from(self) -> BoolArray:
        return np.asarray(self.material.is_rated & self.fitted.is_development, dtype=np.bool_)

    @cached_property
    def factors(self) -> dict[str, list[str]]:
        values_by_name = {name: self.ideas.factor(name) for name in ("recipe", "round", PARAPHRASE_OF)}
        return {name: [values[n] for n in self.used] for name, values in values_by_name.items()}

    @property
    def sources(self) -> list[str]:
        """Who wrote each idea, "" where nobody says."""
        of_ideas = [self.ideas.sources[n] for n in self.used]
        return [source.name if source else "" for source in of_ideas]

    @property
    def is_coherent(self) -> BoolArray:
        return np.asarray(self.ideas.is_coherent[self.used])

    @property
    def has_coherence(self) -> BoolArray:
        return np.asarray(self.ideas.has_coherence[self.used])

    @property
    def codes(self) -> list[str]:
        return [self.ideas.codes[n] for n in self.used]

    def novelty(
        self, *, k: int = K, alpha: float = ALPHA, vectors: tuple[FloatArray, FloatArray] | None = None
    ) -> FloatArray:
        """Novelty of each idea otherwise, shape (U,). Raises TooFewNeighbours."""
        reference = self.ideas.reference
        queries, references = vectors or (self.ideas.vectors, reference.vectors)
        return np.asarray(
            nsv.novelty(
                queries[self.used],
                self.material.prompts,
                references,
                reference.prompts,
                k=k,
                alpha=alpha,
                own=self.ideas.own[self.used],
            )
        )

    def weak_vectors(self) -> tuple[FloatArray, FloatArray]:
        """Unit vectors of ideas and references in eight dimensions: the first of a singular value decomposition."""
        both = np.concatenate([self.ideas.vectors, self.ideas.reference.vectors])
        axes = np.linalg.svd(both, full_matrices=False)[2][:WEAK_DIMENSIONS]
        rows = both @ axes.T
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = np.where(lengths > 0, rows / np.where(lengths > 0, lengths, 1), 1 / np.sqrt(rows.shape[1]))
        n = len(self.ideas.vectors)
        return rows[:n], rows[n:]

    def surprise(self, of: str) -> FloatArray:
        """Surprise of each idea by "trigrams" or "words" of the references, shape (U,); nan where it has none."""
        return _surprise_by_references(self.ideas, of)[0][self.used]


def score_ideas(dataset: Dataset, plan: AnalysisPlan, panel: IdeaPanel) -> ScoredIdeas:
    """The ideas with a score as planned. Raises Incomputable with the way out; then nothing of it is shown."""
    ideas = read_ideas(dataset, plan, panel)
    has_neighbours = _has_neighbours(ideas)
    if not has_neighbours.any():
        raise Incomputable("too_few_references", k=K, name=plan.nsv_references)
    surprise, people_surprise = _surprise(dataset, plan, ideas)
    value = _value(dataset, plan, ideas)
    has_surprise = has_neighbours & np.isfinite(surprise)
    if not has_surprise.any():
        raise Incomputable("no_surprise", name=plan.nsv_surprise or "trigram model")
    is_used = has_surprise if value is None else has_surprise & np.isfinite(value[0])
    used = np.flatnonzero(is_used)
    if not len(used):
        raise Incomputable("no_named_scores", name=plan.nsv_value)
    reference = ideas.reference
    is_original = np.array([not name for name in ideas.factor(PARAPHRASE_OF)], dtype=np.bool_)
    is_scored = np.isfinite(people_surprise) if value is None else np.isfinite(people_surprise + value[1])
    by_people = np.flatnonzero(reference.is_by_people & np.isin(reference.prompts, ideas.prompts[used]) & is_scored)
    novelty = nsv.novelty(
        np.concatenate([ideas.vectors[used], reference.vectors[by_people]]),
        np.concatenate([ideas.prompts[used], reference.prompts[by_people]]),
        reference.vectors,
        reference.prompts,
        k=K,
        alpha=ALPHA,
        own=np.concatenate([ideas.own[used], by_people]),
    )
    middles = {p: reference.vectors[reference.prompts == p].mean(axis=0) for p in np.unique(ideas.prompts[used])}
    material = nsv_procedure.IdeaMaterial(
        prompts=ideas.prompts[used],
        target=np.where(is_original, mean_ratings(ideas.ratings), np.nan)[used],
        measures=np.column_stack([novelty[: len(used)], surprise[used]]),
        centred=ideas.vectors[used] - np.array([middles[p] for p in ideas.prompts[used]]),
        people=np.column_stack([novelty[len(used) :], people_surprise[by_people]]),
        people_centred=np.array(
            [reference.vectors[n] - middles[reference.prompts[n]] for n in by_people], dtype=np.float64
        ).reshape(len(by_people), ideas.vectors.shape[1]),
        pairs=list_preferences(dataset, plan, ideas, used, is_original=is_original),
        value=None if value is None else value[0][used],
        people_value=None if value is None else value[1][by_people],
    )
    development = nsv_procedure.draw_development(material, rng=dataset.rng(SALT, 0))
    return ScoredIdeas(
        plan=plan,
        panel=panel,
        ideas=ideas,
        used=used,
        by_people=by_people,
        material=material,
        fitted=nsv_procedure.fit(material, development, rng=dataset.rng(SALT, 1)),
        development=development,
        n_without_neighbours=int((~has_neighbours).sum()),
        n_without_surprise=int((has_neighbours & ~has_surprise).sum()),
        n_without_value=int((has_surprise & ~is_used).sum()),
    )


def _has_neighbours(ideas: Ideas) -> BoolArray:
    """Whether the prompt of each idea has ten references beside any single one of them, shape (U,)."""
    counts = np.bincount(ideas.reference.prompts[ideas.reference.prompts >= 0], minlength=len(ideas.prompt_names))
    # One more, since an idea of reference is not its own neighbour.
    return np.asarray(counts[ideas.prompts] > K, dtype=np.bool_)


def _surprise(dataset: Dataset, plan: AnalysisPlan, ideas: Ideas) -> tuple[FloatArray, FloatArray]:
    """Surprise of each idea, shape (U,), and of each reference, shape (N,); nan where there is none."""
    if not plan.nsv_surprise:
        return _surprise_by_references(ideas, "trigrams")
    return read_scores(dataset, plan.nsv_surprise, ideas, reason="no_surprise")


def _value(dataset: Dataset, plan: AnalysisPlan, ideas: Ideas) -> tuple[FloatArray, FloatArray] | None:
    """Value of each idea and of each reference as it was brought in; None if it is to be learnt."""
    if not plan.nsv_value:
        return None
    return read_scores(dataset, plan.nsv_value, ideas, reason="no_named_scores")


def _surprise_by_references(ideas: Ideas, of: str) -> tuple[FloatArray, FloatArray]:
    """By models of the references of four fifths of the prompts, so that none knows the text that it scores."""
    reference = ideas.reference
    words = [split_words(text) for text in ideas.texts]
    reference_words = [split_words(text) for text in reference.texts]
    premises = [split_words(premise) for premise in ideas.premises]
    values, of_references = np.full(len(words), np.nan), np.full(len(reference_words), np.nan)
    for fold in range(N_FOLDS):
        try:
            model = kneser_ney.fit(
                [w for w, p in zip(reference_words, reference.prompts, strict=True) if p < 0 or p % N_FOLDS != fold]
            )
        except Incomputable:
            continue

        def score(text: list[str], prompt: int, model: kneser_ney.TrigramModel = model) -> float:
            try:
                if of == "words":
                    return model.surprise_of_single_words(text)
                return model.surprise(text, context=premises[prompt]).mean
            except Incomputable:
                return float("nan")

        for n in np.flatnonzero(ideas.prompts % N_FOLDS == fold):
            values[n] = score(words[n], int(ideas.prompts[n]))
        for n in np.flatnonzero(
            (reference.prompts >= 0) & (reference.prompts % N_FOLDS == fold) & reference.is_by_people
        ):
            of_references[n] = score(reference_words[n], int(reference.prompts[n]))
    return values, of_references


def novelty_search(scored: ScoredIdeas) -> FloatArray:
    """Mean distance of each idea to its ten nearest among the ideas themselves, shape (U,). Raises TooFewNeighbours.

    Source: Lehman & Stanley 2011, sparseness.
    """
    rows = scored.ideas.vectors[scored.used]
    return np.asarray(neighbours.find_nearest(rows, rows, k=K, own=np.arange(len(rows))).mean_distances(K))
