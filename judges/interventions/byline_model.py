"""A line that says that a language model wrote it."""

import random

from django.utils.translation import gettext_lazy as _

from judges.interventions.base import Intervention


class ModelByline(Intervention):
    """The same line for all stories, whoever wrote them."""

    slug = "byline-model"
    title = _("Byline: a language model")
    description = _("“Written by a large language model” in a line of its own on top.")
    words = _("with a line on top that names a language model as its author")
    is_english = True

    def apply(self, text: str, rng: random.Random) -> str:
        return f"Written by a large language model\n\n{text}" if text.strip() else text
