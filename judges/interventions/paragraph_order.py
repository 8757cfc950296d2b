"""The same paragraphs in another order."""

import random
import re

from django.utils.translation import gettext_lazy as _

from judges.interventions.base import Intervention


class Reordering(Intervention):
    """Its paragraphs by chance; of a text in one paragraph, its lines. What is in one line stays as it is."""

    slug = "reordering"
    title = _("Reordered paragraphs")
    description = _("The story’s own paragraphs in an order drawn by chance.")
    words = _("with its paragraphs in an order drawn by chance")

    def apply(self, text: str, rng: random.Random) -> str:
        between = r"\n\s*\n" if re.search(r"\S\s*\n\s*\n\s*\S", text) else r"\n"
        paragraphs = [part.strip("\n") for part in re.split(between, text) if part.strip()]
        if len(set(paragraphs)) < 2:
            return text
        shuffled = rng.sample(paragraphs, len(paragraphs))
        while shuffled == paragraphs:
            shuffled = rng.sample(paragraphs, len(paragraphs))
        return ("\n" if between == r"\n" else "\n\n").join(shuffled)
