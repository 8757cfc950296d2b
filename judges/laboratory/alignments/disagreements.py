"""Where a judge and experts disagree: answer by answer, with the experts' reasons, as a proposing model is shown it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from annotation.models import Rater, Response
from judges.models import Call, Judge, Run
from judges.planning import readings
from judges.requests import expert_answers
from studies import items as item_types
from studies.models import Item, Story, Study

SALT = 157  # of the seed
# Of a scale's width: from this distance to the experts' mean on, an answer counts as a disagreement.
LEAST_DISTANCE = 0.25
MOST_CASES = 12  # in one proposal
# Words of a story that a proposing model is shown: of a longer one its beginning and its end.
MOST_WORDS, N_FIRST, N_LAST = 400, 250, 150
MOST_REASON_WORDS = 120


@dataclass(frozen=True)
class ExpertAnswer:
    """What an expert answered, without who it was. number : 1 and 0 for Yes and No, else the share of the scale"""

    response: int
    number: float
    label: str
    reason: str


@dataclass(frozen=True)
class Case:
    """One answer of a judge beside those of experts to the same question about the same story.

    own : as numbers of `ExpertAnswer`; label : in words
    distance : from the experts' majority or mean, from 0 to 1; None where verdicts are tied
    """

    call: int
    item: Item
    story: Story
    own: float
    label: str
    experts: tuple[ExpertAnswer, ...]
    distance: float | None

    @property
    def is_disagreement(self) -> bool:
        return self.distance is not None and self.distance >= LEAST_DISTANCE


def load_cases(study: Study, judge: Judge, groups: Collection[str]) -> list[Case]:
    """Every verdict and answer on a scale that the judge and experts gave about the stories of these groups. Five
    queries."""
    experts_by_key = _load_experts(study, groups)
    counted = readings.primary_assignments(study)
    rows = Response.objects.filter(
        assignment__study=study,
        assignment__rater__code=judge.slug,
        assignment__rater_kind=Rater.Kind.MODEL,
        assignment__group__code__in=groups,
        outcome=Response.Outcome.ANSWERED,
        story__isnull=False,
        story__is_withheld=False,
    )
    call_by_key = _load_calls(study, judge)
    cases: dict[tuple[int, int], Case] = {}
    for row in rows.select_related("item", "story").order_by("pk"):
        key = (row.story_id or 0, row.item_id)
        experts = experts_by_key.get(key, ())
        if row.assignment_id not in counted or key in cases or not experts or row.story is None:
            continue
        own = find_number(row.item, row.value)
        if own is None:
            continue
        # A prompt that asks all items at once has one call for them, of no item.
        place = (row.assignment_id, row.step_id, row.story_id)
        call = call_by_key.get((*place, row.item_id)) or call_by_key.get((*place, None), 0)
        label, distance = _label(row.item, row.value), _measure_distance(row.item, own, experts)
        cases[key] = Case(call, row.item, row.story, own, label, experts, distance)
    return list(cases.values())


def find_number(item: Item, value: object) -> float | None:
    """A verdict as 1 or 0, an answer on a scale as its share of the scale's width; None for any other question."""
    kind = item_types.find_type(item.type)
    if kind.is_verdict:
        return {"yes": 1.0, "no": 0.0}.get(str(value))
    if item.type != "scale" or not isinstance(value, int):
        return None
    low, high = item.settings["low"], item.settings["high"]
    return float((value - low) / (high - low))


def draw(cases: Sequence[Case], *, seed: Sequence[int]) -> list[Case]:
    """At most `MOST_CASES` of the disagreements: questions and directions take turns. The same for the same seed."""
    import numpy as np  # here, so that web processes come without it

    disagreements = [case for case in cases if case.is_disagreement]
    order = np.random.default_rng([*map(abs, seed), SALT]).permutation(len(disagreements))
    by_kind: dict[tuple[int, bool], list[Case]] = defaultdict(list)
    for n in order:
        case = disagreements[n]
        by_kind[case.item.pk, case.own > _mean(case.experts)].append(case)
    drawn: list[Case] = []
    while len(drawn) < MOST_CASES and any(by_kind.values()):
        for of_kind in by_kind.values():
            if of_kind and len(drawn) < MOST_CASES:
                drawn.append(of_kind.pop(0))
    return drawn


