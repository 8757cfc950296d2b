"""How varied a text's words are, whatever its length: the moving-average type–token ratio (Covington & McFall 2010)."""

from collections import Counter
from collections.abc import Mapping

from django.utils.translation import gettext_noop

from judges import reasons
from judges.metrics.base import Metric, NoValue
from studies.documents.instrument import ItemDocument
from studies.typography.word_boundaries import split_words

WINDOW = 50


class TypeTokenRatio(Metric):
    """The share of different words among 50 that follow one another, averaged over all places where 50 begin.

    Words as `split_words` has them. A text with fewer than 50 has no value: over a shorter window it would be higher.
    """

    slug = "type-token-ratio"
    version = "2"  # 1 took a word with another hyphen, or a soft one, for two
    title = gettext_noop("Moving-average type–token ratio")
    citation = "Covington & McFall (2010). Cutting the Gordian knot: The moving-average type–token ratio (MATTR)."
    items = (
        ItemDocument(
            key="mattr-50",
            type="number",
            question="What share of 50 words in a row are different ones, on average?",
            settings={"low": 0, "high": 1},
        ),
    )

    def measure(self, text: str) -> Mapping[str, float | NoValue]:
        words = split_words(text)
        if len(words) < WINDOW:
            return {"mattr-50": NoValue(reasons.TOO_FEW_WORDS % {"n": len(words), "least": WINDOW})}
        counts = Counter(words[:WINDOW])
        n_types = len(counts)
        for first, last in zip(words, words[WINDOW:], strict=False):
            counts[last] += 1
            counts[first] -= 1
            if not counts[first]:
                del counts[first]
            n_types += len(counts)
        return {"mattr-50": n_types / WINDOW / (len(words) - WINDOW + 1)}
