"""Groups in two parts: on one something is chosen or shown, on the other alone it is judged.

Groups that share a story, a text or a writing prompt stay on one side, so that nothing of what is judged was seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from judges.planning import CannotRun
from studies.models import StoryGroup, Study
from studies.typography.prompts import fold_prompt


@dataclass(frozen=True)
class Split:
    """Codes of the groups on which something is chosen or shown, and of all others, which are judged."""

    first: tuple[str, ...]
    judged: tuple[str, ...]
    seed: int


@dataclass
class _Cluster:
    """Groups that share stories or premises, one with the next."""

    groups: list[str] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)


def split_groups(study: Study, *, share: float, seed: int) -> Split:
    """The study's groups in two parts, the first about that share of them; the same for the same seed.

    Groups with a story whose text is withheld are in neither. Raises CannotRun if groups hang together by stories or
    premises so that one part would be empty.
    """
    groups = list(study.groups.prefetch_related("stories").order_by("code"))
    groups = [group for group in groups if not any(story.is_withheld for story in group.stories.all())]
    clusters = _cluster(groups)
    import numpy as np  # here, so that web processes come without it

    order = np.random.default_rng([abs(study.seed), seed]).permutation(len(clusters))
    first: list[str] = []
    for n in order:
        if len(first) < share * len(groups):
            first += clusters[n].groups
    judged = sorted({group.code for group in groups} - set(first))
    if not first or not judged:
        message = _(
            "The groups share stories or writing prompts, so that none can be set apart. Choose another share, or add "
            "groups that have none in common with the others."
        )
        raise CannotRun(message)
    return Split(tuple(sorted(first)), tuple(judged), seed)


def _cluster(groups: Sequence[StoryGroup]) -> list[_Cluster]:
    clusters: list[_Cluster] = []
    for group in groups:
        _join(clusters, group)
    return clusters


def _join(clusters: list[_Cluster], group: StoryGroup) -> None:
    """Put the group with all that share a story, a text or a premise with it."""
    stories = group.stories.all()
    keys = {f"story {s.code}" for s in stories} | {f"text {s.sha256}" for s in stories if s.sha256}
    if premise := fold_prompt(group.premise):
        keys.add(f"premise {premise}")
    joined = _Cluster([group.code], keys)
    for cluster in [cluster for cluster in clusters if cluster.keys & keys]:
        joined.groups += cluster.groups
        joined.keys |= cluster.keys
        clusters.remove(cluster)
    clusters.append(joined)


def number_clusters(groups: Sequence[StoryGroup]) -> dict[str, int]:
    """By code of the group the number of its cluster: groups that share a story, a text or a premise have one."""
    return {code: n for n, cluster in enumerate(_cluster(groups)) for code in cluster.groups}


def find_codes(study: Study, groups: Sequence[str]) -> tuple[str, ...]:
    """Codes of the stories in these groups, sorted."""
    codes = study.groups.filter(code__in=groups).values_list("stories__code", flat=True)
    return tuple(sorted(set(codes)))
