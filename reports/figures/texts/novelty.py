"""How far each story lies from the stories of a reference set, by an embedding: mean distance to the k nearest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from judges.laboratory.embeddings import CannotEmbed, explain
from reports.document import columns, notes
from reports.document.columns import LEAD
from reports.document.model import (
    Block,
    DocumentSection,
    Files,
    Head,
    ReportTable,
    RowGroup,
    Subsection,
    TableColumn,
    TextBlock,
)
from reports.document.values import Interval, Mean, Reason
from reports.figures.base import Figure, Listing, ends_of_mean, note_of, without_value
from reports.figures.texts.reference_sets import AboutSet, gone, set_columns, set_fields
from reports.lazy import neighbours, np, spreads
from reports.numbers import NONE, coefficient, coefficients, whole
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from judges.laboratory.reference_sets import Material
    from reports.dataset import Dataset
    from reports.dataset.records.references import References
    from stats.arrays import FloatArray
    from stats.neighbours import Neighbours

SALT = 91  # of the seed
# 10 and 25 are NSV's (section 3.2, equation 1); the nearest one says what is almost a copy.
NUMBERS_OF_NEIGHBOURS = (1, 10, 25)


@dataclass(frozen=True, kw_only=True)
class NoveltyMean(Mean):
    """The mean over stories of the mean distance to the k nearest; of one source, or of all ("")."""

    k: int
    source: str
    sd: float | None
    interval: Interval


@dataclass(frozen=True, kw_only=True)
class StoryNovelty:
    """A story with its mean cosine distance to the k nearest, by k in the order of `NUMBERS_OF_NEIGHBOURS`; None where
    there are fewer. nearest : code of the nearest reference"""

    story: str
    source: str
    nearest: str
    distances: tuple[float | None, ...]


@dataclass(frozen=True, kw_only=True)
class SetNovelty(AboutSet):
    """The stories of the study beside one reference set, by its embedding."""

    embedding: str
    version: str
    means: tuple[NoveltyMean, ...]
    stories: tuple[StoryNovelty, ...]


class Novelty(Figure[Listing[SetNovelty]]):
    key = "novelty"
    title = gettext_lazy("Novelty")
    position = 138
    section = "texts"
    tables = ("novelty", "novelty-by-story")
    is_shown_sealed = False
    needs_answers = False

    def compute(self, dataset: Dataset) -> Listing[SetNovelty]:
        sets = enumerate(dataset.records.references)
        return Listing(tuple(_of_set(dataset, references, salt=n) for n, references in sets))

    def describe(self, result: Listing[SetNovelty], head: Head) -> Iterator[DocumentSection]:
        incomparable = _(
            "Distances by different embeddings, or to different sets, are not comparable. Intervals are over groups "
            "and take the set as it is."
        )
        for row in result.rows:
            heading = _("Novelty beside “%(name)s”") % {"name": row.name}
            basis = _(
                "Mean cosine distance to the nearest of %(n)s stories of %(corpus)s, 0 for the same, by %(embedding)s "
                "(version %(version)s). No story is its own neighbour. The set was stored as %(short)s."
            )
            basis %= {
                **vars(row),
                "n": whole(row.n_references),
                "short": row.sha256[:12],
                "embedding": explain(row.embedding),
            }
            yield DocumentSection(
                heading=heading,
                body=[notes.reason(row.why)] if row.why else list(_blocks(row, heading)),
                margin=[TextBlock(words=basis), *gone(row), TextBlock(words=incomparable)],
            )


def _of_set(dataset: Dataset, references: References, *, salt: int) -> SetNovelty:
    material = references.material
    nearest: Neighbours | None = None
    reason: Reason | None = None
    try:
        nearest = _find_nearest(references)
    except Incomputable as error:
        reason = Reason.of(error)
    except CannotEmbed as error:
        reason = without_value("no_vectors", why=str(error))
    stories = _stories(dataset, material, nearest) if nearest else ()
    return SetNovelty(
        **set_fields(references),
        embedding=references.about.embedding,
        version=references.about.version,
        why=reason,
        means=tuple(_means(dataset, stories, n_others=_count_others(material), salt=salt)) if nearest else (),
        stories=stories,
    )


def _count_others(material: Material) -> int:
    """The references that every story has, itself not counted."""
    return len(material.texts) - any(story.number >= 0 for story in material.stories)


def _find_nearest(references: References) -> Neighbours:
    """As many neighbours as there are, at most the largest k. Raises CannotEmbed, in English; TooFewNeighbours."""
    most = min(max(NUMBERS_OF_NEIGHBOURS), _count_others(references.material))
    if not references.material.stories or most < 1:
        raise neighbours.TooFewNeighbours(1, max(most, 0))
    with translation.override("en"):
        of_stories, of_references, own = references.read_vectors()
    return neighbours.find_nearest(of_stories, of_references, k=most, own=own)


def _stories(dataset: Dataset, material: Material, nearest: Neighbours) -> tuple[StoryNovelty, ...]:
    n_found = nearest.distances.shape[1]
    columns = [nearest.mean_distances(k) if k <= n_found else None for k in NUMBERS_OF_NEIGHBOURS]
    return tuple(
        StoryNovelty(
            story=story.code,
            source=dataset.source_of(story.code),
            nearest=material.codes[int(nearest.indices[n, 0])],
            distances=tuple(None if column is None else float(column[n]) for column in columns),
        )
        for n, story in enumerate(material.stories)
    )


def _means(dataset: Dataset, stories: tuple[StoryNovelty, ...], *, n_others: int, salt: int) -> Iterator[NoveltyMean]:
    """By k over all stories, then source by source. Stories that stand in no group are in no mean."""
    group_by_story = {story: group for group, story in reversed(dataset.units)}
    grouped = [story for story in stories if story.story in group_by_story]
    clusters = dataset.clusters_of_units((group_by_story[story.story], story.story) for story in grouped)
    sources = np.array([story.source for story in grouped], dtype=object)
    for place, k in enumerate(NUMBERS_OF_NEIGHBOURS):
        values = np.array([story.distances[place] for story in grouped], dtype=np.float64)
        # Where there are too few for k, one row says so.
        names = [] if k > n_others else [name for name, _kind in dataset.sources]
        for n_source, source in enumerate(["", *names]):
            chosen = np.ones(len(grouped), dtype=bool) if not source else sources == source
            rng = dataset.rng(SALT, salt, place, n_source)
            reason = Reason.of(neighbours.TooFewNeighbours(k, n_others)) if k > n_others else None
            ends = ends_of_mean(values[chosen], clusters[chosen], rng=rng)
            yield NoveltyMean(
                k=k,
                source=source,
                why=reason,
                **_summary(values[chosen] if reason is None else values[:0]),
                interval=Interval(low=None, high=None, why=reason) if reason else ends,
            )


def _summary(values: FloatArray) -> dict[str, Any]:
    summary = spreads.summarise(values)
    return {"n": summary.n, "value": summary.mean, "sd": summary.sd}


def _blocks(row: SetNovelty, label: str) -> Iterator[Block]:
    """By k and source, and story by story."""
    counted = ngettext("%(n)s story", "%(n)s stories", len(row.stories)) % {"n": len(row.stories)}
    of_set = [*set_columns(row), columns.constants(embedding=row.embedding, version=row.version)]
    yield ReportTable(
        name="novelty",
        label=label,
        rows=row.means,
        groups=[
            RowGroup(heading=_nearest(k), rows=list(means)) for k, means in groupby(row.means, lambda mean: mean.k)
        ],
        columns=[
            *of_set,
            columns.in_file("k"),
            columns.words("source", _("Source"), shown=lambda mean: mean.source or _("All stories"), is_head=True),
            columns.estimate("mean", _("Mean distance"), lambda mean: mean, css=LEAD),
            columns.in_file("sd"),
            columns.interval(lambda mean: mean.interval, write=coefficients),
            columns.number("n", _("Stories")),
            columns.note(lambda mean: note_of(mean, mean.interval)),
        ],
        why=lambda mean: mean.why,
    )
    yield Files(words=counted, table="novelty", is_count=True)
    stories = ReportTable(
        name="novelty-by-story",
        label=_("Novelty, story by story"),
        rows=row.stories,
        columns=[
            *of_set,
            columns.words("story", _("Story"), is_head=True),
            columns.words("source", _("Source"), shown=lambda story: story.source or NONE),
            columns.words("nearest", _("Nearest")),
            *(_distance_column(place, k) for place, k in enumerate(NUMBERS_OF_NEIGHBOURS)),
        ],
    )
    files = Files(words=counted, table="novelty-by-story", is_count=True)
    yield Subsection(summary=_("Novelty by story"), blocks=[stories, files])


def _nearest(k: int) -> str:
    return ngettext("to the nearest story", "to the %(k)s nearest stories", k) % {"k": k}


def _distance_column(place: int, k: int) -> TableColumn[StoryNovelty]:
    return columns.number(f"distance_to_{k}", f"k = {k}", lambda story: story.distances[place], write=coefficient)
