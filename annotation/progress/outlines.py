"""What raters meet under a frozen protocol: worked out once per process and held in memory, since it cannot change."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache

from annotation import progress
from annotation.progress.steps import TOGETHER, Part
from studies import protocol
from studies.models import ProtocolVersion, Step, Story
from studies.protocol import Protocol

SIZE = 64  # protocols in memory; with more studies at once, the least used are read again


@dataclass(frozen=True, eq=False)
class Outline:
    """A frozen protocol with all that follows from it for its raters."""

    protocol: Protocol

    @cached_property
    def parts(self) -> list[Part]:
        """What a rater meets within a group, in order."""
        return progress.list_parts(self.protocol)

    @cached_property
    def once(self) -> list[Part]:
        """What is asked once of a rater, each step a part of its own."""
        return [Part(TOGETHER, (step,)) for step in self.protocol.steps if step.scope == Step.Scope.ONCE]

    @cached_property
    def part_with_stories(self) -> Part | None:
        """The page of comparisons on which the stories themselves stand, since no desk comes before it; mostly none."""
        first = next((part for part in self.parts if part.stops_at_items or part.compares), None)
        return first if first and first.compares else None

    @cached_property
    def has_desk(self) -> bool:
        """Whether it asks about one story at a time, beside its text."""
        return any(step.scope == Step.Scope.STORY for step in self.protocol.steps)

    @cached_property
    def story_id_by_code(self) -> dict[str, int]:
        """The stories of the study, which are frozen with it. One query, once."""
        stories = Story.objects.filter(study=self.protocol.version.study_id)
        return dict(stories.values_list("code", "pk"))


def load_outline(version: ProtocolVersion) -> Outline:
    """The outline of that version: of a frozen one from memory, otherwise read from the database."""
    if version.frozen_at is None:
        return Outline(protocol.load_protocol(version))
    return _frozen(version.pk, version.sha256, version.frozen_at)


# By the time of freezing too, as protocols are kept: a number that was rolled back could come again.
@lru_cache(maxsize=SIZE)
def _frozen(pk: int, sha256: str, frozen_at: datetime) -> Outline:
    version = ProtocolVersion.objects.defer("document").get(pk=pk, sha256=sha256, frozen_at=frozen_at)
    return Outline(protocol.load_protocol(version))


def forget_outlines() -> None:
    """Empty the memory, as tests do whose databases are taken back."""
    _frozen.cache_clear()
