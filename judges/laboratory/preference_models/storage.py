"""A fitted model as bytes, and read again: its weights, and which texts and prompts it has seen."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from judges.models import PreferenceModel
    from stats.arrays import FloatArray

ENOUGH_PAIRS = 1000  # below, such a model says little


class Altered(ValueError):
    """A stored model is not what it was when it was trained; the message says which."""


@dataclass(frozen=True)
class StoredPreference:
    """What a model knows.

    weights : of the embedding, shape (d,)
    reward_by_text : of every text that it was trained or tried on, by SHA-256
    training_texts, training_prompts : by SHA-256, of folded prompts; what stands in them it must not judge
    """

    weights: FloatArray
    reward_by_text: dict[bytes, float]
    training_texts: frozenset[bytes]
    training_prompts: frozenset[bytes]


def digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def pack(
    weights: FloatArray,
    rewards: FloatArray,
    texts: Sequence[str],
    *,
    trained_on: Collection[int],
    prompts: Collection[str],
) -> bytes:
    """The model as bytes. trained_on : places of texts; prompts : folded, without empty ones"""
    import numpy as np

    file = io.BytesIO()
    np.savez_compressed(
        file,
        weights=weights,
        rewards=rewards,
        texts=_stack([digest(text) for text in texts]),
        trained_on=np.isin(np.arange(len(texts)), list(trained_on)),
        prompts=_stack([digest(prompt) for prompt in sorted(set(prompts))]),
    )
    return file.getvalue()


def _stack(digests: Sequence[bytes]) -> npt.NDArray[np.uint8]:
    import numpy as np

    return np.frombuffer(b"".join(digests), dtype=np.uint8).reshape(-1, 32)


def unpack(model: PreferenceModel) -> StoredPreference:
    """The stored model. Raises Altered if content or card are not what its hash was taken of."""
    if model.fingerprint() != model.sha256:
        message = _("The model “%(model)s” is not what it was when it was trained: its hash differs. Train it again.")
        raise Altered(message % {"model": model.slug})
    import numpy as np

    with np.load(io.BytesIO(bytes(model.content)), allow_pickle=False) as arrays:
        texts = [row.tobytes() for row in arrays["texts"]]
        return StoredPreference(
            weights=arrays["weights"],
            reward_by_text=dict(zip(texts, arrays["rewards"].tolist(), strict=True)),
            training_texts=frozenset(text for text, is_one in zip(texts, arrays["trained_on"], strict=True) if is_one),
            training_prompts=frozenset(row.tobytes() for row in arrays["prompts"]),
        )
