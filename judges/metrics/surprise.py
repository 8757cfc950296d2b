"""How far a text goes on otherwise than it began: one half under a language model of the other."""

from collections.abc import Mapping

from django.utils.translation import gettext_noop

from judges import reasons
from judges.metrics.base import Metric, NoValue
from studies.documents.instrument import ItemDocument
from studies.typography.word_boundaries import split_words

FEWEST_WORDS = 100


class SurpriseWithin(Metric):
    """Surprise within the text: mean negative log-likelihood a word, in nats, of each half under a model of the other.

    The model is a trigram model with interpolated Kneser–Ney smoothing (`stats.kneser_ney`), fitted on the words of the
    other half, and every word that does not stand there is one unknown word. High where the halves have few words and
    phrases in common. It knows nothing of the language, and says nothing of how likely the text is among others:
    that depends on the others, and is a figure of the report. Texts of fewer than 100 words have no value.
    """

    slug = "surprise-within"
    version = "2"  # 1 took a word with another hyphen, or a soft one, for two
    title = gettext_noop("Surprise within the text")
    items = (
        ItemDocument(
            key="nats",
            type="number",
            question="How unexpected is a word of one half, on average, to a model of the other half? (nats)",
            settings={"low": 0},
        ),
    )

    def measure(self, text: str) -> Mapping[str, float | NoValue]:
        import numpy as np

        from stats import kneser_ney

        words = split_words(text)
        if len(words) < FEWEST_WORDS:
            return {"nats": NoValue(reasons.TOO_FEW_WORDS % {"n": len(words), "least": FEWEST_WORDS})}
        middle = len(words) // 2
        halves = words[:middle], words[middle:]
        pairs = (halves, halves[::-1])
        likely = [kneser_ney.fit([other], least=1).probabilities(half) for half, other in pairs]
        return {"nats": float(-np.log(np.concatenate(likely)).mean())}
