"""Small real rows. Each function makes one thing, with only what matters said by the test."""

from datetime import UTC, datetime
from typing import Any

from django.contrib.auth.models import Group, User

from annotation import design, responses
from annotation.models import Assignment, Rater, Response, Seat
from annotation.participation import claims
from annotation.responses import Answer
from studies import hashing, protocol
from studies.models import (
    Instrument,
    Item,
    ProtocolVersion,
    Provenance,
    Source,
    Step,
    Story,
    StoryGroup,
    Study,
    measure,
)
from studies.protocol import Purpose
from tests import triggers
from tests.replay import replayed

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
AUTHORS = [
    {"value": "expert", "label": "An experienced writer"},
    {"value": "amateur", "label": "An amateur writer"},
    {"value": "ai", "label": "Written by AI"},
]


def instrument(slug: str = "tests", *, n_items: int = 2, scores: Any = (), **item: Any) -> Instrument:
    """A published instrument of n items, binary with a required rationale unless said."""
    made = Instrument.objects.create(
        slug=slug,
        version="1",
        title=slug.title(),
        status=Instrument.Status.DRAFT,
        fingerprint="0" * 64,
        scores=list(scores),
    )
    given = {"type": "binary", "rationale": "required", "rationale_least": 1} | item
    Item.objects.bulk_create(
        Item(
            instrument=made,
            position=n,
            key=f"item-{n}",
            title=f"Item {n}",
            dimension="Fluency",
            question=f"Is it good in way {n}?",
            **given,
        )
        for n in range(1, n_items + 1)
    )
    Instrument.objects.filter(pk=made.pk).update(status=Instrument.Status.PUBLISHED)
    made.refresh_from_db()
    return made


def ranking() -> Instrument:
    return instrument("ranking", n_items=1, type="ranking", rationale="none", rationale_least=0)


def guess() -> Instrument:
    return instrument("guess", n_items=1, type="choice", options=AUTHORS, rationale="none", rationale_least=0)


@replayed
def study(
    slug: str = "plums",
    *,
    n_groups: int = 1,
    n_stories: int = 4,
    k: int = 3,
    n_items: int = 2,
    state: str = Study.State.LIVE,
    comparative: bool = True,
    planned: bool = True,
    recognition: bool = False,
) -> Study:
    """A study with consent, a rating step on each story, and (if comparative) a ranking and a guess at the end."""
    made = Study.objects.create(
        slug=slug,
        title="Fourteen tests of a story",
        state=state,
        seats_per_group=k,
        seed=7,
        asks_recognition=recognition,
        organiser="Us",
        contact="us@example.org",
    )
    for g in range(1, n_groups + 1):
        group = StoryGroup.objects.create(study=made, code=f"plot{g}", premise=f"Premise {g}")
        group.stories.add(*stories(made, {f"p{g}s{n}": f"Source {n}" for n in range(1, n_stories + 1)}))
    version = ProtocolVersion.objects.create(study=made, number=1)
    steps: list[dict[str, Any]] = [
        {"key": "consent", "kind": "consent", "title": "Consent", "text": "You can stop at any time."},
        {
            "key": "tests",
            "kind": "rating",
            "title": "The tests",
            "instrument": instrument(f"{slug}-tests", n_items=n_items),
            "scope": "story",
        },
    ]
    if comparative:
        first = instrument(f"{slug}-ranking", n_items=1, type="ranking", rationale="none", rationale_least=0)
        last = instrument(
            f"{slug}-guess", n_items=1, type="choice", options=AUTHORS, rationale="none", rationale_least=0
        )
        steps += [
            {"key": "ranking", "kind": "rating", "title": "Put them in order", "instrument": first, "scope": "group"},
            {"key": "guess", "kind": "rating", "title": "Who wrote each one?", "instrument": last, "scope": "stories"},
        ]
    Step.objects.bulk_create(Step(version=version, position=n, **each) for n, each in enumerate(steps, start=1))
    if planned:
        plan(made, freezes=state != Study.State.DRAFT)
    return made


def plan(study: Study, *, freezes: bool = True) -> list[Seat]:
    """The seats of the study and, unless it is to be edited further, its frozen protocol; whatever its state."""
    state = Study.objects.get(pk=study.pk).state
    Study.objects.filter(pk=study.pk).update(state=Study.State.DRAFT)
    seats = design.plan(study)
    Study.objects.filter(pk=study.pk).update(state=state)
    if freezes:
        freeze(study)
    return seats


