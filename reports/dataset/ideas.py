"""The ideas of a study with what a panel says of them, their prompts, and the references of novelty and surprise."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotation.models import Response
from judges.laboratory import reference_sets
from judges.laboratory.embeddings import CannotEmbed
from judges.models import ReferenceSet
from reports.dataset.sources import StorySource, source_by_story
from reports.lazy import arrays, np, shared_sequences
from stats.reasons import Incomputable
from studies import lifecycle
from studies.documents.analysis_plan import AnalysisPlan
from studies.models import Source, Study
from studies.typography.prompts import fold_prompt
from studies.typography.word_boundaries import split_words

if TYPE_CHECKING:
    from judges.laboratory.reference_sets import Material
    from reports.dataset import Dataset
    from stats.arrays import BoolArray, FloatArray, IntArray

NEAR = 0.2  # as `reports.figures.near_copies`: a reference that shares more sequences of words with an idea is left out
LENGTH = 5
OF_PEOPLE = (Source.Kind.EXPERT, Source.Kind.AMATEUR)
PARAPHRASE_OF = "paraphrase of"  # the factor of a story that says of which other it is a paraphrase


@dataclass(frozen=True)
class IdeaReferences:
    """The references that are left. Axes: N references.

    prompts : number of each one's prompt, -1 for one that no idea is on, shape (N,)
    is_by_people : shape (N,)
    n_stored, n_gone, n_near_copies : in the set, no longer there, and near-copies of ideas or of one another
    """

    row: ReferenceSet
    corpus: str
    texts: tuple[str, ...]
    vectors: FloatArray
    prompts: IntArray
    is_by_people: BoolArray
    n_stored: int
    n_gone: int
    n_near_copies: int
    is_sealed: bool


@dataclass(frozen=True)
class IdeaPanel:
    """What people said. Axes: R raters, U ideas in their groups, all of the study.

    ratings : the mean over the chosen scales, shape (R, U), nan where a rater left one out
    """

    titles: tuple[str, ...]
    ratings: FloatArray
    clusters: IntArray


@dataclass(frozen=True)
class Ideas:
    """Ideas that can be scored. Axes: U ideas.

    prompts : number of each one's prompt, shape (U,); prompt_names : of each prompt the code of its first group
    own : of each idea its number among the references, -1 for none, shape (U,)
    ratings : of the panel, shape (R, U)
    is_coherent : as most people say, of others most judges, shape (U,); all where nothing is asked
    has_coherence : whether anybody says, shape (U,); others count as not coherent
    n_on_several_prompts : ideas left out because they stand on several prompts
    """

    codes: tuple[str, ...]
    texts: tuple[str, ...]
    prompts: IntArray
    prompt_names: tuple[str, ...]
    premises: tuple[str, ...]
    vectors: FloatArray
    own: IntArray
    sources: tuple[StorySource | None, ...]
    ratings: FloatArray
    is_coherent: BoolArray
    has_coherence: BoolArray
    n_on_several_prompts: int
    reference: IdeaReferences

    def factor(self, name: str) -> list[str]:
        """A factor of each idea, "" for none."""
        return [str(source.factors.get(name, "")) if source else "" for source in self.sources]


def read_panel(dataset: Dataset, plan: AnalysisPlan) -> IdeaPanel:
    """The panel's ratings. Raises Incomputable if nobody rated one of the chosen scales."""
    table_by_key = {table.outcome.key: table for table in dataset.outcomes}
    tables = [table_by_key[key] for key in plan.nsv_target if key in table_by_key]
    if len(tables) < len(plan.nsv_target):
        raise Incomputable("no_ratings")
    return IdeaPanel(
        titles=tuple(table.outcome.title for table in tables),
        ratings=np.mean([table.ratings for table in tables], axis=0),
        clusters=tables[0].clusters,
    )


def read_ideas(dataset: Dataset, plan: AnalysisPlan, panel: IdeaPanel) -> Ideas:
    """All ideas whose texts are here. Raises Incomputable without the reference set or vectors."""
    row = ReferenceSet.objects.filter(study=dataset.study, name=plan.nsv_references).select_related("corpus").first()
    if row is None:
        raise Incomputable("no_reference_set", name=plan.nsv_references)
    material = reference_sets.read_material(row)
    try:
        queries, references, own = reference_sets.embed(row, material)
    except CannotEmbed as error:
        raise Incomputable("no_vectors", why=str(error)) from None
    premise_by_group = _prompts_of(dataset.study)
    prompt_by_story, several = _prompt_by_story(dataset.units, premise_by_group)
    place_by_code = {story.code: n for n, story in enumerate(material.stories) if story.code in prompt_by_story}
    columns_by_code = _columns_by_code(dataset.units, place_by_code)
    codes = tuple(sorted(columns_by_code))
    places = np.array([place_by_code[code] for code in codes], dtype=np.int64)
    columns = [columns_by_code[code] for code in codes]
    labels = [prompt_by_story[code] for code in codes]
    names = {label: n for n, label in enumerate(dict.fromkeys(sorted(labels)))}
    group_by_label = {label: group for group, label in sorted(premise_by_group.items(), reverse=True)}
    reference, kept = _reference(row, material, references, own, names)
    number_by_place = {int(place): n for n, place in enumerate(kept)}
    coherent, has_coherence = _coherence(dataset, plan, [[dataset.units[n] for n in numbers] for numbers in columns])
    return Ideas(
        codes=codes,
        texts=tuple(material.stories[place].text for place in places),
        prompts=np.array([names[label] for label in labels], dtype=np.int64),
        prompt_names=tuple(group_by_label[label] for label in names),
        premises=tuple(names),
        vectors=queries[places],
        own=np.array([number_by_place.get(int(own[place]), -1) for place in places], dtype=np.int64),
        sources=tuple(dataset.source_by_story.get(code) for code in codes),
        ratings=_ratings_of(panel, columns),
        is_coherent=coherent,
        has_coherence=has_coherence,
        n_on_several_prompts=several,
        reference=reference,
    )


