"""Interventions: changes of a story that leave its worth as it is. One file each, discovered, never listed.

A judge reads the same story as it is and changed; what its answers differ by, the change has done. No Django model is
known here: a kind takes a text and gives a text.
"""

import random
from functools import cache

from django.utils.translation import gettext as _

from judges.interventions.base import Intervention
from studies.discovery import find_classes

__all__ = ["Intervention", "UnknownIntervention", "all_interventions", "find_intervention"]


class UnknownIntervention(ValueError):
    """No file defines an intervention of that slug; the message names those there are."""


@cache
def all_interventions() -> dict[str, Intervention]:
    """Every intervention by its slug, in alphabetical order. Raises TypeError if two share a slug."""
    return {slug: kind() for slug, kind in find_classes(__name__, Intervention, key="slug").items()}


def find_intervention(slug: str) -> Intervention:
    """The intervention of that slug. Raises UnknownIntervention."""
    try:
        return all_interventions()[slug]
    except KeyError:
        message = _("“%(slug)s” is not an intervention; there are: %(slugs)s")
        raise UnknownIntervention(message % {"slug": slug, "slugs": ", ".join(all_interventions())}) from None


def alter(kind: Intervention, text: str, *, seed: int, code: str) -> str:
    """The text with the change, the same for the same story of the same study whenever it is asked for.

    seed : of the study; code : of the story
    """
    return kind.apply(text, random.Random(f"{seed} {kind.name} {code}"))  # noqa: S311 - of no secret


def find_of_reading(name: str) -> Intervention | None:
    """The intervention with which a reading is marked, whatever its version; None if no file defines it any more."""
    return all_interventions().get(name.rpartition("-")[0])
