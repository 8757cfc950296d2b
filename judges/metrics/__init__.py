"""Metrics: one file each, discovered, never listed.

A metric is a rater that counts or computes: it answers an instrument of its own about each story separately, from the
words of the story and nothing else. A judge names its metric by slug.
"""

from functools import cache

from django.utils.translation import gettext as _

from judges.metrics.base import Metric, NoValue
from studies.discovery import find_classes

__all__ = ["Metric", "NoValue", "UnknownMetric", "all_metrics", "find_metric"]


class UnknownMetric(ValueError):
    """No file defines a metric of that slug; the message names those there are."""


@cache
def all_metrics() -> dict[str, Metric]:
    """Every metric by its slug, in alphabetical order. Raises TypeError if two share a slug."""
    return {slug: kind() for slug, kind in find_classes(__name__, Metric, key="slug").items()}


def find_metric(slug: str) -> Metric:
    """The metric of that slug. Raises UnknownMetric."""
    try:
        return all_metrics()[slug]
    except KeyError:
        message = _("“%(slug)s” is not a metric; there are: %(slugs)s")
        raise UnknownMetric(message % {"slug": slug, "slugs": ", ".join(all_metrics())}) from None
