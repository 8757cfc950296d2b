"""A study in batches: stories of four sources, so many at a time, and the same raters read them all."""

import random

from annotation.models import Rater
from annotation.responses import Answer
from annotation.responses.imports import Row
from studies.models import ProtocolVersion, Source, Step, StoryGroup, Study
from tests import factories, triggers
from tests.factories import NOON
from tests.reports import given

SOURCES = ("A person", "Model one", "Model two", "Model three")
RATERS = ("E01", "E02", "E03", "E04", "E05")
JUDGE = "steady"
N_BATCHES, N_STORIES = 5, 12


def plant(*, premise: str = "", seed: int = 3, with_judge: bool = False) -> Study:
    """Five batches of twelve stories of four sources, the stories dealt out at random; all raters read all of them."""
    study = Study.objects.create(
        slug="plums",
        title="Batches",
        state="closed",
        seats_per_group=len(RATERS),
        seed=7,
        organiser="Us",
        contact="us@example.org",
    )
    rng = random.Random(seed)
    codes = [f"s{n:02}" for n in range(N_BATCHES * N_STORIES)]
    source_by_code = {code: SOURCES[n % len(SOURCES)] for n, code in enumerate(codes)}
    dealt = rng.sample(codes, k=len(codes))
    for b in range(N_BATCHES):
        batch = StoryGroup.objects.create(study=study, code=f"batch{b + 1}", premise=premise)
        batch.stories.set(
            factories.story(study, code, source=source_by_code[code], text="A word. " * rng.randint(20, 90))
            for code in dealt[b * N_STORIES : (b + 1) * N_STORIES]
        )
    _ask(study)
    worth = {code: rng.choice((2, 3, 4)) + (source_by_code[code] == SOURCES[0]) for code in codes}
    rows = []
    for rater in (*RATERS, JUDGE) if with_judge else RATERS:
        kind = Rater.Kind.MODEL if rater == JUDGE else Rater.Kind.PERSON
        for code, group in study.stories.order_by("code").values_list("code", "groups__code"):
            for item in ("item-1", "item-2"):
                value = min(5, max(1, worth[code] + rng.choice((-1, 0, 0, 1))))
                rows.append(Row("test", rater, group, code, "scales", item, Answer(value=value), kind))
                verdict = "yes" if (worth[code] > 3) ^ (rng.random() < 0.2) else "no"
                rows.append(Row("test", rater, group, code, "tests", item, Answer(value=verdict), kind))
            guess = rng.choice(("expert", "ai"))
            rows.append(Row("test", rater, group, code, "author", "item-1", Answer(value=guess), kind))
    given.bring(study, rows)
    return study


def _ask(study: Study) -> None:
    version = ProtocolVersion.objects.create(study=study, number=1)
    scale = {"type": "scale", "settings": {"low": 1, "high": 5, "anchors": {"1": "Low", "5": "High"}}}
    plain = {"rationale": "none", "rationale_least": 0}
    instruments = [
        ("scales", factories.instrument("b-scales", n_items=2, **scale, **plain), "story"),
        ("tests", factories.instrument("b-tests", n_items=2, rationale="optional", rationale_least=0), "story"),
        (
            "author",
            factories.instrument("b-author", n_items=1, type="choice", options=factories.AUTHORS, **plain),
            "stories",
        ),
    ]
    for position, (key, instrument, scope) in enumerate(instruments, start=1):
        Step.objects.create(
            version=version, position=position, key=key, kind="rating", title=key, instrument=instrument, scope=scope
        )
    factories.plan(study)
    study.seats.all().delete()
    study.closed_at = NOON
    study.save()
    with triggers.lifted():
        Source.objects.exclude(name=SOURCES[0]).update(kind=Source.Kind.MODEL)