def judge_seat(study: Study, group: StoryGroup, order: list[str], *, kind: str = Rater.Kind.MODEL) -> Seat:
    return design.add_judge_seats(study, [(group, order)], kind=kind)[0]


def freeze(study: Study, *, purpose: Purpose = Purpose.RUN) -> ProtocolVersion:
    return protocol.ensure_frozen(study, purpose=purpose, reason="planned", by="tests", at=NOON)


def freeze_anew(study: Study) -> Study:
    """The study as if it had been frozen with what its rows say now."""
    with triggers.lifted():
        for version in study.versions.exclude(frozen_at=None).select_related("study"):
            version.document = protocol.write_document(protocol.read_rows(version))
            version.sha256 = hashing.sha256(version.document)
            version.save()
    return study


def practising_study() -> Study:
    """A study of two stories a group that begins with a story to practise the second of two items on."""
    made = study(n_stories=2, comparative=False, planned=False)
    asked = Step.objects.get(version__study=made, key="tests")
    Step.objects.filter(pk=asked.pk).update(position=3)
    Step.objects.create(
        version=asked.version,
        position=2,
        key="practice",
        kind="practice",
        title="Practise",
        instrument=asked.instrument,
        scope="once",
        story="The ferry stopped.\n\nSomebody *still* sold tickets.",
        samples={"item-2": {"value": "no", "why": "A sample reason that stands nowhere else."}},
    )
    plan(made)
    return made


def story(study: Study, code: str, *, text: str = "", source: str = "Somebody", kind: str = "expert_writer") -> Story:
    return stories(study, {code: source}, text=text, kind=kind)[0]


def stories(study: Study, sources: dict[str, str], *, text: str = "", kind: str = "expert_writer") -> list[Story]:
    """A story for each code, by the source of that name, in the order of the codes."""
    named = Source.objects.in_bulk(set(sources.values()), field_name="name")
    new = [Source(name=name, kind=kind) for name in dict.fromkeys(sources.values()) if name not in named]
    named |= {source.name: source for source in Source.objects.bulk_create(new)}
    made = Story.objects.bulk_create(
        measure(Story(study=study, code=code, text=text or f"The {code} began.\n\nIt went on.\n\nIt ended."))
        for code in sources
    )
    Provenance.objects.bulk_create(
        Provenance(story=story, source=named[sources[story.code]], title=f"Title of {story.code}") for story in made
    )
    return made


def rater(study: Study, code: str = "", *, kind: str = Rater.Kind.PERSON, **more: Any) -> Rater:
    return Rater.objects.create(study=study, code=code or f"E{study.raters.count() + 1:02}", kind=kind, **more)


def staff(role: str) -> User:
    """An account of the staff with that role; with none if the word is empty."""
    made = User.objects.create_user(role or "helper", is_staff=True)
    made.groups.set(Group.objects.filter(name=role))
    return made


def assignment(study: Study, by: Rater | None = None) -> Assignment:
    """A rater at work in the next free seat."""
    return claims.claim(by or rater(study))


def answer(
    to: Assignment,
    *,
    step: str = "tests",
    item: int = 1,
    letter: str = "A",
    value: Any = "yes",
    why: str = "It is so.",
    base: int | None = None,
) -> Response:
    """One answer recorded, about the story of that letter if the step is about stories."""
    asked = protocol.load_protocol(to.version).step(step)
    assert asked is not None
    about = None
    if asked.scope in (Step.Scope.STORY, Step.Scope.STORIES):
        about = Story.objects.get(study=to.study, code=responses.letters(to.seat.order)[letter])
    return responses.record(
        to,
        step=asked,
        item=protocol.items_of(asked)[item - 1],
        story=about,
        answer=Answer(value=value, rationale=why),
        at=NOON,
        base=base,
    )


def answer_all(to: Assignment, *, value: Any = "yes") -> None:
    """Every item of every step answered, so that the assignment can be submitted."""
    for step in protocol.load_protocol(to.version).ratings:
        for item in protocol.items_of(step):
            given = {"binary": value, "choice": "ai", "scale": 3, "text": "Words."}.get(
                item.type, [[x] for x in responses.letters(to.seat.order)]
            )
            why = "It is so." if item.rationale == "required" else ""
            for letter in responses.letters(to.seat.order) if step.scope in ("story", "stories") else [""]:
                answer(to, step=step.key, item=item.position, letter=letter, value=given, why=why)
