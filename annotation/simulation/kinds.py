"""The kinds of raters that a simulated study has, and how many of each come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from annotation.simulation.opinions import SEVERITY, Profile

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, kw_only=True)
class RaterKind:
    """A way of answering, from which each rater of the kind has a profile drawn.

    share : of all raters
    pace : between which the pace is drawn, 2 being twice as fast; reads : the share of a story that is read
    noise : standard deviation that is added to the log-odds of each answer
    is_straight : the same answer to every question
    has_own_taste : stories are liked otherwise than by all others, so that no source is better
    leaves : stops in the middle of a group
    """

    key: str
    title: str | Promise = field(compare=False)  # lazy, so its hash changes with the language
    share: float
    pace: tuple[float, float] = (0.8, 1.5)
    reads: float = 1.0
    noise: float = 0.0
    is_straight: bool = False
    has_own_taste: bool = False
    leaves: bool = False

    @property
    def follows_sources(self) -> bool:
        """Whether raters of the kind judge the stories of one source better than those of another."""
        return not (self.is_straight or self.has_own_taste)

    def draw_profile(self, rng: np.random.Generator, *, rater: str, n_groups: int) -> Profile:
        """How one more rater of the kind answers. rater : the code, by which a taste of their own is known"""
        return Profile(
            severity=float(rng.normal(0, SEVERITY)),
            pace=float(rng.uniform(*self.pace)),
            second_thoughts=float(rng.uniform(0.01, 0.06)),
            n_groups=n_groups,
            reads=self.reads,
            noise=self.noise,
            straight_at=float(rng.uniform()) if self.is_straight else None,
            taste=rater if self.has_own_taste else "",
        )


CAREFUL = RaterKind(key="careful", title=gettext_lazy("Careful"), share=0.6)
HASTY = RaterKind(key="hasty", title=gettext_lazy("Hasty"), share=0.15, pace=(2.5, 4.0), reads=0.15, noise=1.5)
STRAIGHT = RaterKind(
    key="straight", title=gettext_lazy("Straight-lining"), share=0.1, pace=(2.0, 3.5), reads=0.3, is_straight=True
)
LEAVING = RaterKind(key="leaving", title=gettext_lazy("Leaving"), share=0.05, leaves=True)
DISAGREEING = RaterKind(key="disagreeing", title=gettext_lazy("Disagreeing"), share=0.1, has_own_taste=True)
KINDS = (CAREFUL, HASTY, STRAIGHT, LEAVING, DISAGREEING)


def count_kinds(n: int, kinds: Sequence[RaterKind] = KINDS) -> dict[RaterKind, int]:
    """How many of n raters are of each kind: by their shares, what is left over to the largest remainders.

    >>> {kind.key: count for kind, count in count_kinds(30).items()}
    {'careful': 18, 'hasty': 5, 'straight': 3, 'leaving': 1, 'disagreeing': 3}
    """
    exact = {kind: n * kind.share for kind in kinds}
    counts = {kind: int(exact[kind] + 1e-9) for kind in kinds}
    by_remainder = sorted(kinds, key=lambda kind: counts[kind] - exact[kind])
    for kind in by_remainder[: n - sum(counts.values())]:
        counts[kind] += 1
    return counts
