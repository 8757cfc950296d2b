"""The words a text begins with, in one line, by which a reader knows again which of several it is."""

from django.utils.text import Truncator

from studies.typography.paragraphs import number_paragraphs

N_WORDS = 9
N_CHARACTERS = 90  # more than nine words have, unless the language sets no spaces between them


def opening_words(text: str) -> str:
    """The first nine words of the text, and an ellipsis if it goes on. A slash, counted as one, stands
    where a line of verse ends."""
    parts: list[str] = []
    n_words = 0
    for paragraph in number_paragraphs(text):
        lines = paragraph.words.splitlines() if paragraph.keeps_lines else [paragraph.words]
        parts.append(" / ".join(" ".join(line.split()) for line in lines if line.strip()))
        n_words += len(parts[-1].split())
        if n_words > N_WORDS:
            break
    return Truncator(Truncator(" ".join(parts)).words(N_WORDS, truncate=" …")).chars(N_CHARACTERS, truncate="…")
