"""What the page of an instrument says of a question in a few words, and of each of its scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from studies.items import find_type
from studies.models import Instrument, Item
from studies.protocol.score_words import score_words


@dataclass(frozen=True)
class InstrumentScore:
    """A score that an instrument declares. words : what it is made of"""

    key: str
    title: str
    words: str


def score_rows(instrument: Instrument, items: Sequence[Item]) -> list[InstrumentScore]:
    title_by_item = {item.key: str(item) for item in items}
    return [
        InstrumentScore(score.key, score.title, score_words(score, title_by_item))
        for score in instrument.score_documents
    ]


def summarise_item(item: Item) -> str:
    """How the question is answered, in a few words."""
    kind = find_type(item.type)
    reasons = {"none": "", "optional": _("reasons may be given"), "required": _("reasons needed")}
    return " · ".join(filter(None, [str(kind.title), kind.describe(item), reasons[item.rationale]]))
