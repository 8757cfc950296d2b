"""The pages of a group's parts: one file for each kind, discovered, never listed.

A page knows everything that differs between the reading desk, a page of comparisons, a text and a cloze. The views
look up who may come and when; then they ask the page, and not which it is.
"""

from functools import cache

from annotation.progress import Part
from annotation.progress.work import Work
from annotation.views.rater.guards import Request
from annotation.views.rater.parts.base import PartPage
from studies.discovery import find_classes

__all__ = ["PartPage", "all_pages", "find_page"]


@cache
def all_pages() -> dict[str, type[PartPage]]:
    """The page of every kind of part. Raises TypeError if two are for the same kind."""
    return find_classes(__name__, PartPage, key="kind")


def find_page(request: Request, work: Work, part: Part) -> PartPage:
    """The page of this part, for this request."""
    return all_pages()[part.kind](request, work, part)
