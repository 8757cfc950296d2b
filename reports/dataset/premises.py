"""Which stories were sampled together: by group, by the premise of several groups, or each alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from annotation.models import Assignment, Rater
from reports.dataset.sources import StorySource
from reports.dataset.step_items import StepItem
from studies.models import Study
from studies.premises import Clusters, cluster_stories, repeat_sources


def find_clusters(study: Study, source_by_story: Mapping[str, StorySource], items: Iterable[StepItem]) -> Clusters:
    """What each story of the study was sampled with. One query, up to four where groups may be batches.

    source_by_story : who wrote each story; empty if sealed
    """
    groups = list(study.groups.values_list("code", "premise").order_by("code"))
    return cluster_stories(groups, has_batches=lambda: _are_batches(study, len(groups), source_by_story, items))


def _are_batches(
    study: Study, n_groups: int, source_by_story: Mapping[str, StorySource], items: Iterable[StepItem]
) -> bool:
    """Whether groups without premises only bundle what is read at a time.

    They do if all of this holds: no item compares the stories of a group; most groups of several stories hold two or
    more by one source, which blocks of one story by each source never do; and the same raters read them all, so that a
    group is not what they share. Where sources are hidden or not recorded, nothing tells batches from blocks.
    """
    name_by_story = {story: source.name for story, source in source_by_story.items()}
    return (
        bool(source_by_story)
        and not any(item.is_preference or item.is_ranking for item in items)
        and repeat_sources(study.stories.values_list("groups__code", "code"), name_by_story)
        and _are_read_by_all(study, n_groups)
    )


def _are_read_by_all(study: Study, n_groups: int) -> bool:
    """Whether the plan has everybody read every group, or most people did; where nobody read, most judges."""
    if study.groups_per_rater is None and study.groups_per_sitting - study.n_repeats >= n_groups:
        return True
    read = study.assignments.filter(group__isnull=False, repeats=None, rater__withdrawal=None).order_by()
    people = read.filter(rater_kind=Rater.Kind.PERSON, status=Assignment.Status.SUBMITTED)
    judges = read.exclude(rater_kind=Rater.Kind.PERSON).filter(status__in=Assignment.LIVE)
    for readings in (people, judges):
        n_by_rater = Counter(rater for rater, _group in readings.values_list("rater", "group").distinct())
        if n_by_rater:
            return 2 * sum(n == n_groups for n in n_by_rater.values()) > len(n_by_rater)
    return False
