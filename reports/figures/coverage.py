"""What a coefficient of agreement rests on: on how many stories, and how many raters of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from reports.lazy import np

if TYPE_CHECKING:
    from stats.arrays import FloatArray


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """How many units two raters or more answered about, of how many; and how many raters that was, least and most.

    are_stories : else groups; least, most : 0 where there is no such unit
    """

    n_units: int
    n_all: int
    least: int
    most: int
    are_stories: bool = True

    @classmethod
    def of_ratings(cls, ratings: FloatArray, *, are_stories: bool) -> Coverage:
        """That of ratings of shape (R, U)."""
        n = (~np.isnan(ratings)).sum(axis=0)
        used = n[n >= 2]
        ends = (int(used.min()), int(used.max())) if used.size else (0, 0)
        return cls(n_units=int(used.size), n_all=int(n.size), least=ends[0], most=ends[1], are_stories=are_stories)


def coverage_words(items: Sequence[Coverage]) -> str:
    """What several items rest on, as in "on 26 of 26 stories, 3 to 5 raters each"."""
    n_units = [item.n_units for item in items]
    words = {
        "n": _range(min(n_units), max(n_units)),
        "of": max(item.n_all for item in items),
        "raters": _range(min(item.least for item in items), max(item.most for item in items)),
    }
    if all(item.are_stories for item in items):
        return _("on %(n)s of %(of)s stories, %(raters)s raters each") % words
    return _("on %(n)s of %(of)s stories or groups, %(raters)s raters each") % words


def _range(least: int, most: int) -> str:
    return str(least) if least == most else _("%(least)s to %(most)s") % {"least": least, "most": most}
