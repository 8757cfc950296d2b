"""The filled texts of a cloze with what judges and experts said of each constraint, each check and each edge."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotation.models import Fill, Rater, Response
from annotation.responses.fills import text_by_blank
from reports.dataset import cubes
from reports.dataset.judged import answers_to, judged, select_anchored
from reports.lazy import np
from studies.cloze import compilation
from studies.cloze.alignment import Unalignable, align
from studies.documents.cloze import ClozeDocument
from studies.models import Cloze, Source, Story

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from reports.dataset.cubes import Pair
    from stats.arrays import BoolArray, FloatArray

HIGHEST = 5.0  # of a constraint's scale
COARSE = ("0", "0.5", "1")  # options of the paper's control
CONSTRAINT_KEY = re.compile(r"s[0-9]+-c[0-9]+")
PUBLISHED_KEY = re.compile(r"s([0-9]+)-(satisfies|surprises)")


@dataclass(frozen=True)
class FilledText:
    """One text that fills a cloze.

    participant : who filled it, by the name of the source; several texts of one are repeated fills
    fills : by number of the blank; nothing where they are not known
    """

    story: str
    participant: str
    is_by_model: bool
    is_shortlisted: bool
    fills: Mapping[int, str]


@dataclass(frozen=True)
class JudgedConstraint:
    """A constraint and the section that it is of, from 0."""

    item: StepItem
    section: int
    is_must: bool


@dataclass(frozen=True)
class JudgedCloze:
    """What was judged of the texts. Axes: J judges, R experts, N texts, K constraints, E edges; nan where nothing is.

    judges : models; people where no model judged
    anchored : models beside these that were shown samples which people scored; they enter no total
    ratings : as they were given, 0 to 5, shape (J, N, K); broken musts are 0 or 1, as judges are told
    is_broken : whether the judge denied a check without which the constraint is not met, shape (J, N, K)
    expert_ratings : of people beside models, shape (R, N, K)
    edge_ratings : shape (J, N, E)
    coarse_judges : that answered the same constraints in three steps, C of them, among the judges or not
    coarse : what they answered, 0 to 1, shape (C, N, K)
    """

    document: ClozeDocument
    texts: tuple[FilledText, ...]
    judges: tuple[str, ...]
    anchored: tuple[str, ...]
    is_judged_by_models: bool
    constraints: tuple[JudgedConstraint, ...]
    ratings: FloatArray
    is_broken: BoolArray
    experts: tuple[str, ...]
    expert_ratings: FloatArray
    edges: tuple[StepItem, ...]
    edge_ratings: FloatArray
    coarse_judges: tuple[str, ...]
    coarse: FloatArray


@dataclass(frozen=True)
class PublishedSections:
    """Scores of sections that somebody published, in place of judges and fills; shapes (N, G).

    metric : as whose answers they were brought in; keys : step and item of each
    """

    metric: str
    keys: frozenset[Pair]
    titles: tuple[str, ...]
    texts: tuple[FilledText, ...]
    satisfied: FloatArray
    surprising: FloatArray


def read_judged_cloze(dataset: Dataset) -> JudgedCloze | None:
    """The cloze whose filled texts the study has judged; None if it judges none, or nobody has rated. Five queries,
    none where no item is that of a constraint."""
    instruments = {item.item.instrument_id for item in dataset.items if CONSTRAINT_KEY.fullmatch(item.item.key)}
    cloze = Cloze.objects.filter(judging__in=instruments).order_by("pk").first() if instruments else None
    if cloze is None or not dataset.units:
        return None
    document = cloze.parsed
    items = {item.item.key: item for item in dataset.items if item.item.instrument_id == cloze.judging_id}
    constraints = tuple(_constraints(document, items))
    if not constraints:
        return None
    answers = _answers(dataset, [constraint.item for constraint in constraints])
    if answers is None:
        return None
    coarse_judges, coarse = _coarse(dataset, constraints)
    edges = tuple(items[key] for e in document.edges if (key := compilation.edge_key(e.from_, e.to)) in items)
    return JudgedCloze(
        document=document,
        texts=tuple(_texts(dataset, document, cloze)),
        judges=answers.judges,
        anchored=answers.anchored,
        is_judged_by_models=answers.is_by_models,
        constraints=constraints,
        ratings=answers.ratings,
        is_broken=_broken_checks(dataset, document, items, constraints, answers.judges),
        experts=answers.experts,
        expert_ratings=answers.expert_ratings,
        edges=edges,
        edge_ratings=ratings_of(dataset, edges, answers.judges),
        coarse_judges=coarse_judges,
        coarse=coarse,
    )


def read_published_sections(dataset: Dataset) -> PublishedSections | None:
    """Scores of sections that a metric brought in, of items such as s1-satisfies; None if there are none."""
    matches = [(item, PUBLISHED_KEY.fullmatch(item.item.key)) for item in dataset.items]
    places = {(int(m[1]), m[2]): item for item, m in matches if m and item.item.type == "number"}
    numbers = sorted({number for number, _part in places})
    if not numbers or len(places) != 2 * len(numbers):
        return None
    rows = answers_to(dataset.judges[dataset.judges["rater_kind"] == Rater.Kind.METRIC], list(places.values()))
    keys = [places[number, part].key for part in ("satisfies", "surprises") for number in numbers]
    names = sorted(rows["rater"].unique())
    if not names:
        return None
    values = cubes.build_cube(rows, keys, raters=names[:1], units=dataset.units).values[:, 0].T
    return PublishedSections(
        metric=names[0],
        keys=frozenset(keys),
        titles=tuple(places[number, "satisfies"].item.dimension for number in numbers),
        texts=tuple(_text(dataset, story, {}) for _group, story in dataset.units),
        satisfied=values[:, : len(numbers)],
        surprising=values[:, len(numbers) :],
    )


@dataclass(frozen=True)
class _Answers:
    judges: tuple[str, ...]
    is_by_models: bool
    ratings: FloatArray
    experts: tuple[str, ...]
    expert_ratings: FloatArray
    anchored: tuple[str, ...] = ()


def _answers(dataset: Dataset, items: Sequence[StepItem]) -> _Answers | None:
    """Ratings of judges, and of people where models judge; None without any."""
    material = judged(dataset, items)
    if material is not None:
        people = material.people.transpose(1, 2, 0)
        has_rated = [bool(np.isfinite(ratings).any()) for ratings in people]
        experts = tuple(name for name, is_in in zip(material.raters, has_rated, strict=True) if is_in)
        anchored = select_anchored(dataset, material.names)
        is_panel = np.array([name not in anchored for name in material.names], dtype=np.bool_)
        return _Answers(
            judges=tuple(name for name in material.names if name not in anchored),
            is_by_models=True,
            ratings=material.judges[is_panel].transpose(0, 2, 1),
            experts=experts,
            expert_ratings=people[has_rated],
            anchored=anchored,
        )
    cube = dataset.cube(list(items))
    ratings = cube.values.transpose(1, 2, 0)
    has_rated = [bool(np.isfinite(of_one).any()) for of_one in ratings]
    names = tuple(name for name, is_in in zip(cube.raters, has_rated, strict=True) if is_in)
    return _Answers(names, False, ratings[has_rated], (), np.zeros((0, *ratings.shape[1:]))) if names else None


def ratings_of(dataset: Dataset, items: Sequence[StepItem], judges: Sequence[str]) -> FloatArray:
    """What these judges, models or people, answered to the items, shape (J, N, items); nan where nothing is."""
    ratings = np.full((len(judges), len(dataset.units), len(items)), np.nan)
    if not items:
        return ratings
    material = judged(dataset, items)
    cube = dataset.cube(list(items))
    rows: dict[str, FloatArray] = {name: cube.values[:, n].T for n, name in enumerate(cube.raters)}
    if material is not None:
        rows |= {name: material.judges[n].T for n, name in enumerate(material.names)}
    for n, name in enumerate(judges):
        if name in rows:
            ratings[n] = rows[name]
    return ratings


def _constraints(document: ClozeDocument, items: Mapping[str, StepItem]) -> list[JudgedConstraint]:
    return [
        JudgedConstraint(items[key], place, constraint.must)
        for place, section in enumerate(document.sections)
        for number, constraint in enumerate(section.constraints, start=1)
        if (key := compilation.constraint_key(section.number, number)) in items
    ]


def _broken_checks(
    dataset: Dataset,
    document: ClozeDocument,
    items: Mapping[str, StepItem],
    constraints: Sequence[JudgedConstraint],
    judges: Sequence[str],
) -> BoolArray:
    """Whether each judge said No to a required check of each constraint, shape (J, N, K)."""
    is_broken = np.zeros((len(judges), len(dataset.units), len(constraints)), dtype=np.bool_)
    required = [
        (column, items[key])
        for column, constraint in enumerate(constraints)
        for key in required_keys(document, constraint.item.item.key)
        if key in items
    ]
    answers = ratings_of(dataset, [item for _column, item in required], judges)
    for place, (column, _item) in enumerate(required):
        is_broken[:, :, column] |= answers[:, :, place] == 0
    return is_broken


def required_keys(document: ClozeDocument, key: str) -> list[str]:
    """The keys of the checks without which the constraint of that key is not met."""
    return [
        compilation.check_key(section.number, number, place)
        for section in document.sections
        for number, constraint in enumerate(section.constraints, start=1)
        if compilation.constraint_key(section.number, number) == key
        for place, check in enumerate(constraint.checks, start=1)
        if check.required
    ]


def _coarse(dataset: Dataset, constraints: Sequence[JudgedConstraint]) -> tuple[tuple[str, ...], FloatArray]:
    """Who answered the same constraints in three steps, and what, where another step asks them as such a choice."""
    by_key = {
        item.item.key: item
        for item in dataset.items
        if item.is_choice and tuple(str(option["value"]) for option in item.item.options) == COARSE
    }
    columns = [(k, by_key[c.item.item.key]) for k, c in enumerate(constraints) if c.item.item.key in by_key]
    material = judged(dataset, [item for _k, item in columns])
    names = material.names if material else ()
    coarse = np.full((len(names), len(dataset.units), len(constraints)), np.nan)
    if material:
        coarse[:, :, [k for k, _item in columns]] = material.judges.transpose(0, 2, 1) / (len(COARSE) - 1)
    return names, coarse


def _texts(dataset: Dataset, document: ClozeDocument, cloze: Cloze) -> list[FilledText]:
    """Every text of the study with its fills: of those that were filled here as they were recorded, of others taken out
    of the text by its fixed words."""
    fills_by_story = dict(Fill.objects.filter(story__study=dataset.study).values_list("story__code", "assignment"))
    answers = defaultdict[int, list[Response]](list)
    rows = Response.objects.filter(assignment__in=fills_by_story.values(), item__instrument=cloze.filling_id)
    for answer in rows.select_related("item"):
        answers[answer.assignment_id].append(answer)
    others = {story for _group, story in dataset.units} - set(fills_by_story)
    texts = dict(Story.objects.filter(study=dataset.study, code__in=others).values_list("code", "text"))
    fills = {story: text_by_blank(document, answers[pk]) for story, pk in fills_by_story.items()}
    fills |= {story: _aligned(document, text) for story, text in texts.items()}
    return [_text(dataset, story, fills.get(story, {})) for _group, story in dataset.units]


def _aligned(document: ClozeDocument, text: str) -> dict[int, str]:
    try:
        return align(document, text)
    except Unalignable:
        return {}


def _text(dataset: Dataset, story: str, fills: Mapping[int, str]) -> FilledText:
    source = dataset.source_by_story.get(story)
    return FilledText(
        story=story,
        participant=source.name if source else story,
        is_by_model=source is not None and source.kind == Source.Kind.MODEL,
        is_shortlisted=dataset.story_factor(story, "outcome") == Fill.State.SHORTLISTED,
        fills=fills,
    )
