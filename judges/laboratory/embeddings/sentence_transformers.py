"""Sentence encoders on this machine, by the library sentence-transformers, which is an extra of its own (3 GB)."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from judges.laboratory.embeddings.base import CannotEmbed, Embedding, split_chunks
from judges.providers import mean_of_chunks

if TYPE_CHECKING:
    from stats.arrays import FloatArray

RULE = "1"  # raised whenever chunks or their mean are made otherwise


class SentenceTransformers(Embedding):
    """A model that is on this machine: the path of its folder, or a name that the library finds in its own cache.

    Nothing is ever downloaded. A text is cut into chunks of at most 180 words (`split_chunks`), since such models read
    about 256 tokens and drop the rest; its vector is the mean of the chunks' unit vectors, of length 1 again.
    """

    kind = "sentence-transformers"

    @classmethod
    def is_installed(cls) -> bool:
        return find_spec("sentence_transformers") is not None

    @property
    def version(self) -> str:
        """Of the rule, the library and the model's files."""
        return f"{RULE}+{_find_library()}+{_fingerprint(self.model)}"

    def embed(self, texts: Sequence[str]) -> FloatArray:
        import numpy as np

        encoder = _load(self.model)
        chunks = [split_chunks(text) for text in texts]
        rows = encoder.encode([chunk for parts in chunks for chunk in parts], show_progress_bar=False)
        return mean_of_chunks(np.asarray(rows, dtype=np.float64), [len(parts) for parts in chunks])


def _find_library() -> str:
    """The library's version. Raises CannotEmbed if it is not installed."""
    try:
        return metadata.version("sentence-transformers")
    except metadata.PackageNotFoundError:
        message = _(
            "sentence-transformers is not installed; install it where judges run, with: pip install -e '.[embeddings]'"
        )
        raise CannotEmbed(message) from None


@cache
def _load(model: str) -> Any:
    """The model, loaded once per process. Raises CannotEmbed."""
    _find_library()
    from sentence_transformers import SentenceTransformer

    try:
        return SentenceTransformer(model, local_files_only=True)
    except Exception as error:  # a file that is cut off raises what its format's own reader raises
        raise _no_model(model, str(error)) from None


def _no_model(model: str, reason: str) -> CannotEmbed:
    message = _(
        "there is no model “%(model)s” on this machine (%(error)s); give the path of its folder, or download it "
        "once with: python -c \"from sentence_transformers import SentenceTransformer as S; S('%(model)s')\""
    )
    first_sentence = " ".join(reason.split()).partition(". ")[0]
    return CannotEmbed(message % {"model": model, "error": first_sentence[:200]})


@cache
def _fingerprint(model: str) -> str:
    """What tells this model from another of its name: of a folder its files, else its commit. Raises CannotEmbed."""
    folder = Path(model)
    if not folder.is_dir():
        return _find_commit(model)[:16]
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(path.relative_to(folder).as_posix().encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


def _find_commit(model: str) -> str:
    """The commit of a model in the library's cache, which is the name of its folder there."""
    from huggingface_hub import try_to_load_from_cache

    cache_folder = os.environ.get("SENTENCE_TRANSFORMERS_HOME")
    # The library takes a name without an owner for one of its own models, too.
    for repository in (model, f"sentence-transformers/{model}"):
        for file in ("modules.json", "config.json"):
            try:
                path = try_to_load_from_cache(repository, file, cache_dir=cache_folder)
            except ValueError:  # no name of a repository, but a path of more parts
                continue
            if isinstance(path, str):
                return Path(path).parent.name
    raise _no_model(model, _("nothing of that name is in the library’s cache"))
