"""A study whose judge is an oracle with faults: it knows what people say, and errs, refuses and leans as planted."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from annotation import responses
from annotation.models import Assignment, Rater
from annotation.responses import Answer
from annotation.responses.imports import Row
from studies import protocol
from studies.models import Instrument, ProtocolVersion, Source, Step, StoryGroup, Study
from tests import factories, triggers
from tests.factories import NOON
from tests.reports import given

N_GROUPS = 12
EXPERTS = ("E01", "E02", "E03")
KINDS = ("yes", "scale", "option", "pair", "order")
VERDICTS, SCALES = ("item-1", "item-2"), ("item-1", "item-2")
OPTIONS = ("expert", "amateur", "ai")
STEP_OF = {"yes": "tests", "scale": "scales", "option": "author", "pair": "better", "order": "ranking"}


@dataclass
class Planted:
    """What everybody said, by (rater, item, story) or (rater, group); a judge's lack of an answer is "declined" or
    "unreadable"; what never came is not there."""

    study: Study
    yes: dict[tuple[str, str, str], Any] = field(default_factory=dict)
    scale: dict[tuple[str, str, str], Any] = field(default_factory=dict)
    option: dict[tuple[str, str, str], Any] = field(default_factory=dict)
    pair: dict[tuple[str, str], Any] = field(default_factory=dict)
    order: dict[tuple[str, str], Any] = field(default_factory=dict)

    @property
    def stories(self) -> list[str]:
        return [f"p{g:02}s{n}" for g in range(1, N_GROUPS + 1) for n in (1, 2)]

    def is_by_model(self, story: str) -> bool:
        return story.endswith("2") or int(story[1:3]) % 2 == 0


def empty_study() -> Study:
    """Twelve closed pairs: the second story of each is by a model, the first by a person in every other pair only."""
    study = Study.objects.create(
        slug="plums",
        title="Planted",
        state="closed",
        seats_per_group=3,
        seed=7,
        organiser="Us",
        contact="us@example.org",
    )
    for g in range(1, N_GROUPS + 1):
        group = StoryGroup.objects.create(study=study, code=f"plot{g:02}", premise=f"Premise {g}")
        first = ("A person", "expert_writer") if g % 2 else ("Model one", "language_model")
        group.stories.set(
            [
                factories.story(study, f"p{g:02}s1", source=first[0], kind=first[1], text="A word. " * (20 + 7 * g)),
                factories.story(
                    study, f"p{g:02}s2", source="Model two", kind="language_model", text="A word. " * (120 - 5 * g)
                ),
            ]
        )
    version = ProtocolVersion.objects.create(study=study, number=1)
    scale = {"type": "scale", "settings": {"low": 1, "high": 5, "anchors": {"1": "Low", "5": "High"}}}
    plain = {"rationale": "none", "rationale_least": 0}
    instruments: list[tuple[str, Instrument, str]] = [
        ("tests", factories.instrument("p-tests", n_items=2, rationale="optional", rationale_least=0), "story"),
        ("scales", factories.instrument("p-scales", n_items=2, **scale, **plain), "story"),
        (
            "author",
            factories.instrument("p-author", n_items=1, type="choice", options=factories.AUTHORS, **plain),
            "stories",
        ),
        ("better", factories.instrument("p-pair", n_items=1, type="pair", **plain), "group"),
        ("ranking", factories.instrument("p-ranking", n_items=1, type="ranking", **plain), "group"),
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
        Source.objects.exclude(name="A person").update(kind=Source.Kind.MODEL)
    return study


def plant(*, seed: int = 5) -> Planted:
    """People of one mind with errors; `oracle` follows them with its own, refuses and leaves out; `turned` judges pairs
    in both orders and is drawn to the first place."""
    rng = np.random.default_rng(seed)
    planted = Planted(empty_study())
    for story in planted.stories:
        worth = int(rng.integers(1, 6))
        for rater in EXPERTS:
            for item in VERDICTS:
                planted.yes[rater, item, story] = "yes" if (worth >= 3) ^ (rng.random() < 0.2) else "no"
            for item in SCALES:
                planted.scale[rater, item, story] = int(np.clip(worth + rng.integers(-1, 2), 1, 5))
            planted.option[rater, "item-1", story] = OPTIONS[int(rng.integers(0, 3))] if rng.random() < 0.4 else "ai"
        for item in VERDICTS:
            planted.yes["oracle", item, story] = _or_nothing(
                rng, "yes" if (worth >= 3) ^ (rng.random() < 0.25) else "no"
            )
            planted.scale["oracle", item, story] = _or_nothing(rng, int(np.clip(worth + rng.integers(0, 3), 1, 5)))
        planted.option["oracle", "item-1", story] = _or_nothing(rng, OPTIONS[int(rng.integers(0, 3))])
    for g in range(1, N_GROUPS + 1):
        group, two = f"plot{g:02}", (f"p{g:02}s1", f"p{g:02}s2")
        better = int(rng.integers(0, 2))
        for rater in EXPERTS:
            planted.pair[rater, group] = two[better ^ int(rng.random() < 0.25)]
            planted.order[rater, group] = two if rng.random() < 0.5 else two[::-1]
        planted.order["oracle", group] = two if rng.random() < 0.6 else two[::-1]
    given.bring(planted.study, list(_rows(planted)))
    _turn(planted, rng)
    return planted


def _or_nothing(rng: np.random.Generator, value: Any) -> Any:
    return rng.choice(["declined", "unreadable", "missing"]) if rng.random() < 0.12 else value


def _rows(planted: Planted) -> list[Row]:
    rows = []
    for kind in ("yes", "scale", "option"):
        for (rater, item, story), value in getattr(planted, kind).items():
            if value == "missing":
                continue
            lost = value in ("declined", "unreadable")
            answer = Answer(outcome=str(value)) if lost else Answer(value=value)
            who = Rater.Kind.PERSON if rater in EXPERTS else Rater.Kind.MODEL
            rows.append(Row("test", rater, f"plot{story[1:3]}", story, STEP_OF[kind], item, answer, who))
    for kind in ("pair", "order"):
        for (rater, group), value in getattr(planted, kind).items():
            text = value if kind == "pair" else " > ".join(value)
            who = Rater.Kind.PERSON if rater in EXPERTS else Rater.Kind.MODEL
            rows.append(Row("test", rater, group, "", STEP_OF[kind], "item-1", Answer(value=text), who))
    return rows


def _turn(planted: Planted, rng: np.random.Generator) -> None:
    """Two readings of most pairs by `turned`, one in either order: mostly what most people prefer, a third of the time
    whatever stands first."""
    judge = factories.rater(planted.study, "turned", kind=Rater.Kind.MODEL)
    for g in range(1, N_GROUPS + 1):
        group, two = f"plot{g:02}", (f"p{g:02}s1", f"p{g:02}s2")
        votes = [planted.pair[rater, group] for rater in EXPERTS]
        better = max(two, key=votes.count)
        for order in (two, two[::-1]):
            if order != two and g % 6 == 0:
                continue  # these were judged in one order only
            choice = order[0] if rng.random() < 0.34 else better
            planted.pair["turned", group + ("" if order == two else " turned")] = choice
            read_pair(planted.study, judge, group, order, choice)


def read_pair(study: Study, judge: Rater, group: str, order: tuple[str, ...], choice: str) -> None:
    """A reading of a pair by a judge, in this order."""
    version = protocol.current(study)
    step = protocol.load_protocol(version).step("better")
    assert step is not None
    seat = factories.judge_seat(study, study.groups.get(code=group), list(order))
    work = Assignment.objects.create(
        study=study, rater=judge, rater_kind=judge.kind, seat=seat, group=seat.group, version=version
    )
    letter = "AB"[order.index(choice)]
    (item,) = protocol.items_of(step)
    responses.record(work, step=step, item=item, story=None, answer=Answer(value=letter), at=NOON)
