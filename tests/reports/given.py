"""Answers brought into a small study, told as shortly as they can be."""

from contextlib import nullcontext

from annotation.models import Rater
from annotation.responses import Answer, imports
from annotation.responses.imports import Row
from studies import protocol
from studies.models import Source, Study
from tests import factories, triggers
from tests.factories import NOON
from tests.replay import replayed


@replayed
def closed_study(slug: str = "plums", *, n_groups: int = 2, n_stories: int = 2, n_items: int = 1) -> Study:
    """A closed study whose first story of each group is by a person and the others by models."""
    study = factories.study(
        slug, n_groups=n_groups, n_stories=n_stories, n_items=n_items, k=2, state="closed", planned=False
    )
    is_alone = not Study.objects.exclude(pk=study.pk).exists()
    with nullcontext() if is_alone else triggers.lifted():
        Source.objects.exclude(name="Source 1").update(kind=Source.Kind.MODEL)
    factories.freeze(study)  # without seats: bringing answers in makes those
    study.closed_at = NOON
    study.save()
    return study


def verdicts(study: Study, by_rater: dict[str, str], *, kind: str = Rater.Kind.PERSON) -> None:
    """Each rater's verdicts about the stories of the study in the order of their codes, all items of one after another.

    "yn-d": yes, no, nothing, declined; "?" is unreadable
    """
    stories = list(study.stories.order_by("code").values_list("code", "groups__code"))
    items = [item.key for item in protocol.items_of(protocol.load_protocol(protocol.current(study)).steps[1])]
    rows = []
    for rater, letters in by_rater.items():
        places = [(story, group, item) for story, group in stories for item in items]
        for (story, group, item), letter in zip(places, letters, strict=True):
            if letter != "-":
                answer = ANSWERS[letter]
                rows.append(Row("test", rater, group, story, "tests", item, answer, kind))
    bring(study, rows)


ANSWERS = {
    "y": Answer(value="yes", rationale="It is so."),
    "n": Answer(value="no", rationale="It is not."),
    "d": Answer(outcome="declined"),
    "?": Answer(outcome="unreadable"),
}


def orders(study: Study, by_rater: dict[str, dict[str, str]]) -> list[Row]:
    """Rankings as rows: {"E01": {"plot1": "p1s2 > p1s1"}}."""
    return [
        Row("test", rater, group, "", "ranking", "item-1", Answer(value=order))
        for rater, order_by_group in by_rater.items()
        for group, order in order_by_group.items()
    ]


def guesses(study: Study, by_rater: dict[str, dict[str, str]]) -> list[Row]:
    """Guesses as rows: {"E01": {"p1s1": "ai"}}."""
    group_by_story = dict(study.stories.values_list("code", "groups__code"))
    return [
        Row("test", rater, group_by_story[story], story, "guess", "item-1", Answer(value=guess))
        for rater, guess_by_story in by_rater.items()
        for story, guess in guess_by_story.items()
    ]


def bring(study: Study, rows: list[Row]) -> None:
    imports.import_rows(study, rows, version=protocol.current(study), at=NOON)
