"""A change of a test."""

import random

from judges.interventions.base import Intervention


class Whisper(Intervention):
    slug = "whisper"
    title = "All in small letters"
    description = "Every letter small."
    words = "in small letters"

    def apply(self, text: str, rng: random.Random) -> str:
        return text.lower()
