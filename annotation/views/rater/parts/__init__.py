"""The pages of a group's parts: one file for each kind, discovered, never listed.

A page knows everything that differs between the reading desk, a page of comparisons, a text and a cloze. The views
look up who may come and when; then they ask the page, and not which it is.
"""

import importlib
import pkgutil
from functools import cache

from annotation.progress import Part
from annotation.progress.work import Work
from annotation.views.rater.guards import Request
from annotation.views.rater.parts.base import PartPage

__all__ = ["PartPage", "all_pages", "find_page"]


@cache
def all_pages() -> dict[str, type[PartPage]]:
    """The page of every kind of part. Raises TypeError if two are for the same kind."""
    page_by_kind: dict[str, type[PartPage]] = {}
    for module in sorted(m.name for m in pkgutil.iter_modules(__path__)):
        for thing in vars(importlib.import_module(f"{__name__}.{module}")).values():
            if isinstance(thing, type) and issubclass(thing, PartPage) and thing.__module__ == f"{__name__}.{module}":
                if thing is PartPage:
                    continue
                if thing.kind in page_by_kind:
                    raise TypeError(f"two pages are for parts of kind “{thing.kind}”")
                page_by_kind[thing.kind] = thing
    return page_by_kind


def find_page(request: Request, work: Work, part: Part) -> PartPage:
    """The page of this part, for this request."""
    return all_pages()[part.kind](request, work, part)
