"""More words that say nothing."""

import random
import re

from django.utils.translation import gettext_lazy as _

from judges.interventions.base import Intervention

SHARE = 0.3  # of the story's words
SENTENCES = (
    "Time went on as it does.",
    "It was the way it was, and nothing about it was otherwise.",
    "A moment passed, and after it another moment passed.",
    "Things were where they were.",
    "There is not much more to be said about that.",
    "So it was, at that time and in that place.",
)


class Padding(Intervention):
    """Neutral sentences at the ends of paragraphs, spread over the whole text, until it is longer by `SHARE`."""

    slug = "padding"
    title = _("Padding")
    description = _("Neutral sentences after its paragraphs, until the story is longer by three tenths.")
    words = _("with three tenths more words that say nothing")
    is_english = True

    def apply(self, text: str, rng: random.Random) -> str:
        parts = re.split(r"(\n\s*\n)", text)  # paragraphs and, between them, what parts them
        places = [n for n, part in enumerate(parts) if n % 2 == 0 and part.strip()]
        if not places:
            return text
        n_missing, first, n = SHARE * len(text.split()), rng.randrange(len(SENTENCES)), 0
        added: dict[int, list[str]] = {place: [] for place in places}
        order = rng.sample(places, len(places))
        while n_missing > 0:
            sentence = SENTENCES[(first + n) % len(SENTENCES)]
            added[order[n % len(order)]].append(sentence)
            n_missing -= len(sentence.split())
            n += 1
        return "".join(" ".join([part.rstrip(), *added[n]]) if added.get(n) else part for n, part in enumerate(parts))
