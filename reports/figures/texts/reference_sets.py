"""What figures about stories beside a reference set say alike of the set."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from django.utils.translation import ngettext

from reports.document import columns
from reports.document.model import TableColumn, TextBlock


class AboutSet(Protocol):
    """n_references : whose texts are here; n_gone : whose are not, or have changed"""

    @property
    def name(self) -> str: ...
    @property
    def corpus(self) -> str: ...
    @property
    def sha256(self) -> str: ...
    @property
    def n_references(self) -> int: ...
    @property
    def n_gone(self) -> int: ...


def set_columns(about: AboutSet) -> list[TableColumn[Any]]:
    """Which set a row is about, in the file alone."""
    return [
        columns.constants(reference_set=about.name, stories_of=about.corpus, sha256=about.sha256),
        columns.constants(n_references=about.n_references),
    ]


def gone(about: AboutSet) -> Iterator[TextBlock]:
    """How many stories of the set are no longer what they were; nothing if all are."""
    if about.n_gone:
        counted = ngettext(
            "%(n)s story of the set was erased or changed since.",
            "%(n)s stories of the set were erased or changed since.",
            about.n_gone,
        )
        yield TextBlock(words=counted % {"n": about.n_gone})
