"""Which groups were sampled together, by the premises on which their stories were written."""

from collections.abc import Iterable


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
