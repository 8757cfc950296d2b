"""What an embedding is: a vector for every text, so that texts of one meaning lie close together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studies import hashing
from studies.typography.paragraphs import split_paragraphs
from studies.typography.word_boundaries import split_words

if TYPE_CHECKING:
    from stats.arrays import FloatArray
    from studies.models import Study

# What every chunk of a long text holds at most. Sentence encoders read about 256 tokens and drop what comes after.
CHUNK_WORDS = 180
# Texts that are embedded before anything is kept: what was made stays where a later text fails.
AT_ONCE = 32


class CannotEmbed(ValueError):
    """There are no vectors for these texts as things stand; the message says why and what would do."""


class EmptyText(CannotEmbed):
    """One of the texts has no words, so that it has no direction. number : which, from 1"""

    def __init__(self, number: int, n_texts: int) -> None:
        message = _("text %(number)s of %(n)s has no words; leave it out")
        super().__init__(message % {"number": number, "n": n_texts})
        self.number = number


class SizesDiffer(CannotEmbed):
    """Vectors of one embedding have different sizes, so that they cannot be compared."""

    def __init__(self, name: str, sizes: Sequence[int]) -> None:
        message = _(
            "%(name)s gave vectors of %(sizes)s numbers; they cannot be compared. If the model changed under its name, "
            "give it another name"
        )
        super().__init__(message % {"name": name, "sizes": ", ".join(map(str, sorted(set(sizes))))})


@dataclass(frozen=True)
class Occasion:
    """For which study texts are embedded, in whose runs the requests stand, and who asks for it."""

    study: Study
    by: str


class Embedding:
    """One embedding, ready to be used. Subclasses are discovered; `find_embedding` makes one by its name.

    A subclass gives `kind`, `version` and `embed`. A library that takes long to import is imported in `embed` and not
    before.

    model : which model of the kind; "" where a kind has none
    may_send_out : whether texts that are no stories of any study may leave the house
    occasion : for which study, and who asks; a remote embedding sends nothing without one
    """

    kind: ClassVar[str]
    # Whether a text's vector depends on the other texts, too: such vectors are never kept.
    is_fitted: ClassVar[bool] = False
    # Whether the vectors that are there are all that can be had without sending a text anywhere.
    is_remote: ClassVar[bool] = False
    takes_model: ClassVar[bool] = True
    # By what texts lie close to each other, as a report says it after the name.
    rests_on: ClassVar[Promise | str] = gettext_lazy("on the meaning of passages")

    def __init__(self, model: str = "", *, may_send_out: bool = False, occasion: Occasion | None = None) -> None:
        self.model, self.may_send_out, self.occasion = model, may_send_out, occasion

    @classmethod
    def is_installed(cls) -> bool:
        """Whether the library that it takes is there, where it takes one that Quire does not need itself."""
        return True

    @property
    def name(self) -> str:
        """The kind, and the model if the kind takes one, as `find_embedding` reads it."""
        return f"{self.kind}:{self.model}" if self.model else self.kind

    @property
    def version(self) -> str:
        """What changes whenever the same text could get another vector. Raises CannotEmbed if nobody can say."""
        raise NotImplementedError

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """A vector for every text, shape (n, d), of any length. None of the texts is empty. Raises CannotEmbed.

        Not of a remote embedding: it has vectors made and kept by `fetch`.
        """
        raise NotImplementedError

    def fetch(self, texts: Sequence[str]) -> None:
        """Of a remote embedding: have the vectors of these texts made, and kept. Raises CannotEmbed."""
        raise NotImplementedError

    def vectors(self, texts: Sequence[str]) -> FloatArray:
        """The texts as unit vectors, shape (n, d), n at least 1. Raises CannotEmbed.

        Unless fitted it touches the database: a vector that was kept is read; what is missing is made, of a remote
        embedding over the network and never in an event loop, and kept.
        """
        check_texts(texts)
        if self.is_fitted:
            return as_unit_rows(self.embed(texts), name=self.name, n=len(texts))
        return self._read_or_make(texts)

    def find_missing(self, texts: Sequence[str]) -> list[str]:
        """The texts whose vector is not kept, in their order. Raises CannotEmbed if the embedding has no version."""
        from judges.laboratory import kept_vectors

        text_by_hash = {hashing.sha256(text): text for text in texts}
        rows = kept_vectors.read(self.name, self.version, list(text_by_hash))
        return [text for sha, text in text_by_hash.items() if sha not in rows]

    def _read_or_make(self, texts: Sequence[str]) -> FloatArray:
        """The texts as unit vectors, shape (n, d). Raises CannotEmbed; what was made before that is kept."""
        import numpy as np

        from judges.laboratory import kept_vectors  # here, since numpy comes with it

        text_by_hash = {hashing.sha256(text): text for text in texts}
        rows = kept_vectors.read(self.name, self.version, list(text_by_hash))
        missing = [sha for sha in text_by_hash if sha not in rows]
        if missing and self.is_remote:
            rows |= self._fetch_missing({sha: text_by_hash[sha] for sha in missing})
            missing = []
        for start in range(0, len(missing), AT_ONCE):
            hashes = missing[start : start + AT_ONCE]
            made = as_unit_rows(self.embed([text_by_hash[sha] for sha in hashes]), name=self.name, n=len(hashes))
            batch = dict(zip(hashes, made.astype(kept_vectors.STORED), strict=True))
            rows |= batch
            self._check_sizes(rows)
            kept_vectors.keep(self.name, self.version, batch)
        self._check_sizes(rows)
        stacked = np.stack([rows[hashing.sha256(text)] for text in texts])
        return as_unit_rows(stacked.astype(np.float64), name=self.name, n=len(texts))

    def _fetch_missing(self, text_by_hash: Mapping[str, str]) -> dict[str, FloatArray]:
        """The vectors of these texts, made and kept by a remote embedding. Raises CannotEmbed."""
        from judges.laboratory import kept_vectors

        rows: dict[str, FloatArray] = {}
        for _time in range(2):  # the first may go on with a run that was broken off, and that asked for other texts
            self.fetch([text for sha, text in text_by_hash.items() if sha not in rows])
            rows |= kept_vectors.read(self.name, self.version, list(text_by_hash))
            if len(rows) == len(text_by_hash):
                return rows
        message = _("%(name)s: %(n)s texts have no vector, since they were changed or erased meanwhile; ask again")
        raise CannotEmbed(message % {"name": self.name, "n": len(text_by_hash) - len(rows)})

    def _check_sizes(self, rows: Mapping[str, FloatArray]) -> None:
        sizes = {len(row) for row in rows.values()}
        if len(sizes) > 1:
            raise SizesDiffer(self.name, sorted(sizes))


def check_texts(texts: Sequence[str]) -> None:
    """Raise CannotEmbed if there are no texts, EmptyText if one has no words."""
    if not texts:
        raise CannotEmbed(_("there are no texts to embed"))
    for number, text in enumerate(texts, 1):
        if not split_words(text):
            raise EmptyText(number, len(texts))


def as_unit_rows(rows: FloatArray, *, name: str, n: int) -> FloatArray:
    """The rows scaled to length 1. Raises CannotEmbed unless they are n rows of finite numbers, none of them zero."""
    import numpy as np

    array = np.asarray(rows, dtype=np.float64)
    if array.ndim != 2 or len(array) != n or array.shape[1] == 0:
        message = _("%(name)s gave an array of shape %(shape)s for %(n)s texts")
        raise CannotEmbed(message % {"name": name, "shape": array.shape, "n": n})
    lengths = np.linalg.norm(array, axis=1)
    wrong = np.flatnonzero(~np.isfinite(lengths) | (lengths == 0))
    if len(wrong):
        message = _("%(name)s gave text %(number)s of %(n)s a vector without a direction")
        raise CannotEmbed(message % {"name": name, "number": int(wrong[0]) + 1, "n": n})
    return np.asarray(array / lengths[:, None], dtype=np.float64)


def split_chunks(text: str, *, most: int = CHUNK_WORDS) -> list[str]:
    """The text in chunks of at most so many words: paragraphs packed together in their order.

    A paragraph that is longer by itself is cut between its spaces; what has more words between two spaces, as in a
    language without spaces, is cut between characters.
    """
    chunks: list[str] = []
    n_last = most
    for paragraph in split_paragraphs(text) or [text]:
        for piece in _cut(paragraph, most):
            n = len(split_words(piece))
            if n_last + n <= most:
                chunks[-1], n_last = f"{chunks[-1]}\n\n{piece}", n_last + n
            elif n:
                chunks.append(piece)
                n_last = n
    return chunks


def _cut(paragraph: str, most: int) -> Iterator[str]:
    """The paragraph in pieces of at most so many words."""
    if len(split_words(paragraph)) <= most:
        yield paragraph
        return
    piece: list[str] = []
    n_words = 0
    for part in _parts(paragraph, most):
        n = len(split_words(part))
        if piece and n_words + n > most:
            yield " ".join(piece)
            piece, n_words = [], 0
        piece.append(part)
        n_words += n
    yield " ".join(piece)


def _parts(paragraph: str, most: int) -> Iterator[str]:
    """What stands between spaces; where that has too many words, so many characters of it at a time."""
    for part in paragraph.split():
        is_short = len(split_words(part)) <= most
        yield from [part] if is_short else (part[i : i + most] for i in range(0, len(part), most))