def describe_case(case: Case, *, with_reasons: bool) -> str:
    """The case as a model reads it: the question, the story or parts of it, and all answers without names."""
    lines = [f"Question: {case.item.question}", f"Story:\n{shorten_story(case.story.text)}"]
    lines.append(f"The model answered: {case.label}")
    lines.append("Experts answered: " + ", ".join(expert.label for expert in case.experts))
    reasons = [expert for expert in case.experts if with_reasons and expert.reason]
    lines += [f"An expert’s reason for {expert.label}: {_cut(expert.reason, MOST_REASON_WORDS)}" for expert in reasons]
    return "\n\n".join(lines)


def summarise(cases: Sequence[Case]) -> str:
    """For each question how the judge and most experts answered, in a line each."""
    by_item: dict[int, list[Case]] = defaultdict(list)
    for case in cases:
        if case.distance is not None:
            by_item[case.item.pk].append(case)
    return "\n".join(f"- {_summarise_item(of_item)}" for of_item in by_item.values())


def shorten_story(text: str) -> str:
    """The text, of a long one its first and last words."""
    words = text.split()
    if len(words) <= MOST_WORDS:
        return text
    return f"{' '.join(words[:N_FIRST])}\n\n[…]\n\n{' '.join(words[-N_LAST:])}"


def _summarise_item(cases: Sequence[Case]) -> str:
    """Of one question; in English, since a model reads it."""
    item, n = cases[0].item, len(cases)
    name = item.title or item.question
    if item_types.find_type(item.type).is_verdict:
        n_own = sum(case.own == 1 for case in cases)
        n_experts = sum(_mean(case.experts) > 0.5 for case in cases)
        return f"{name}: of {n} stories the model says Yes to {n_own}, most experts to {n_experts}."
    low, high = item.settings["low"], item.settings["high"]
    own, experts = (low + (high - low) * sum(values) / n for values in _sides(cases))
    return f"{name}: over {n} stories the model’s mean is {own:.1f}, the experts’ {experts:.1f}, from {low} to {high}."


def _sides(cases: Sequence[Case]) -> Iterator[list[float]]:
    yield [case.own for case in cases]
    yield [_mean(case.experts) for case in cases]


def _load_experts(study: Study, groups: Collection[str]) -> dict[tuple[int, int], tuple[ExpertAnswer, ...]]:
    """By story and item what people answered, in an order that does not tell who it was."""
    rows = expert_answers.find_answers(study).filter(assignment__group__code__in=groups, story__isnull=False)
    answers: dict[tuple[int, int], list[ExpertAnswer]] = defaultdict(list)
    for row in rows.select_related("item").order_by("pk"):
        if (number := find_number(row.item, row.value)) is not None:
            answer = ExpertAnswer(row.pk, number, _label(row.item, row.value), row.rationale.strip())
            answers[row.story_id or 0, row.item_id].append(answer)
    return {
        key: tuple(sorted(group, key=lambda answer: (answer.number, answer.reason))) for key, group in answers.items()
    }


def _load_calls(study: Study, judge: Judge) -> dict[tuple[int | None, ...], int]:
    runs = Run.objects.filter(study=study, judge=judge)
    calls = Call.objects.filter(run__in=runs, kind=Call.Kind.ANSWER).order_by("pk")
    return {tuple(key): pk for pk, *key in calls.values_list("pk", "assignment", "step", "story", "item")}


def _measure_distance(item: Item, own: float, experts: Sequence[ExpertAnswer]) -> float | None:
    mean = _mean(experts)
    if not item_types.find_type(item.type).is_verdict:
        return abs(own - mean)
    return None if mean == 0.5 else abs(own - (mean > 0.5))


def _mean(experts: Sequence[ExpertAnswer]) -> float:
    return sum(expert.number for expert in experts) / len(experts)


def _label(item: Item, value: object) -> str:
    """In English, as files and models get it."""
    if item_types.find_type(item.type).is_verdict:
        return {"yes": "Yes", "no": "No"}.get(str(value), str(value))
    return str(value)


def _cut(text: str, n_words: int) -> str:
    words = text.split()
    return " ".join(words) if len(words) <= n_words else " ".join(words[:n_words]) + " …"
