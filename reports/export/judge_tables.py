"""Tables of a package about judges and measures: their models and prompts, vectors of fills, nearest references.

Rows that reveal a source are only in packages with sources, and vectors of words only where the words may be, too.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator

from annotation.models import Assignment
from judges.laboratory import reference_sets
from judges.laboratory.embeddings import CannotEmbed
from judges.models import ReferenceSet, Run, ScoreCard
from reports.dataset import Dataset, grades
from reports.export.content import PackageContent, PackageTable, Row, TableField
from reports.export.redistribution import find_redistributable_codes
from stats.reasons import Incomputable
from studies import protocol
from studies.models import Cloze, Study

MOST_NEIGHBOURS = 25

JUDGE_FIELDS = {
    "rater": TableField("Code of the judge or metric."),
    "is_run": TableField("Whether it was run in this study; a row for each run.", "boolean"),
    "endpoint": TableField("Name of the endpoint that it asked; empty of a metric."),
    "model": TableField("The model, as the endpoint calls it."),
    "parameters": TableField("Sent along, as JSON."),
    "prompt": TableField("Name and version of the prompt."),
    "personas": TableField("Name and version of the set of personas as whom it read; empty for none."),
    "better": TableField("Of scores from elsewhere: higher or lower."),
    "about": TableField("Of scores from elsewhere: stories or pairs."),
}


def judge_rows(content: PackageContent) -> Iterator[Row]:
    """Judges and metrics by name and run, then scores from elsewhere."""
    runs = Run.objects.judging().filter(study=content.study).exclude(judge__slug__in=content.left_out_readers)
    for run in runs.select_related("judge__endpoint", "judge__prompt", "persona_set").order_by("judge__slug", "pk"):
        yield {
            "rater": run.judge.slug,
            "is_run": True,
            "endpoint": run.judge.endpoint.name if run.judge.endpoint else "",
            "model": run.judge.model,
            "parameters": json.dumps(run.judge.parameters, sort_keys=True),
            "prompt": str(run.judge.prompt) if run.judge.prompt else "",
            "personas": str(run.persona_set) if run.persona_set else "",
        }
    cards = ScoreCard.objects.filter(study=content.study).exclude(rater__code__in=content.left_out_readers)
    for card in cards.select_related("rater").order_by("rater__code"):
        yield {"rater": card.rater.code, "is_run": False, "better": card.better, "about": card.about}


GRADE_FIELDS = {
    "rater": TableField("Code of the judge."),
    "group": TableField("Code of the group of stories."),
    "seat": TableField("Number of the place within its group and kind of rater.", "integer"),
    "story": TableField("Code of the story; empty if the item is about the group."),
    "step": TableField("Key of the step of the protocol."),
    "item": TableField("Key of the item."),
    "answer": TableField("An answer that the item allows."),
    "analysed": TableField("The answer as a number in the direction in which it is analysed.", "number"),
    "probability": TableField("Its probability among all that the item allows.", "number"),
    "outside": TableField("The share of probability that fell on none of them, or was not listed.", "number"),
}


def grade_rows(content: PackageContent) -> Iterator[Row]:
    """Every answer to what judges were asked about stories as they are with its probability, where their server said
    so, reading by reading."""
    item_by_key = {item.key: item for item in content.all_items}
    counted = content.assignments.filter(status__in=(Assignment.Status.SUBMITTED, Assignment.Status.OPEN))
    counted = counted.filter(reading__intervention="")
    seat_by_assignment = dict(counted.order_by().values_list("pk", "seat__number"))
    for answer in grades.list_grades(content.study, grades.find_asking(content.study)):
        item = item_by_key.get((answer.step, answer.item))
        if answer.assignment not in seat_by_assignment or item is None:
            continue
        for name, probability in answer.by_value.items():
            yield {
                "rater": answer.judge,
                "group": answer.group,
                "seat": seat_by_assignment[answer.assignment],
                "story": answer.story,
                "step": answer.step,
                "item": answer.item,
                "answer": name,
                "analysed": answer.number_of(name, item),
                "probability": probability,
                "outside": answer.outside,
            }


FILL_FIELDS = {
    "story": TableField("Code of the filled text."),
    "section": TableField("Number of the section.", "integer"),
    "blank": TableField("Number of the blank.", "integer"),
    "vector": TableField("The fill as a vector, as JSON, by the embedding that the report names.", "array"),
}


def judges_fills(study: Study) -> bool:
    """Whether the study judges filled texts of a cloze. One query."""
    return Cloze.objects.filter(judging__step__version__study=study).exists()


def fill_rows(content: PackageContent) -> Iterator[Row]:
    """Vectors of what filled each blank, where the study judges filled texts; only of texts that stand in the package:
    a vector can tell much of the words that it was made from."""
    scored = Dataset.of(content.study).scored_cloze if content.with_sources else None
    if scored is None or scored.judged is None or scored.fills is None:
        return
    codes = {text.story for text in scored.texts}
    if content.is_public:
        codes &= find_redistributable_codes(content.study, with_sources=True)
    sections = [blank.section for blank in scored.judged.document.blanks]
    for text, vectors in zip(scored.texts, scored.fills.vectors, strict=True):
        for blank, section, vector in zip(scored.fills.blanks, sections, vectors.tolist(), strict=True):
            if text.story in codes and not math.isnan(vector[0]):
                yield {"story": text.story, "section": section, "blank": blank, "vector": vector}


NEIGHBOUR_FIELDS = {
    "reference_set": TableField("Name of the reference set."),
    "story": TableField("Code of the story."),
    "place": TableField("1 for the nearest of the set's stories, 2 for the next, 25 at most.", "integer"),
    "reference": TableField("Code of that story of the set."),
    "distance": TableField("Cosine distance of the two by the embedding of the set.", "number"),
}


def has_reference_set(study: Study) -> bool:
    """Whether stories are held against a set of others. One query."""
    return ReferenceSet.objects.filter(study=study).exists()


def neighbour_rows(content: PackageContent) -> Iterator[Row]:
    """The nearest stories of each reference set; nothing of a set whose vectors cannot be had any more."""
    from stats import neighbours  # which loads numpy: not before something is computed

    sets = ReferenceSet.objects.filter(study=content.study).select_related("corpus", "study")
    for reference_set in sets if content.with_sources else ():
        material = reference_sets.read_material(reference_set)
        n_others = len(material.texts) - any(story.number >= 0 for story in material.stories)
        try:
            queries, references, own = reference_sets.embed(reference_set, material)
            nearest = neighbours.find_nearest(queries, references, k=min(MOST_NEIGHBOURS, n_others), own=own)
        except (CannotEmbed, Incomputable):
            continue
        for n, story in enumerate(material.stories):
            for place, (number, distance) in enumerate(
                zip(nearest.indices[n], nearest.distances[n].tolist(), strict=True), start=1
            ):
                yield {
                    "reference_set": reference_set.name,
                    "story": story.code,
                    "place": place,
                    "reference": material.codes[int(number)],
                    "distance": distance,
                }


IDEA_FIELDS = {
    "idea": TableField("Code of the idea; empty of one of the reference set, which a person wrote."),
    "prompt": TableField("Number of its prompt.", "integer"),
    "novelty": TableField("How far it lies from references on its prompt and from all of them.", "number"),
    "surprise": TableField("How improbable its words are, given the prompt.", "number"),
    "value": TableField("How far it is preferred beside the references on its prompt, as learnt.", "number"),
    "coherent": TableField("Whether most people, or else judges, call it coherent: yes, no, or empty for nobody."),
}


def plans_nsv(study: Study) -> bool:
    """Whether novelty, surprise and value of ideas are to be computed. One query."""
    plan = protocol.frozen_plan(study)
    return plan is not None and bool(plan.nsv_target)


def idea_rows(content: PackageContent) -> Iterator[Row]:
    """The three components of NSV of the study's ideas that have them all, then of people's ideas of reference."""
    scored = Dataset.of(content.study).scored_ideas if content.with_sources else None
    if scored is None or isinstance(scored, Incomputable):
        return
    names = ("novelty", "surprise", "value")
    for n, code in enumerate(scored.codes):
        coherent = ("yes" if scored.is_coherent[n] else "no") if scored.has_coherence[n] else ""
        of_idea = dict(zip(names, scored.fitted.components[n].tolist(), strict=True))
        yield {"idea": code, "prompt": int(scored.material.prompts[n]), "coherent": coherent} | of_idea
    reference = scored.ideas.reference
    # Which ideas of another study people wrote is not told before that one is closed.
    for n, place in enumerate(() if reference.is_sealed else scored.by_people):
        of_reference = dict(zip(names, scored.fitted.people[n].tolist(), strict=True))
        prompt = int(reference.prompts[place])
        yield {"idea": "", "prompt": prompt} | of_reference


def _table(
    name: str,
    meaning: str,
    fields: dict[str, TableField],
    rows: Callable[[PackageContent], Iterator[Row]],
    needs_sources: Callable[[Study], bool] | None = None,
) -> PackageTable:
    def count(content: PackageContent) -> int:
        return sum(1 for _row in rows(content))

    return PackageTable(
        name, meaning, lambda _content: fields, rows, count, is_needed=True, needs_sources=needs_sources
    )


TABLES = (
    _table(
        "judge_runs.csv",
        "With which model and prompt each judge was run; which way scores are better.",
        JUDGE_FIELDS,
        judge_rows,
    ),
    _table(
        "judge_probabilities.csv",
        "How probable each answer of a judge was, where its server said so.",
        GRADE_FIELDS,
        grade_rows,
    ),
    _table(
        "fill_vectors.csv",
        "Fills of a cloze as vectors, of texts that stand in the package.",
        FILL_FIELDS,
        fill_rows,
        judges_fills,
    ),
    _table(
        "neighbours.csv",
        "How near the stories of a reference set are to each story.",
        NEIGHBOUR_FIELDS,
        neighbour_rows,
        has_reference_set,
    ),
    _table("idea_scores.csv", "Novelty, surprise and value of ideas.", IDEA_FIELDS, idea_rows, plans_nsv),
)
