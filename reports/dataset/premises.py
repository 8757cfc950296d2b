"""Which stories were sampled together: by group, by the premise of several groups, or each alone in batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from annotation.models import Assignment, Rater
from reports.dataset.sources import StorySource
from reports.dataset.step_items import StepItem
from studies.models import Study
from studies.premises import Clusters, name_clusters, repeat_sources


def find_clusters(study: Study, source_by_story: Mapping[str, StorySource], items: Iterable[StepItem]) -> Clusters:
    """What each story of the study was sampled with. One query, up to four where groups may be batches.

    Groups are batches, which only bundle what is read at a time, if all of this holds: no premise tells them apart;
    no item compares the stories of a group; most groups of several stories hold two or more by one source, which
    blocks of one story by each source never do; and the same raters read them all, so that a group is not what they
    share. Where sources are hidden or not recorded, nothing tells batches from blocks, and groups stay clusters.

    source_by_story : who wrote each story; empty if sealed
    """
    groups = list(study.groups.values_list("code", "premise").order_by("code"))
    by_group = name_clusters(groups)
    premises = {premise.strip() for _code, premise in groups}
    may_be_batches = (
        len(groups) > 1
        and len(premises) == 1
        and bool(source_by_story)
        and not any(item.is_preference or item.is_ranking for item in items)
        and repeat_sources(
            study.stories.values_list("groups__code", "code"),
            {story: source.name for story, source in source_by_story.items()},
        )
    )
    return Clusters(
        by_group,
        are_stories=may_be_batches and _are_read_by_all(study, len(groups)),
        has_one_premise=len(premises) == 1 and "" not in premises,
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
