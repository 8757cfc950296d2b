"""Another title on top."""

import random

from django.utils.translation import gettext_lazy as _

from judges.interventions.base import Intervention

TITLES = ("What the Water Kept", "A Short History of Leaving", "The Weight of Small Rooms", "Nobody’s Orchard")


class Title(Intervention):
    """A literary title in a line of its own before the first."""

    slug = "title"
    title = _("Another title")
    description = _("A title that could stand over any story, in a line of its own on top.")
    words = _("with another title on top")
    is_english = True

    def apply(self, text: str, rng: random.Random) -> str:
        return f"{rng.choice(TITLES)}\n\n{text}" if text.strip() else text
