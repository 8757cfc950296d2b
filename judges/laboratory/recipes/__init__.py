"""Recipes: how a model is brought to write a text, one file each, discovered, never listed.

A recipe says what is asked next, given all replies so far, or that the text is there, or that it gives up. It knows no
tables and sends nothing; what it asks is asked as calls of a run.
"""

from functools import cache

from django.utils.translation import gettext as _

from judges.laboratory.recipes.base import (
    MOST_CALLS_A_TEXT,
    Ask,
    Brief,
    Finished,
    GaveUp,
    Output,
    Recipe,
    Rounds,
    Step,
    count_words,
    rehearse,
)
from studies.discovery import find_classes

__all__ = [
    "MOST_CALLS_A_TEXT",
    "Ask",
    "Brief",
    "Finished",
    "GaveUp",
    "Output",
    "Recipe",
    "Rounds",
    "Step",
    "UnknownRecipe",
    "all_recipes",
    "count_words",
    "find_recipe",
    "find_writing",
    "rehearse",
]


class UnknownRecipe(ValueError):
    """No file defines a recipe of that name; the message names those there are."""


def find_writing() -> dict[str, Recipe]:
    """The recipes by which texts are written for a study in draft: all but those that other pages ask by."""
    return {slug: recipe for slug, recipe in all_recipes().items() if recipe.makes != "prompt"}


@cache
def all_recipes() -> dict[str, Recipe]:
    """Every recipe by its slug, in alphabetical order. Raises TypeError if two share a slug."""
    return {slug: kind() for slug, kind in find_classes(__name__, Recipe, key="slug").items()}


def find_recipe(slug: str) -> Recipe:
    """The recipe of that slug. Raises UnknownRecipe."""
    try:
        return all_recipes()[slug]
    except KeyError:
        message = _("“%(slug)s” is not a recipe; there are: %(slugs)s")
        raise UnknownRecipe(message % {"slug": slug, "slugs": ", ".join(find_writing())}) from None
