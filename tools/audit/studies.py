"""A drawn study in the database, closed, as its raters would have left it."""

from collections import defaultdict

import numpy as np

from annotation.models import Assignment, Rater, Response, Seat
from stats.arrays import FloatArray
from studies import hashing, protocol
from studies.models import ProtocolVersion, Provenance, Source, Step, Story, StoryGroup, Study
from tests import factories, triggers
from tests.factories import NOON
from tools.audit.designs import HIGH, LOW, Drawn

SCALE = {"type": "scale", "settings": {"low": LOW, "high": HIGH, "anchors": {str(LOW): "Low", str(HIGH): "High"}}}
BY_RATER = 20  # how much more of a guess is the rater than what the rater makes of the source
PLAIN = {"rationale": "none", "rationale_least": 0}


def make(drawn: Drawn, *, has_guesses: bool, rng: np.random.Generator) -> Study:
    """The study with all answers; guesses at who wrote a story, if there are any, are tossed: each rater leans to
    an answer of their own, and more or less so by source."""
    study = Study.objects.create(
        slug="audited",
        title="Audited",
        state="closed",
        seats_per_group=3,
        seed=7,
        organiser="Us",
        contact="us@example.org",
    )
    _stories(study, drawn)
    _ask(study, drawn, has_guesses=has_guesses)
    assignments = _assignments(study, drawn)
    _answers(study, drawn, assignments, has_guesses=has_guesses, rng=rng)
    return study


def _stories(study: Study, drawn: Drawn) -> None:
    names = sorted({source for _group, _premise, source in drawn.stories.values()})
    kinds = ["expert_writer", *[Source.Kind.MODEL] * (len(names) - 1)]
    sources = Source.objects.bulk_create(Source(name=name, kind=kind) for name, kind in zip(names, kinds, strict=True))
    source_by_name = {source.name: source for source in sources}
    premise_by_group = {group: premise for group, premise, _source in drawn.stories.values()}
    groups = StoryGroup.objects.bulk_create(
        StoryGroup(study=study, code=code, premise=premise) for code, premise in sorted(premise_by_group.items())
    )
    group_by_code = {group.code: group for group in groups}
    words = {code: f"It began with {code}. It ended so." for code in drawn.stories}
    stories = Story.objects.bulk_create(
        Story(study=study, code=code, text=text, n_words=len(text.split()), sha256=hashing.sha256(text))
        for code, text in words.items()
    )
    Provenance.objects.bulk_create(
        Provenance(story=story, source=source_by_name[drawn.stories[story.code][2]]) for story in stories
    )
    through = StoryGroup.stories.through
    through.objects.bulk_create(
        through(storygroup=group_by_code[drawn.stories[story.code][0]], story=story) for story in stories
    )


def _ask(study: Study, drawn: Drawn, *, has_guesses: bool) -> None:
    version = ProtocolVersion.objects.create(study=study, number=1)
    design = drawn.design
    steps = []
    if design.n_outcomes:
        steps.append(("scale", "story", {"n_items": design.n_outcomes, **SCALE, **PLAIN}))
    if design.n_tests:
        steps.append(("test", "story", {"n_items": design.n_tests, **PLAIN}))
    if has_guesses:
        steps.append(("guess", "stories", {"n_items": 1, "type": "choice", "options": factories.AUTHORS, **PLAIN}))
    for position, (key, scope, items) in enumerate(steps, start=1):
        instrument = factories.instrument(f"audited-{key}", **items)
        Step.objects.create(
            version=version, position=position, key=key, kind="rating", title=key, instrument=instrument, scope=scope
        )
    factories.plan(study)
    study.seats.all().delete()
    with triggers.lifted():
        Study.objects.filter(pk=study.pk).update(closed_at=NOON)
    study.refresh_from_db()


def _assignments(study: Study, drawn: Drawn) -> dict[tuple[str, str], Assignment]:
    """An assignment for each rater in each group, by both."""
    version, groups = protocol.current(study), {group.code: group for group in study.groups.all()}
    codes: dict[str, list[str]] = defaultdict(list)
    for code, (group, _premise, _source) in drawn.stories.items():
        codes[group].append(code)
    kind_by_rater = {a.rater: Rater.Kind.MODEL if a.rater == "judge" else Rater.Kind.PERSON for a in drawn.answers}
    raters = Rater.objects.bulk_create(
        Rater(study=study, code=code, kind=kind) for code, kind in sorted(kind_by_rater.items())
    )
    rater_by_code = {rater.code: rater for rater in raters}
    pairs = list(dict.fromkeys((a.group, a.rater) for a in drawn.answers))
    seats = Seat.objects.bulk_create(
        Seat(
            study=study,
            group=groups[group],
            rater_kind=kind_by_rater[rater],
            number=n,
            order=sorted(codes[group]),
            is_taken=True,
        )
        for n, (group, rater) in enumerate(pairs, start=1)
    )
    assignments = Assignment.objects.bulk_create(
        Assignment(
            study=study,
            rater=rater_by_code[rater],
            rater_kind=kind_by_rater[rater],
            seat=seat,
            group=groups[group],
            version=version,
            status=Assignment.Status.SUBMITTED,
        )
        for (group, rater), seat in zip(pairs, seats, strict=True)
    )
    return dict(zip(pairs, assignments, strict=True))


def _answers(
    study: Study,
    drawn: Drawn,
    assignments: dict[tuple[str, str], Assignment],
    *,
    has_guesses: bool,
    rng: np.random.Generator,
) -> None:
    steps = {step.key: step for step in protocol.load_protocol(protocol.current(study)).ratings}
    item_by_outcome = {
        f"{key}-{item.position}": (step, item) for key, step in steps.items() for item in protocol.items_of(step)
    }
    story_by_code = {story.code: story for story in study.stories.all()}
    rows = []

    def add(group: str, rater: str, story: str, outcome: str, value: object) -> None:
        step, item = item_by_outcome[outcome]
        rows.append(
            Response(
                assignment=assignments[group, rater],
                step_id=step.pk,
                item_id=item.pk,
                story=story_by_code[story],
                value=value,
                outcome=Response.Outcome.ANSWERED,
                revision=1,
                first_answered_at=NOON,
                last_edited_at=NOON,
            )
        )

    for answer in drawn.answers:
        is_test = answer.outcome.startswith("test")
        add(
            answer.group,
            answer.rater,
            answer.story,
            answer.outcome,
            ("no", "yes")[answer.value] if is_test else answer.value,
        )
    if has_guesses:
        authors = [option["value"] for option in factories.AUTHORS]
        readings = dict.fromkeys((a.group, a.rater, a.story) for a in drawn.answers if a.rater != "judge")
        leanings: dict[tuple[str, str], FloatArray] = {}
        for rater in sorted({rater for _group, rater, _story in readings}):
            own = rng.dirichlet(np.ones(len(authors)))
            sources = sorted({source for _group, _premise, source in drawn.stories.values()})
            leanings |= {(rater, source): rng.dirichlet(1 + BY_RATER * own) for source in sources}
        for group, rater, story in readings:
            leaning = leanings[rater, drawn.stories[story][2]]
            add(group, rater, story, "guess-1", authors[int(rng.choice(len(authors), p=leaning))])
    Response.objects.bulk_create(rows)
