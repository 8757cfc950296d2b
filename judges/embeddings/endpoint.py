"""Embeddings of an endpoint's model, asked over the network under all the guards that calls of judges have."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from judges.embeddings.base import CannotEmbed, Embedding, SizesDiffer, mean_of_chunks, split_chunks
from judges.endpoints import connections
from judges.models import Endpoint
from judges.providers import CallFailed, CannotConnect, VectorReply, is_same_model
from studies import hashing, licences

if TYPE_CHECKING:
    from stats.arrays import FloatArray

RULE = "1"  # raised whenever chunks or their mean are made otherwise
# More than encoders of sentences read at once, and within what the smallest of those that are sold do (2,048 tokens).
CHUNK_WORDS = 800
CHUNKS_A_REQUEST = 32


class EndpointEmbedding(Embedding):
    """A model of an endpoint that takes embeddings (OpenAI-compatible), named ENDPOINT/MODEL.

    A text is cut into chunks of at most 800 words (`split_chunks`); its vector is the mean of the chunks' unit vectors,
    of length 1 again. To an outside endpoint goes only what may: a text whose stories all are marked so, in whichever
    studies it stands; or one of no story, if `may_send_out`. Requests go one after the other and are not repeated; what
    came back stays, so that asking again goes on.
    """

    kind = "endpoint"
    is_remote = True

    @property
    def version(self) -> str:
        return RULE

    def embed(self, texts: Sequence[str]) -> FloatArray:
        endpoint, model = self._find_endpoint()
        if endpoint.is_outside:
            self._check_sendable(texts, endpoint)
        chunks = [split_chunks(text, most=CHUNK_WORDS) for text in texts]
        rows = asyncio.run(self._ask(endpoint, model, [chunk for parts in chunks for chunk in parts]))
        return mean_of_chunks(rows, [len(parts) for parts in chunks])

    def _find_endpoint(self) -> tuple[Endpoint, str]:
        """The endpoint and the model's name there. Raises CannotEmbed if there is none, or it is not allowed."""
        name, _slash, model = self.model.partition("/")
        endpoint = Endpoint.objects.filter(name=name).first()
        if endpoint is None or not model:
            message = _(
                "“%(name)s” names no endpoint with a model: write endpoint:ENDPOINT/MODEL; there are: %(names)s"
            )
            names = ", ".join(Endpoint.objects.values_list("name", flat=True)) or "–"
            raise CannotEmbed(message % {"name": self.name, "names": names})
        if not endpoint.is_allowed:
            message = _("%(name)s: an administrator has not allowed the endpoint %(endpoint)s")
            raise CannotEmbed(message % {"name": self.name, "endpoint": endpoint.name})
        return endpoint, model

    def _check_sendable(self, texts: Sequence[str], endpoint: Endpoint) -> None:
        hashes = {hashing.sha256(text) for text in texts}
        leave = licences.find_leave(hashes)
        n_refused = sum(not leave.get(sha, self.may_send_out) for sha in hashes)
        if n_refused:
            message = ngettext(
                "%(n)d text is not marked as free to be sent to an outside provider, which %(endpoint)s is; release it "
                "in its study, or use another embedding",
                "%(n)d texts are not marked as free to be sent to an outside provider, which %(endpoint)s is; release "
                "them in their studies, or use another embedding",
                n_refused,
            )
            raise CannotEmbed(message % {"n": n_refused, "endpoint": endpoint.name})

    async def _ask(self, endpoint: Endpoint, model: str, chunks: Sequence[str]) -> FloatArray:
        """A vector for every chunk, shape (chunks, d). Raises CannotEmbed."""
        import numpy as np

        rows: list[list[float]] = []
        try:
            client = connections.connect_vectors(endpoint)
            try:
                for start in range(0, len(chunks), CHUNKS_A_REQUEST):
                    reply = await client.embed(model, chunks[start : start + CHUNKS_A_REQUEST])
                    self._check_model(model, reply)
                    rows += reply.rows
            finally:
                await client.close()
        except (CannotConnect, CallFailed) as error:
            message = _("%(name)s: %(what)s %(way_out)s (%(reason)s)")
            names = {"name": self.name, "what": error.kind.sentence, "way_out": error.kind.way_out, "reason": error}
            raise CannotEmbed(message % names) from None
        if len({len(row) for row in rows}) > 1:
            raise SizesDiffer(self.name, [len(row) for row in rows])
        return np.asarray(rows, dtype=np.float64)

    def _check_model(self, model: str, reply: VectorReply) -> None:
        if not is_same_model(model, reply.model):
            message = _("%(name)s: another model answered than was asked: %(model)s")
            raise CannotEmbed(message % {"name": self.name, "model": reply.model})
