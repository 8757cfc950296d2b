"""Texts by the meaning of their words, by the vectors that come in the package wordllama: offline, without a model."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from judges.laboratory.embeddings.base import CannotEmbed, Embedding

if TYPE_CHECKING:
    from stats.arrays import FloatArray

RULE = "1"  # raised whenever a text could get another vector by the same files
PACKAGE = "wordllama"
WEIGHTS, TOKENIZER = "weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json"


class WordVectors(NamedTuple):
    """tokenizer : cuts a text into tokens; rows : a vector for each, shape (tokens, 256)"""

    tokenizer: Any
    rows: FloatArray


class WordLlama(Embedding):
    """The mean of the vectors of all tokens of a text (256 numbers), as the package's own code makes it.

    Of the package only the two files are read: its code would set up the logs of the whole process, and would download
    the file of the tokenizer, which it looks for in another folder than it has. The vectors were trained for it from
    those of large models; words of one meaning lie together, in English above all. Order plays no part.
    """

    kind = "wordllama"
    takes_model = False
    rests_on = gettext_lazy("on the meaning of words, in any order")

    @classmethod
    def is_installed(cls) -> bool:
        return _find_folder() is not None

    @property
    def version(self) -> str:
        """Of the rule, the package and its two files. Raises CannotEmbed."""
        return f"{RULE}+{metadata.version(PACKAGE)}+{_fingerprint(_require_folder())}"

    def embed(self, texts: Sequence[str]) -> FloatArray:
        import numpy as np

        vectors = _load(_require_folder())
        encoded = [vectors.tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
        return np.stack([vectors.rows[ids].mean(axis=0, dtype=np.float64) for ids in encoded])


def _find_folder() -> Path | None:
    """Where the package is; None unless both files are in it. Imports nothing of it."""
    spec = find_spec(PACKAGE)
    folders = [] if spec is None else map(Path, spec.submodule_search_locations or ())
    return next((folder for folder in folders if all((folder / file).is_file() for file in (WEIGHTS, TOKENIZER))), None)


def _require_folder() -> Path:
    """Where the package is. Raises CannotEmbed."""
    if (folder := _find_folder()) is None:
        message = _("wordllama is not installed; install it where judges run, with: pip install -e '.[word-vectors]'")
        raise CannotEmbed(message)
    return folder


@cache
def _fingerprint(folder: Path) -> str:
    digest = hashlib.sha256()
    for file in (WEIGHTS, TOKENIZER):
        digest.update(hashlib.sha256((folder / file).read_bytes()).digest())
    return digest.hexdigest()[:16]


@cache
def _load(folder: Path) -> WordVectors:
    """The files, read once per process."""
    from safetensors import safe_open
    from tokenizers import Tokenizer

    with safe_open(folder / WEIGHTS, framework="np") as weights:
        rows = weights.get_tensor("embedding.weight")
    return WordVectors(Tokenizer.from_file(str(folder / TOKENIZER)), rows)
