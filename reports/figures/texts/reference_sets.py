"""What figures about stories beside a reference set say alike of the set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import ngettext

from reports.document import columns
from reports.document.model import TableColumn, TextBlock
from reports.document.values import Reason

if TYPE_CHECKING:
    from reports.dataset.records.references import References


@dataclass(frozen=True, kw_only=True)
class AboutSet:
    """A reference set, by its name and the corpus that it was stored from.

    n_references : whose texts are here; n_gone : whose are not, or have changed
    why : nothing could be compared
    """

    name: str
    corpus: str
    sha256: str
    n_references: int
    n_gone: int
    why: Reason | None


def set_fields(references: References) -> dict[str, Any]:
    """The fields of `AboutSet` but the reason."""
    about, material = references.about, references.material
    return {
        "name": about.name,
        "corpus": about.corpus.slug,
        "sha256": about.sha256,
        "n_references": len(material.texts),
        "n_gone": material.n_gone,
    }


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
