"""What a metric is: published questions with numbers for answers, and a function from a text to those numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import ClassVar

from studies.documents import instrument as documents
from studies.documents.instrument import InstrumentDocument, ItemDocument


@dataclass(frozen=True)
class NoValue:
    """Why an item has no value for a text, in English as it is kept."""

    reason: str


class Metric:
    """One metric. Subclasses are discovered; one instance of each serves all studies.

    A subclass gives `slug`, `version`, `title`, `items` and `measure`, and raises the version whenever the same text
    could get another value. A library that takes long to import is imported in `measure` and not before: pages and
    commands that list metrics need not wait for it.
    """

    slug: ClassVar[str]
    version: ClassVar[str]  # made of lower-case letters, digits and hyphens, since names are built from it
    title: ClassVar[str]
    citation: ClassVar[str] = ""
    # What is measured: numbers, by key.
    items: ClassVar[tuple[ItemDocument, ...]]

    def measure(self, text: str) -> Mapping[str, float | NoValue]:
        """The value of every item by its key, or why it has none. Depends on the text alone."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """Slug and version, as its judge and its rater are called."""
        return f"{self.slug}-{self.version}"

    @property
    def step_key(self) -> str:
        """The key of the step that holds its values."""
        return f"metric-{self.name}"

    @property
    def instrument(self) -> InstrumentDocument:
        """Its items as the instrument that they are published as. Raises DocumentError if they cannot be."""
        table = {
            "slug": f"metric-{self.slug}",
            "version": self.version,
            "title": self.title,
            "citation": self.citation,
            "items": [asdict(item) for item in self.items],
        }
        return documents.parse_instrument(table, f"{self.slug}.py")