def _prompts_of(study: Study) -> dict[str, str]:
    """Of each group its prompt, folded, so that two writings of one prompt are one; of one without, the group's own."""
    groups = study.groups.values_list("code", "premise")
    return {code: fold_prompt(premise) or f"group {code} of {study.slug}" for code, premise in groups}


def _prompt_by_story(
    units: Sequence[tuple[str, str]], prompt_by_group: Mapping[str, str]
) -> tuple[dict[str, str], int]:
    """The prompt of each story that stands on one, and how many stand on several: those would be in both splits."""
    prompts: dict[str, set[str]] = {}
    for group, story in units:
        prompts.setdefault(story, set()).add(prompt_by_group[group])
    single = {story: next(iter(of_story)) for story, of_story in prompts.items() if len(of_story) == 1}
    return single, len(prompts) - len(single)


def _columns_by_code(units: Sequence[tuple[str, str]], codes: Collection[str]) -> dict[str, list[int]]:
    """Where each of these ideas stands among the units: once for each group that it is read in."""
    columns: dict[str, list[int]] = {}
    for n, (_group, code) in enumerate(units):
        if code in codes:
            columns.setdefault(code, []).append(n)
    return columns


def _ratings_of(panel: IdeaPanel, columns: Sequence[Sequence[int]]) -> FloatArray:
    """What each rater says of each idea, shape (R, U): the mean over the groups in which they read it."""
    ratings = [arrays.mean_present(panel.ratings[:, numbers], axis=1) for numbers in columns]
    return np.stack(ratings, axis=1) if ratings else np.empty((len(panel.ratings), 0))


def _reference(
    row: ReferenceSet, material: Material, vectors: FloatArray, own: IntArray, number_by_label: Mapping[str, int]
) -> tuple[IdeaReferences, IntArray]:
    """The references without near-copies, and where each stood in the set, shape (N,)."""
    corpus = row.corpus
    is_copy = shared_sequences.find_near_copies(
        [split_words(story.text) for story in material.stories],
        [split_words(text) for text in material.texts],
        own=own.tolist(),
        near=NEAR,
        length=LENGTH,
    )
    kept = np.flatnonzero(~np.array(is_copy, dtype=np.bool_))
    prompt_by_group = _prompts_of(corpus)
    label_by_code: dict[str, str] = {}
    for group, code in corpus.groups.order_by("code").values_list("code", "stories__code"):
        label_by_code.setdefault(code, prompt_by_group[group])
    is_sealed = lifecycle.is_sealed(corpus)
    sources = {} if is_sealed else source_by_story(corpus)
    codes = [material.codes[n] for n in kept]
    reference = IdeaReferences(
        row=row,
        corpus=corpus.slug,
        texts=tuple(material.texts[n] for n in kept),
        vectors=vectors[kept],
        prompts=np.array([number_by_label.get(label_by_code.get(code, ""), -1) for code in codes], dtype=np.int64),
        is_by_people=np.array([code in sources and sources[code].kind in OF_PEOPLE for code in codes], dtype=np.bool_),
        n_stored=len(row.stories),
        n_gone=material.n_gone,
        n_near_copies=int(sum(is_copy)),
        is_sealed=is_sealed,
    )
    return reference, kept


def _coherence(
    dataset: Dataset, plan: AnalysisPlan, units: Sequence[Sequence[tuple[str, str]]]
) -> tuple[BoolArray, BoolArray]:
    """Whether each idea is coherent, over all groups that it is read in, and whether anybody says.

    units : of each idea
    """
    if not plan.nsv_coherence:
        return np.ones(len(units), dtype=np.bool_), np.ones(len(units), dtype=np.bool_)
    table = next((table for table in dataset.outcomes if table.outcome.key == plan.nsv_coherence), None)
    by_people = dict(zip(table.units, table.values / 100, strict=True)) if table else {}
    step, _slash, item = plan.nsv_coherence.partition("/")
    rows = dataset.judges
    rows = rows[(rows["step"] == step) & (rows["item"] == item) & (rows["outcome"] == Response.Outcome.ANSWERED)]
    by_judges = rows.groupby(["group", "story"])["analysed"].mean().to_dict()
    shares, of_judges = (
        np.array(
            [arrays.mean_present([shares_by_unit.get(unit, np.nan) for unit in row], axis=0) for row in units],
            dtype=np.float64,
        )
        for shares_by_unit in (by_people, by_judges)
    )
    shares = np.where(np.isfinite(shares), shares, of_judges)
    return np.asarray(shares > 0.5, dtype=np.bool_), np.asarray(np.isfinite(shares), dtype=np.bool_)


def mean_ratings(ratings: FloatArray) -> FloatArray:
    """The mean over raters of each idea, shape (R, U) to (U,); nan where nobody rated.

    To nine decimals: ideas that were rated alike are level, however their sums were rounded.
    """
    return np.asarray(np.round(arrays.mean_present(ratings, axis=0), 9), dtype=np.float64)
