"""What stories of a study share by the premise that they were written to: of plans and of answers alike."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Clusters:
    """What each story was sampled with.

    by_group : the cluster of each group, named after the first of its groups
    are_stories : whether groups are batches, so that each story is a cluster of its own
    has_one_premise : whether all stories are on one premise, so that groups are only what is read together
    """

    by_group: Mapping[str, str]
    are_stories: bool = False
    has_one_premise: bool = False

    def name(self, group: str, story: str) -> str:
        """The cluster of a story in its group; that of the group where there is no story."""
        return story if self.are_stories and story else self.by_group[group]

    def block(self, group: str) -> str:
        """What the stories of the group share beside their raters, as their premise; one name for all if nothing."""
        return "" if self.are_stories or self.has_one_premise else self.by_group[group]


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
