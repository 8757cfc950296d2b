"""How figures about judges beside people describe themselves: statistics, what judges lost, notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from django.utils.functional import Promise

from reports.document.model import Block, DocumentSection, Files, Head, TextBlock
from reports.figures.base import Listing
from reports.figures.judges.scores import WithScores
from reports.figures.judges.tables import losses, statistics, statistics_file

R = TypeVar("R", bound=WithScores)


class JudgesBesidePeople(Generic[R]):
    """What a figure about judges does that has their scores: it gives the words, and how it computes.

    No figure itself, so that none is found here; a figure inherits from it first.

    tables : the file of statistics, and that of losses
    caption : what judges are held against; every : what is in the first file; lost : what is missing in the second
    """

    key: ClassVar[str]
    title: ClassVar[Any]
    tables: ClassVar[tuple[str, ...]]
    is_shown_sealed: ClassVar[bool] = False
    caption: ClassVar[Promise]
    every: ClassVar[Promise]
    lost: ClassVar[Promise]

    def describe(self, result: Listing[R], head: Head) -> Iterator[DocumentSection]:
        of_scores, of_losses = self.tables
        yield DocumentSection(
            heading=self.title,
            body=[
                *self.draw(result.rows, head),
                *self.tabulate(result.rows, head, label=self.title, caption=self.caption),
                statistics_file(of_scores, result.rows),
                Files(words=self.every, table=of_scores),
                *losses(of_losses, result.rows, caption=self.lost),
            ],
            margin=self.list_notes(),
        )

    tabulate = staticmethod(statistics)

    def draw(self, judges: Sequence[R], head: Head) -> list[Block]:
        """The plots above the tables."""
        return []

    def list_notes(self) -> list[TextBlock]:
        """What stands in the margin."""
        raise NotImplementedError(self.key)
