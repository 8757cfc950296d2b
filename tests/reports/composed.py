"""A study whose rubric declares scores, and one whose rubric does not; with answers that are missing."""

import random
from dataclasses import dataclass, field
from typing import Any

from annotation.models import Rater
from annotation.responses import Answer
from annotation.responses.imports import Row
from studies import protocol
from studies.documents.analysis_plan import AnalysisPlan
from studies.models import ProtocolVersion, Source, Step, StoryGroup, Study
from tests import factories, triggers
from tests.factories import NOON
from tests.reports import given

ITEMS = ("item-1", "item-2", "item-3", "item-4")
RATERS = ("E01", "E02", "E03")
JUDGE = "steady"
N_GROUPS = 12
# The third item counts the other way and the second twice; the fourth is in no score. Of item-1 and item-2 another one.
SCORES: tuple[dict[str, Any], ...] = (
    {
        "key": "total",
        "title": "Craft in all",
        "how": "sum",
        "items": ["item-1", "item-2", "item-3"],
        "weights": {"item-2": 2},
        "reversed": ["item-3"],
    },
    {"key": "first-two", "title": "The first two", "how": "mean", "items": ["item-1", "item-2"]},
)
SCALE = {"type": "scale", "settings": {"low": 1, "high": 5, "anchors": {"1": "Low", "5": "High"}}}


@dataclass
class Composed:
    """said : what each gave, by rater, story and item; what is missing is not there"""

    study: Study
    said: dict[tuple[str, str, str], int] = field(default_factory=dict)

    def total(self, rater: str, story: str) -> float | None:
        """The first score by hand; None where an item is missing."""
        values = [self.said.get((rater, story, item)) for item in ITEMS[:3]]
        if None in values:
            return None
        first, second, third = values
        return first + 2 * second + (1 + 5 - third)  # type: ignore[operator]


def plant(
    *,
    scores: tuple[dict[str, Any], ...] = SCORES,
    plan: str = "",
    missing: float = 0.05,
    with_judge: bool = False,
) -> Composed:
    """Twelve groups of two stories, the first by a person and a point better.

    missing : the share of answers that nobody gave, about
    """
    study = Study.objects.create(
        slug="plums",
        title="Composed",
        state="closed",
        seats_per_group=len(RATERS),
        seed=7,
        organiser="Us",
        contact="us@example.org",
    )
    for g in range(1, N_GROUPS + 1):
        group = StoryGroup.objects.create(study=study, code=f"plot{g:02}", premise=f"Premise {g}")
        group.stories.set(
            factories.story(study, f"p{g:02}s{n}", source=source, text="A word. " * (20 + g))
            for n, source in ((1, "A person"), (2, "A model"))
        )
    version = ProtocolVersion.objects.create(study=study, number=1)
    plain = {"rationale": "none", "rationale_least": 0}
    rubric = factories.instrument("c-rubric", n_items=len(ITEMS), scores=scores, **SCALE, **plain)
    Step.objects.create(
        version=version, position=1, key="rubric", kind="rating", title="The rubric", instrument=rubric, scope="story"
    )
    if plan:
        protocol.save_plan(study, AnalysisPlan(outcome=plan, reference="A person"))
    factories.plan(study)
    study.seats.all().delete()
    study.closed_at = NOON
    study.save()
    with triggers.lifted():
        Source.objects.exclude(name="A person").update(kind=Source.Kind.MODEL)
    composed = Composed(study)
    given.bring(study, list(_rows(composed, random.Random(3), missing=missing, with_judge=with_judge)))
    return composed


def _rows(composed: Composed, rng: random.Random, *, missing: float, with_judge: bool) -> list[Row]:
    rows = []
    places = list(composed.study.stories.order_by("code").values_list("code", "groups__code"))
    worth = {story: rng.choice((2, 3)) + story.endswith("1") for story, _group in places}
    for rater in (*RATERS, JUDGE) if with_judge else RATERS:
        kind = Rater.Kind.MODEL if rater == JUDGE else Rater.Kind.PERSON
        for story, group in places:
            for item in ITEMS:
                value = min(5, max(1, worth[story] + rng.choice((-1, 0, 0, 1))))
                value = 6 - value if item == "item-3" else value
                if rng.random() >= missing:
                    composed.said[rater, story, item] = value
                    rows.append(Row("test", rater, group, story, "rubric", item, Answer(value=value), kind))
    return rows
