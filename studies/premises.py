"""What stories of a study share by the premise that they were written to: of plans and of answers alike."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


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


def cluster_stories(groups: Sequence[tuple[str, str]], *, has_batches: Callable[[], bool]) -> Clusters:
    """What stories in these groups were sampled with.

    Each story is a cluster of its own where all are on one premise, where one group holds them all, and where groups
    without premises are batches.

    groups : code and premise of each, by code; has_batches : asked only where it decides
    """
    by_group = name_clusters(groups)
    premises = {premise.strip() for _code, premise in groups}
    if len(premises) != 1:
        return Clusters(by_group, are_premises=len(premises) > 1 and "" not in premises)
    if "" not in premises:
        return Clusters(by_group, WhyStories.ONE_PREMISE)
    if len(groups) == 1:
        return Clusters(by_group, WhyStories.ONE_GROUP)
    return Clusters(by_group, WhyStories.BATCHES if has_batches() else None)


def name_clusters(groups: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The cluster of each group, named after the first of its groups.

    Groups on one premise are one cluster, a group without a premise is its own. One premise for all joins nothing: what
    is found then is about this premise, and what is asked of groups as wholes varies with them.

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


def repeat_sources(units: Iterable[tuple[str | None, str]], source_by_story: Mapping[str, str]) -> bool:
    """Whether most groups of several stories hold two or more by one source.

    units : group and story; no group for a story that stands in none; source_by_story : names
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for group, story in units:
        if group and story in source_by_story:
            counts[group][source_by_story[story]] += 1
    repeats = [max(count.values()) > 1 for count in counts.values() if count.total() > 1]
    return 2 * sum(repeats) > len(repeats)
