"""Which stories were sampled together: by group, by the premise of several groups, or each alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from annotation.models import Assignment, Rater
from reports.dataset.sources import StorySource
from reports.dataset.step_items import StepItem
from studies.models import Study


class WhyStories(StrEnum):
    """Why each story is a cluster of its own, and its group is only what is read at a time."""

    ONE_PREMISE = "one premise"
    ONE_GROUP = "one group"
    BATCHES = "batches"


@dataclass(frozen=True)
class Clusters:
    """What each story was sampled with.

    by_group : the cluster of each group, named after the first of its groups
    why_stories : why each story is a cluster of its own; None where its group's is
    are_premises : whether each group has a premise, and not all the same
    """

    by_group: Mapping[str, str]
    why_stories: WhyStories | None = None
    are_premises: bool = False

    def name(self, group: str, story: str) -> str:
        """The cluster of a story in its group; that of the group where there is no story."""
        return story if self.why_stories and story else self.by_group[group]

    def block(self, group: str) -> str:
        """What the stories of the group share beside their raters, as their premise; one name for all if nothing."""
        return "" if self.why_stories else self.by_group[group]


def name_clusters(groups: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The cluster of each group, named after the first of its groups.

    Groups on one premise are one cluster, a group without a premise is its own. One premise for all joins nothing: what
    is found then is about stories on this premise, and its groups are what varies.

    groups : code and premise of each, by code
    """
    premise_by_group = {code: premise.strip() for code, premise in groups}
    if len(set(premise_by_group.values())) == 1:
        return {code: code for code in premise_by_group}
    first_by_premise: dict[str, str] = {}
    return {
        code: first_by_premise.setdefault(premise or f"group {code}", code)
        for code, premise in premise_by_group.items()
    }


def find_clusters(study: Study, source_by_story: Mapping[str, StorySource], items: Iterable[StepItem]) -> Clusters:
    """What each story of the study was sampled with. One query, up to four where groups may be batches.

    Each story is a cluster of its own where all are on one premise, where one group holds them all, and where groups
    are batches (`_are_batches`).

    source_by_story : who wrote each story; empty if sealed
    """
    groups = list(study.groups.values_list("code", "premise").order_by("code"))
    by_group = name_clusters(groups)
    premises = {premise.strip() for _code, premise in groups}
    if len(premises) != 1:
        return Clusters(by_group, are_premises=len(premises) > 1 and "" not in premises)
    if "" not in premises:
        return Clusters(by_group, WhyStories.ONE_PREMISE)
    if len(groups) == 1:
        return Clusters(by_group, WhyStories.ONE_GROUP)
    has_batches = _are_batches(study, len(groups), source_by_story, items)
    return Clusters(by_group, WhyStories.BATCHES if has_batches else None)


def _are_batches(
    study: Study, n_groups: int, source_by_story: Mapping[str, StorySource], items: Iterable[StepItem]
) -> bool:
    """Whether groups without premises only bundle what is read at a time.

    They do if all of this holds: no item compares the stories of a group; most groups of several stories hold two or
    more by one source, which blocks of one story by each source never do; and the same raters read them all, so that a
    group is not what they share. Where sources are hidden or not recorded, nothing tells batches from blocks.
    """
    return (
        bool(source_by_story)
        and not any(item.is_preference or item.is_ranking for item in items)
        and repeat_sources(study.stories.values_list("groups__code", "code"), source_by_story)
        and _are_read_by_all(study, n_groups)
    )


def repeat_sources(units: Iterable[tuple[str | None, str]], source_by_story: Mapping[str, StorySource]) -> bool:
    """Whether most groups of several stories hold two or more by one source.

    units : group and story; no group for a story that stands in none
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for group, story in units:
        if group and story in source_by_story:
            counts[group][source_by_story[story].name] += 1
    repeats = [max(count.values()) > 1 for count in counts.values() if count.total() > 1]
    return 2 * sum(repeats) > len(repeats)


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
