"""A closed study of many answers, written by the thousand: verdicts, orders, guesses, and a judge beside the people."""

import numpy as np

from annotation.models import Assignment, Rater, Response, Seat
from studies import hashing, protocol
from studies.models import Provenance, Source, Step, Story, StoryGroup, Study
from tests import factories, triggers
from tests.factories import AUTHORS, NOON

N_STORIES, N_ITEMS, N_PEOPLE = 4, 14, 3  # of a group, of a story, of a group
N_OF_A_READER = N_STORIES * N_ITEMS
N_ANSWERS_A_GROUP = N_PEOPLE * (N_OF_A_READER + 1 + N_STORIES)
N_RATERS = 30  # who share the groups
AT_ONCE = 5000


def make(n_answers: int, *, slug: str = "large", has_judge: bool = False) -> Study:
    """A closed study with as many answers, rounded to whole groups of four stories.

    Each of three people gives 14 verdicts on each, an order and four guesses; a judge, if there is one, the verdicts.
    """
    study = factories.study(slug, n_groups=1, n_stories=N_STORIES, k=N_PEOPLE, n_items=N_ITEMS, state="closed")
    study.seats.all().delete()
    study.closed_at = NOON
    study.save()
    with triggers.lifted():
        Source.objects.exclude(name="Source 1").update(kind=Source.Kind.MODEL)
        add_groups(study, round(n_answers / (N_ANSWERS_A_GROUP + has_judge * N_OF_A_READER)))
    groups = list(study.groups.order_by("code").prefetch_related("stories"))
    assignments = add_assignments(study, groups, has_judge=has_judge)
    _answers(study, assignments, {group.pk: sorted(group.stories.all(), key=lambda s: s.code) for group in groups})
    return study


def add_groups(study: Study, n_groups: int) -> None:
    """Give a study that has one group of four stories the others, up to that many."""
    sources = [Source.objects.get(name=f"Source {n}") for n in range(1, N_STORIES + 1)]
    codes = [f"q{g:05}" for g in range(2, n_groups + 1)]
    groups = StoryGroup.objects.bulk_create(
        StoryGroup(study=study, code=code, premise=f"Premise {code}") for code in codes
    )
    text = Story.objects.filter(study=study)[0].text
    # No two alike: of the same text in two groups a report says whether raters judged it alike.
    stories = Story.objects.bulk_create(
        [_story(study, f"{code}s{n}", text) for code in codes for n in range(1, N_STORIES + 1)], batch_size=AT_ONCE
    )
    Provenance.objects.bulk_create(
        [Provenance(story=story, source=sources[n % N_STORIES]) for n, story in enumerate(stories)], batch_size=AT_ONCE
    )
    through = StoryGroup.stories.through
    through.objects.bulk_create(
        [through(storygroup=groups[n // N_STORIES], story=story) for n, story in enumerate(stories)],
        batch_size=AT_ONCE,
    )


def _story(study: Study, code: str, text: str) -> Story:
    words = f"{text} So ends {code}."
    return Story(study=study, code=code, text=words, n_words=len(words.split()), sha256=hashing.sha256(words))


def add_assignments(study: Study, groups: list[StoryGroup], *, has_judge: bool) -> list[Assignment]:
    person, model = Rater.Kind.PERSON, Rater.Kind.MODEL
    people = Rater.objects.bulk_create(Rater(study=study, code=f"E{n:02}", kind=person) for n in range(N_RATERS))
    places = [(person, number) for number in range(1, N_PEOPLE + 1)]
    if has_judge:
        judge = Rater.objects.create(study=study, code="judge", kind=model)
        places.append((model, 1))
    seats = [
        Seat(
            study=study,
            group=group,
            rater_kind=kind,
            number=number,
            order=[story.code for story in sorted(group.stories.all(), key=lambda s: s.code)],
            is_taken=True,
        )
        for group in groups
        for kind, number in places
    ]
    Seat.objects.bulk_create(seats, batch_size=AT_ONCE)
    version, assignments = protocol.current(study), []
    for n, seat in enumerate(seats):
        at = n // len(places) + (seat.number - 1) * N_RATERS // N_PEOPLE
        rater = judge if seat.rater_kind == model else people[at % N_RATERS]
        assignments.append(
            Assignment(
                study=study,
                rater=rater,
                rater_kind=seat.rater_kind,
                seat=seat,
                group_id=seat.group_id,
                version=version,
                status=Assignment.Status.SUBMITTED,
            )
        )
    return Assignment.objects.bulk_create(assignments, batch_size=AT_ONCE)


def _answers(study: Study, assignments: list[Assignment], stories_by_group: dict[int, list[Story]]) -> None:
    rng = np.random.default_rng(study.seed)
    steps = {step.key: step for step in protocol.load_protocol(protocol.current(study)).ratings}
    items = {key: list(protocol.items_of(step)) for key, step in steps.items()}
    authors = [option["value"] for option in AUTHORS]
    severity: dict[int, float] = {}
    rows: list[Response] = []

    def add(assignment: Assignment, step: Step, item: object, story: Story | None, value: object) -> None:
        rows.append(
            Response(
                assignment=assignment,
                step_id=step.pk,
                item_id=item.pk,  # type: ignore[attr-defined]
                story=story,
                value=value,
                outcome=Response.Outcome.ANSWERED,
                revision=1,
                first_answered_at=NOON,
                last_edited_at=NOON,
            )
        )

    for assignment in assignments:
        stories = stories_by_group[assignment.group_id]  # type: ignore[index]
        strict = severity.setdefault(assignment.rater_id, float(rng.normal(0, 0.1)))
        for n, story in enumerate(stories):
            is_yes = rng.random(N_ITEMS) < 0.75 - 0.12 * n - strict
            for item, said in zip(items["tests"], is_yes.tolist(), strict=True):
                add(assignment, steps["tests"], item, story, "yes" if said else "no")
        if assignment.rater_kind == Rater.Kind.PERSON:
            order = rng.permutation(N_STORIES).tolist()
            add(assignment, steps["ranking"], items["ranking"][0], None, [[stories[n].code] for n in order])
            for story in stories:
                add(assignment, steps["guess"], items["guess"][0], story, authors[int(rng.integers(3))])
        if len(rows) >= AT_ONCE:
            Response.objects.bulk_create(rows)
            rows.clear()
    Response.objects.bulk_create(rows)
