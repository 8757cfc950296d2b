"""Embeddings: one file a kind, discovered, never listed.

An embedding is named by its kind, and its model where it takes one: `wordllama`, `tfidf-svd`,
`sentence-transformers:MODEL`, `endpoint:ENDPOINT/MODEL`. Different embeddings are different measurements: what is
computed from vectors says whose.
"""

from functools import cache

from django.utils.translation import gettext as _

from judges.laboratory.embeddings.base import CannotEmbed, Embedding, EmptyText, Occasion, SizesDiffer
from studies.discovery import find_classes

__all__ = [
    "OFFLINE",
    "CannotEmbed",
    "Embedding",
    "EmptyText",
    "Occasion",
    "SizesDiffer",
    "UnknownEmbedding",
    "all_kinds",
    "explain",
    "find_embedding",
    "first_offered",
    "list_local",
]

# Needs nothing but what is installed.
OFFLINE = "tfidf-svd"
# By the meaning of words, where its package is there.
OF_WORDS = "wordllama"


class UnknownEmbedding(CannotEmbed):
    """No file defines an embedding of that kind, or its name says no model; the message names those there are."""


@cache
def all_kinds() -> dict[str, type[Embedding]]:
    """Every kind of embedding by its name, in alphabetical order. Raises TypeError if two share one."""
    return find_classes(__name__, Embedding, key="kind")


def list_local() -> list[str]:
    """The embeddings that this machine makes without a model of one's own: of the meaning of words first, if it can."""
    return [name for name in (OF_WORDS, OFFLINE) if all_kinds()[name].is_installed()]


def first_offered() -> str:
    """The first of them."""
    return list_local()[0]


def explain(name: str) -> str:
    """The name with what such an embedding rests on: “tfidf-svd, on shared words”; of a kind that is gone the name."""
    kind = all_kinds().get(name.partition(":")[0])
    return f"{name}, {kind.rests_on}" if kind else name


def find_embedding(name: str, *, may_send_out: bool = False, occasion: Occasion | None = None) -> Embedding:
    """The embedding of that name. Raises UnknownEmbedding. Loads no model and sends nothing yet.

    may_send_out : whoever asks has the right to send texts that are no stories of any study to an outside provider;
        a story goes there only if its provenance says so, whatever stands here
    occasion : for which study, and who asks; without it nothing is sent, and only vectors that are kept are there
    """
    slug, _colon, model = name.partition(":")
    kinds = all_kinds()
    if slug not in kinds:
        message = _("“%(name)s” is not an embedding; there are: %(kinds)s")
        raise UnknownEmbedding(message % {"name": name, "kinds": ", ".join(kinds)})
    if kinds[slug].takes_model != bool(model):
        message = _("“%(name)s” does not name its model: write “%(kind)s:MODEL”")
        if model:
            message = _("“%(name)s” names a model, and %(kind)s has none: write “%(kind)s”")
        raise UnknownEmbedding(message % {"name": name, "kind": slug})
    return kinds[slug](model, may_send_out=may_send_out, occasion=occasion)
