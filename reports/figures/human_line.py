"""How a judge agrees with the experts, beside how one of the experts does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy

from reports.dataset.judged import judged
from reports.figures.base import (
    N_RESAMPLES,
    Estimate,
    Figure,
    Interval,
    Listing,
    Reason,
    Row,
    note_of,
    weakest_note,
)
from reports.lazy import arrays, human_line, np
from reports.numbers import coefficient, coefficients
from reports.reasons import to_english
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from stats.human_line import Against

SALT = 23  # of the seed


@dataclass(frozen=True, kw_only=True)
class Side(Estimate):
    interval: Interval


@dataclass(frozen=True, kw_only=True)
class JudgeLine:
    """One judge and an expert in the same place.

    kind : "verdicts", "choices" or "scales"; part : "all", or "models" for models' stories alone
    difference : judge less expert
    """

    judge: str
    kind: str
    part: str
    expert: Side
    of_judge: Side
    difference: Side
    n_people: int
    n: int


class HumanLine(Figure[Listing[JudgeLine]]):
    key = "human_line"
    title = gettext_lazy("A judge and an expert in the same place")
    position = 126
    result = Listing[JudgeLine]
    tables = ("human-line",)
    is_shown_sealed = False
    nothing = Listing[JudgeLine]()

    def compute(self, dataset: Dataset) -> Listing[JudgeLine]:
        kinds: tuple[tuple[str, list[StepItem], Against], ...] = (
            ("verdicts", dataset.verdict_items, "pairwise"),
            ("choices", [item for item in dataset.items if item.is_choice], "pairwise"),
            ("scales", [item for item in dataset.items if item.is_scale], "mean"),
        )
        lines = [
            line
            for salt, (kind, items, against) in enumerate(kinds)
            for line in _lines_of(dataset, items, kind, against, salt=salt)
        ]
        order = [kind for kind, _items, _against in kinds]
        return Listing(tuple(sorted(lines, key=lambda line: (order.index(line.kind), line.part))))

    def rows(self, result: Listing[JudgeLine]) -> dict[str, Iterator[Row]]:
        return {"human-line": _rows(result)}

    def lines(self, result: Listing[JudgeLine]) -> Iterator[str]:
        yield "\nA judge and an expert in the same place, against the remaining experts"
        for row in result.rows:
            words = f"  {row.judge} ({row.kind}, {row.part} stories): "
            if row.difference.why:
                yield words + to_english(row.difference.why)
                continue
            yield (
                f"{words}expert {coefficient(row.expert.value)}, judge {coefficient(row.of_judge.value)}, difference "
                f"{coefficient(row.difference.value)}, 95 % {coefficients(row.difference.interval)}"
            )

    def context(self, result: Listing[JudgeLine]) -> dict[str, Any]:
        compared = [row for row in result.rows if row.part == "all" and row.difference.value is not None]
        by_kind = {
            kind: [row for row in compared if row.kind == kind] for kind in dict.fromkeys(r.kind for r in compared)
        }
        return {
            "note": weakest_note(row.difference.interval for row in result.rows),
            # Of several judges the one that does best looks better than it is, so their number stands beside it.
            "best": [(max(rows, key=lambda row: row.difference.value or 0), len(rows)) for rows in by_kind.values()],
        }


def _lines_of(
    dataset: Dataset, items: list[StepItem], kind: str, against: Against, *, salt: int
) -> Iterator[JudgeLine]:
    material = judged(dataset, items)
    if material is None or len(material.raters) < 2:
        return
    parts = {"all": np.ones(len(material.units), dtype=np.bool_)}
    if material.has_mixed_stories:
        parts["models"] = material.is_of_models
    for at, (name, answers) in enumerate(zip(material.names, material.judges, strict=True)):
        for place, (part, units) in enumerate(parts.items()):
            clusters = material.clusters[units]
            try:
                line = human_line.compare(
                    arrays.select_units(material.people, units),
                    arrays.select_units(answers, units),
                    clusters,
                    against=against,
                    rng=dataset.rng(SALT, salt, at, place),
                    n_resamples=N_RESAMPLES,
                )
            except Incomputable as error:
                nothing = Side(value=None, why=Reason.of(error), interval=Interval(low=None, high=None))
                yield JudgeLine(
                    judge=name,
                    kind=kind,
                    part=part,
                    expert=nothing,
                    of_judge=nothing,
                    difference=nothing,
                    n_people=len(material.raters),
                    n=0,
                )
                continue
            yield JudgeLine(
                judge=name,
                kind=kind,
                part=part,
                expert=Side(value=line.person, interval=Interval.of(line.person_interval)),
                of_judge=Side(value=line.judge, interval=Interval.of(line.judge_interval)),
                difference=Side(value=line.difference, interval=Interval.of(line.difference_interval)),
                n_people=line.n_people,
                n=line.n_units,
            )


def _rows(result: Listing[JudgeLine]) -> Iterator[Row]:
    for row in result.rows:
        sides = {"expert": row.expert, "judge_in_place": row.of_judge, "difference": row.difference}
        yield {
            "judge": row.judge,
            "kind": row.kind,
            "part": row.part,
            **{
                f"{name}{end}": value
                for name, side in sides.items()
                for end, value in (("", side.value), ("_low", side.interval.low), ("_high", side.interval.high))
            },
            "people": row.n_people,
            "n": row.n,
            "note": note_of(row.difference, row.difference.interval),
        }
