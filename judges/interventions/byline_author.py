"""A celebrated author's name over the story."""

import random

from django.utils.translation import gettext_lazy as _

from judges.interventions.base import Intervention


class AuthorByline(Intervention):
    """One name for all stories, so that its effect is one."""

    slug = "byline-author"
    title = _("Byline: a celebrated author")
    description = _("“By Alice Munro” in a line of its own on top.")
    words = _("with a celebrated author’s name on top")
    is_english = True

    def apply(self, text: str, rng: random.Random) -> str:
        return f"By Alice Munro\n\n{text}" if text.strip() else text
