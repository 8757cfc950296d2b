"""A whole QUIET run: stand-ins fill a cloze and a panel judges what they wrote, all by planted answers."""

from collections.abc import Mapping, Sequence

from django.utils import timezone

from annotation.models import Assignment, Fill, Rater
from annotation.responses import Answer, derivation, imports, submission
from annotation.responses.imports import Row
from studies import protocol
from studies.models import Study
from tests import factories
from tests.annotation import clozes
from tests.factories import NOON

CONSTRAINTS = ("s1-c1", "s1-c2", "s2-c1", "s3-c1")
EDGES = ("edge-1-2", "edge-1-3")
CHECKS = ("s1-c1-k1", "s1-c1-k2")
MODELS = ("gpt-a", "claude-b", "gemini-c")
PANEL = ("claude-judge", "gpt-judge", "qwen-judge")
WORDS = (
    "boots and laces",
    "a ticket of tin",
    "a drawer shuts twice",
    "he sat down to polish",
    "nobody walked in these",
)
# What each model writes into the five blanks: two write nearly the same, one something else.
FILLS: Mapping[str, Sequence[str]] = {
    "gpt-a": WORDS,
    "claude-b": tuple(f"{words} too" for words in WORDS),
    "gemini-c": ("seaweed", "an anchor", "gulls quarrel over bread", "tides rose and fell", "salt eats every sole"),
}
# Ratings by participant, then judge, of the four constraints; the last two of the edges.
RATINGS: Mapping[str, Sequence[Sequence[int]]] = {
    "gpt-a": ((5, 4, 3, 5, 4, 4), (4, 4, 3, 5, 5, 3), (3, 4, 3, 5, 3, 5)),
    "claude-b": ((5, 5, 4, 4, 5, 5), (3, 3, 2, 4, 4, 4), (4, 4, 3, 4, 3, 3)),
    "gemini-c": ((1, 3, 2, 1, 2, 2), (0, 3, 2, 1, 1, 1), (5, 3, 2, 3, 3, 0)),
    "person": ((3, 3, 3, 3, 3, 3), (3, 3, 3, 3, 3, 3), (3, 3, 3, 3, 3, 3)),
}
PERSON_FILLS = ("clogs", "a letter", "a child counting", "he whistled", "they fit nobody")


def filled_study(*, models: Sequence[str] = MODELS, with_person: bool = False) -> Study:
    """A live study in which these models have filled the cloze, and perhaps a person."""
    study = clozes.study()
    for name in models:
        model_fills(study, name, FILLS[name])
    if with_person:
        work = clozes.assignment(study)
        clozes.fill(work, dict(enumerate(PERSON_FILLS, start=1)))
        submission.submit(work, at=timezone.now())
    return study


def model_fills(study: Study, name: str, texts: Sequence[str]) -> None:
    """One more text by that model."""
    rater, _is_new = Rater.objects.get_or_create(study=study, code=name, kind=Rater.Kind.MODEL)
    seat = factories.judge_seat(study, study.groups.get(), ["shoes"])
    work = Assignment.objects.create(
        study=study, rater=rater, rater_kind="model", seat=seat, group=seat.group, version=study.versions.get()
    )
    clozes.fill(work, dict(enumerate(texts, start=1)))
    submission.submit(work, at=timezone.now())


def judged_study(
    filled: Study, *, slug: str = "judged", plan: Mapping[str, str] | None = None, has_coarse: bool = False
) -> Study:
    """The study derived from it, planned, closed, and not judged yet."""
    study = derivation.derive(filled, slug, derivation.derivable_fills(filled), has_coarse=has_coarse)
    Study.objects.filter(pk=study.pk).update(asks_recognition=False, analysis_plan=plan or {})
    study.refresh_from_db()
    factories.plan(study)
    study.seats.all().delete()
    Study.objects.filter(pk=study.pk).update(state="closed", closed_at=NOON)
    study.refresh_from_db()
    return study


def stories(study: Study) -> list[tuple[str, str]]:
    """The participant of each story, the person as "person", and its code."""
    fields = ("assignment__rater__kind", "assignment__rater__code", "story__code")
    fills = Fill.objects.filter(story__study=study).order_by("pk").values_list(*fields)
    return [(code if kind == Rater.Kind.MODEL else "person", story) for kind, code, story in fills]


def judge(
    study: Study,
    ratings: Mapping[str, Sequence[Sequence[int]]] = RATINGS,
    *,
    names: Sequence[str] = PANEL,
    kind: str = Rater.Kind.MODEL,
    denied: Sequence[tuple[str, str]] = (),
) -> None:
    """Let the panel give these ratings. denied : judge and participant of whom the required check is denied"""
    rows = [
        Row("test", name, story, story, "judge", key, Answer(value=value), kind)
        for participant, story in stories(study)
        for n, name in enumerate(names)
        for key, value in zip((*CONSTRAINTS, *EDGES), ratings[participant][n], strict=True)
    ]
    rows += [
        Row("test", name, story, story, "judge", key, Answer(value="no" if is_denied else "yes"), kind)
        for participant, story in stories(study)
        for name in names
        for key, is_denied in zip(CHECKS, ((name, participant) in denied, False), strict=True)
    ]
    imports.import_rows(study, rows, version=protocol.current(study), at=NOON)


def judge_coarsely(study: Study, values: Mapping[str, Sequence[Sequence[str]]], *, names: Sequence[str]) -> None:
    """These judges answer the constraints in three steps: by participant, then judge."""
    rows = [
        Row("test", name, story, story, "judge-coarse", key, Answer(value=value), Rater.Kind.MODEL)
        for participant, story in stories(study)
        for n, name in enumerate(names)
        for key, value in zip(CONSTRAINTS, values[participant][n], strict=True)
    ]
    imports.import_rows(study, rows, version=protocol.current(study), at=NOON)
