"""The copy of a study in which one of its makers walks through it as a rater. Nothing in it counts.

Of a large study it holds some groups only: it is read by one person, and made again after every change.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Q

from studies import construction, lifecycle, protocol
from studies.models import ProtocolVersion, Provenance, Step, StoryGroup, Study
from studies.protocol import Protocol


@dataclass(frozen=True)
class CopySize:
    """How large a copy may be. most_answers : that all of its raters give; most_seats : of a group"""

    most_answers: int
    most_seats: int


MADE_AT_ONCE = CopySize(500, 6)  # so many answers are simulated, and reported on, while somebody waits
WHOLE = CopySize(10_000, 1_000)  # by a worker, in a few minutes
# What the copy says otherwise, or not at all.
OWN = {
    *("id", "slug", "state", "launched_at", "closes_at", "closed_at", "seats_per_group", "excluded_studies"),
    *("analysis_plan", "rehearsal_of", "rehearsed_by", "rehearsed_sha256"),
}


def choose_groups(study: Study, steps: Protocol, size: CopySize = MADE_AT_ONCE) -> list[StoryGroup]:
    """The groups that a rehearsal holds, by code: as many as can be answered in a moment, one at least.

    Those with a text that nobody may read are left out. Two queries.
    """
    can_be_read = StoryGroup.objects.filter(study=study).annotate(
        n=Count("stories"), n_withheld=Count("stories", filter=Q(stories__is_withheld=True))
    )
    chosen: list[StoryGroup] = []
    n_answers = 0
    for group in can_be_read.filter(n__gt=0, n_withheld=0).order_by("code").iterator(chunk_size=200):
        n_answers += count_seats(study, size) * _count_answers(steps, group.n)
        if chosen and n_answers > size.most_answers:
            break
        chosen.append(group)
    return chosen


def count_seats(study: Study, size: CopySize = MADE_AT_ONCE) -> int:
    """How many people read each group in a rehearsal."""
    return max(1, min(study.seats_per_group, size.most_seats))


def _count_answers(steps: Protocol, n_stories: int) -> int:
    """How many answers one rater gives about a group of so many stories."""
    return sum(
        len(protocol.items_of(step)) * (1 if step.scope == Step.Scope.GROUP else n_stories) for step in steps.ratings
    )


@transaction.atomic
def copy_study(
    original: Study, *, by: User | None, sees_sources: bool, at: datetime, size: CopySize = MADE_AT_ONCE
) -> Study:
    """A draft like the study, with some of its groups, that only `Study.every` has.

    by : whose copy it is; None for one that no page shows
    sees_sources : False gives a copy without any
    """
    latest = protocol.read_rows(protocol.latest(original))
    fields = [field for field in Study._meta.concrete_fields if field.name not in OWN]
    study = Study.objects.create(
        **{field.attname: getattr(original, field.attname) for field in fields},
        slug=f"rehearsal-{secrets.token_hex(8)}",
        seats_per_group=count_seats(original, size),
        closes_at=None if lifecycle.has_run_out(original, at=at) else original.closes_at,
        analysis_plan=original.analysis_plan if sees_sources else {},
        rehearsal_of=original,
        rehearsed_by=by,
        rehearsed_sha256=protocol.hash_rows(latest),
    )
    groups = choose_groups(original, latest, size)
    pairs = list(
        StoryGroup.stories.through.objects.filter(storygroup__in=groups).values_list("storygroup_id", "story_id")
    )
    construction.copy_groups(study, groups, pairs, with_origins=sees_sources)
    version = ProtocolVersion.objects.create(study=study, number=1)
    construction.copy_steps(latest.steps, version)
    return study


def read_sources(rehearsal: Study) -> dict[str, str]:
    """The source of each story in a rehearsal, by its code; none in the copy of somebody who may not know them."""
    rows = Provenance.objects.filter(story__study=rehearsal, story__study__rehearsal_of__isnull=False)
    return dict(rows.values_list("story__code", "source__name"))
