"""A small study that asks people to fill a cloze, and steps through it."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from annotation import responses
from annotation.models import Assignment, Response
from annotation.participation import claims
from reports.dataset import Dataset
from reports.figures.cloze.people import ClozeFilling, ClozeResult
from studies import loader, protocol
from studies.models import Cloze, ProtocolVersion, Step, Story, StoryGroup, Study
from tests import factories
from tests.factories import NOON
from tests.studies.cloze.documents import FILLS, SHOES

ALL_ON = {"constraints": True, "check": True, "way_out": True}


def study(slug: str = "shoes-study", *, options: Mapping[str, bool] = ALL_ON, k: int = 4, toml: str = SHOES) -> Study:
    """Live, with consent and the filling of the shoes; all switches on."""
    cloze = loader.load_cloze(toml)
    made = Study.objects.create(
        slug=slug, title="Seven Pairs", seats_per_group=k, seed=7, organiser="Us", contact="us@example.org"
    )
    text = factories.story(made, "shoes", text=cloze.skeleton, source="The cloze", kind="other")
    StoryGroup.objects.create(study=made, code="shoes").stories.set([text])
    version = ProtocolVersion.objects.create(study=made, number=1)
    Step.objects.create(version=version, position=1, key="consent", kind="consent", text="You can stop at any time.")
    Step.objects.create(
        version=version,
        position=2,
        key="fill",
        kind="rating",
        title="Fill the blanks",
        text="Fill them in any order.",
        instrument=cloze.filling,
        scope="group",
        layout="cloze",
        options=dict(options),
    )
    factories.plan(made)
    Study.objects.filter(pk=made.pk).update(state=Study.State.LIVE)
    made.refresh_from_db()
    return made


def assignment(of: Study, **rater: Any) -> Assignment:
    return claims.claim(factories.rater(of, **rater))


def say(to: Assignment, blank: int, text: str, minute: float = 0, **more: Any) -> Response:
    """One save of one blank, so many minutes after noon."""
    step = protocol.load_protocol(to.version).step("fill")
    assert step is not None
    item = protocol.items_of(step)[blank - 1]
    answer = responses.Answer(value=text)
    return responses.record(to, step=step, item=item, story=None, answer=answer, at=at(minute), **more)


def fill(to: Assignment, fills: Mapping[int, str] = FILLS) -> None:
    """Blank by blank, a minute for each."""
    for minute, (blank, text) in enumerate(fills.items()):
        say(to, blank, text, minute)


def at(minute: float) -> datetime:
    return NOON + timedelta(minutes=minute)


def cloze(of: Study) -> Cloze:
    return Cloze.objects.get(filling__step__version__study=of)


def story_of(of: Study) -> Story:
    return of.stories.get()


def filling(of: Study) -> ClozeResult:
    """What the report says of it."""
    return ClozeFilling().compute(Dataset.of(of))
