"""A closed study of scales in which it is known whom each exclusion rule leaves out."""

from typing import Any

import numpy as np

from annotation.models import Assignment, Recognition, Timing
from annotation.responses import Answer
from annotation.responses.imports import Row
from studies import protocol
from studies.documents.analysis_plan import AnalysisPlan
from studies.models import Source, Step, Story, Study
from tests import factories, triggers
from tests.factories import NOON
from tests.reports import given

N_GROUPS, N_SCALES = 6, 3
CONSTANT, FAST, KNOWING, NAMED = "E05", "E06", "E01", "E04"
KNOWN = "p2s1"
PLAN = AnalysisPlan(
    outcome="tests/scales/1-7",
    reference="Source 1",
    test="model",
    secondary=("tests/item-1", "tests/item-2"),
    exclude_faster_than=500,
    exclude_straight_lining="all_stories",
    exclude_recognised=True,
    exclude_raters=(NAMED,),
)


def ratings(*, seed: int = 5) -> np.ndarray:
    """Of six raters, each of eighteen stories and three scales; the fifth says 7 throughout."""
    rng = np.random.default_rng(seed)
    of_source = np.array([1.2, 0.0, 0.3] * N_GROUPS)
    of_story = of_source + rng.normal(0, 0.6, 3 * N_GROUPS)
    of_rater = rng.normal(0, 0.5, (6, 1, 1))
    values = 4 + of_story[np.newaxis, :, np.newaxis] + of_rater + rng.normal(0, 0.8, (6, 3 * N_GROUPS, N_SCALES))
    rounded = np.clip(np.round(values), 1, 7).astype(int)
    rounded[4] = 7
    return rounded


def study(plan: AnalysisPlan | None = PLAN, slug: str = "plums", *, scores: Any = ()) -> Study:
    """Six groups of three stories, one by each source, on three scales; six raters read them all. scores : declared"""
    made = factories.study(
        slug, n_groups=N_GROUPS, n_stories=3, k=6, state="draft", comparative=False, planned=False, recognition=True
    )
    scales = factories.instrument(
        f"{slug}-scales",
        n_items=N_SCALES,
        type="scale",
        settings={"low": 1, "high": 7},
        rationale="none",
        rationale_least=0,
        scores=scores,
    )
    Step.objects.filter(version__study=made, key="tests").update(instrument=scales)
    Story.objects.filter(study=made).update(n_words=1000)
    if plan:
        protocol.save_plan(made, plan)
    factories.freeze(made)
    with triggers.lifted():
        Source.objects.exclude(name="Source 1").update(kind=Source.Kind.MODEL)
    Study.objects.filter(pk=made.pk).update(state="closed", closed_at=NOON)
    made.refresh_from_db()
    _answer(made)
    _time(made)
    by_knowing = Assignment.objects.get(study=made, rater__code=KNOWING, group__code="plot2")
    Recognition.objects.create(assignment=by_knowing, story=Story.objects.get(study=made, code=KNOWN))
    return made


def _answer(made: Study) -> None:
    places = list(made.stories.order_by("code").values_list("code", "groups__code"))
    rows = [
        Row("test", f"E{rater + 1:02}", group, story, "tests", f"item-{item + 1}", Answer(value=int(value)))
        for rater, of_rater in enumerate(ratings())
        for (story, group), of_story in zip(places, of_rater, strict=True)
        for item, value in enumerate(of_story)
    ]
    given.bring(made, rows)


def _time(made: Study) -> None:
    """Five minutes a story of a thousand words; of the fast rater one."""
    step = Step.objects.get(version__study=made, key="tests")
    for assignment in Assignment.objects.filter(study=made).select_related("rater"):
        seconds = 60 if assignment.rater.code == FAST else 300
        Timing.objects.bulk_create(
            Timing(assignment=assignment, step=step, story=story, active_seconds=seconds)
            for story in made.stories.filter(groups=assignment.group)
        )
