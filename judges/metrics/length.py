"""How long a story is."""

from collections.abc import Mapping

from django.utils.translation import gettext_noop

from judges import reasons
from judges.metrics.base import Metric, NoValue
from studies.documents.instrument import ItemDocument
from studies.items.rationale import count_sentences
from studies.typography.paragraphs import number_paragraphs
from studies.typography.word_boundaries import is_unspaced

COUNT = {"low": 0, "integer": True}


class Length(Metric):
    """Words, sentences and paragraphs.

    words : runs of characters between spaces, as `Story.n_words` has them; none in scripts that set no spaces there
    sentences : within each paragraph, stretches with a letter or digit that end in . ! ? … (with closing quotes) before
        a space, in 。！？ ؟ ۔ । ॥ anywhere, or with the paragraph. “Stop!” she said. therefore counts as two, and so
        does e.g. this; a line break inside a paragraph ends none
    paragraphs : as the rater's page shows them: split at blank lines, or at every line break if there is no blank line;
        a line that only separates sections is none
    """

    slug = "length"
    version = "2"  # 1 counted a text without spaces as one word, and knew no stops of Arabic, Urdu or Hindi
    title = gettext_noop("Length")
    items = (
        ItemDocument(key="words", type="number", question="How many words does the story have?", settings=COUNT),
        ItemDocument(key="sentences", type="number", question="How many sentences does it have?", settings=COUNT),
        ItemDocument(key="paragraphs", type="number", question="How many paragraphs does it have?", settings=COUNT),
    )

    def measure(self, text: str) -> Mapping[str, float | NoValue]:
        blocks = [" ".join(paragraph.words.split()) for paragraph in number_paragraphs(text)]
        return {
            "words": NoValue(reasons.UNSPACED) if is_unspaced(text) else len(text.split()),
            "sentences": sum(count_sentences(block) for block in blocks),
            "paragraphs": len(blocks),
        }
