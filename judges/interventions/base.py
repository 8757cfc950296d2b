"""What an intervention is: a function from a text to the same story in another dress."""

from __future__ import annotations

import random
from typing import ClassVar

from django.utils.functional import Promise


class Intervention:
    """One kind of change. Subclasses are discovered; one instance of each serves all studies.

    A subclass gives `slug`, `version`, `title`, `description` and `apply`, and raises the version whenever the same
    text could come out otherwise. A text in which there is nothing to change comes back as it is, and is not asked
    about.
    """

    slug: ClassVar[str]
    version: ClassVar[int] = 1
    title: ClassVar[str | Promise]
    description: ClassVar[str | Promise]
    words: ClassVar[str | Promise]  # of the change, as a sentence about a judge begins: "with a sentence that …"
    # Whether it adds words of English, which would be a second change in a story in another language.
    is_english: ClassVar[bool] = False

    def apply(self, text: str, rng: random.Random) -> str:
        """The changed text. Depends on the text and the chance alone."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """Slug and version, as a reading is marked with it."""
        return f"{self.slug}-{self.version}"
