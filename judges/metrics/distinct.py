"""How many of a text's words, and pairs of words, are different ones (Li et al. 2016)."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from django.utils.translation import gettext_noop

from judges import reasons
from judges.metrics.base import Metric, NoValue
from studies.documents.instrument import ItemDocument
from studies.typography.word_boundaries import split_words

SHARE = {"low": 0, "high": 1}


class Distinct(Metric):
    """Distinct-1 and Distinct-2: different words, and pairs of neighbouring words, divided by all of them.

    Words as `split_words` has them. Both fall with a text's length, so texts of different lengths are not comparable by
    them: see type-token-ratio.
    """

    slug = "distinct"
    version = "2"  # 1 took a word with another hyphen, or a soft one, for two
    title = gettext_noop("Distinct-1 and Distinct-2")
    citation = "Li et al. (2016). A diversity-promoting objective function for neural conversation models."
    items = (
        ItemDocument(
            key="distinct-1", type="number", question="What share of its words are different ones?", settings=SHARE
        ),
        ItemDocument(
            key="distinct-2",
            type="number",
            question="What share of its pairs of neighbouring words are different ones?",
            settings=SHARE,
        ),
    )

    def measure(self, text: str) -> Mapping[str, float | NoValue]:
        words = split_words(text)
        return {
            "distinct-1": _share(words) if words else NoValue(reasons.NO_TEXT_WORDS),
            "distinct-2": _share([*pairwise(words)]) if words[1:] else NoValue(reasons.ONE_WORD),
        }


def _share(parts: Sequence[Any]) -> float:
    return len(set(parts)) / len(parts)
