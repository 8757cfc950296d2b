"""What metrics and ways of typing say of texts by source, so that differences are seen before a study is planned.

Functions on texts; whoever asks has made sure that they may know the sources. Nothing is stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from judges.metrics import NoValue, all_metrics
from stats.superiority import superiority
from studies.typography.features import SIGNS

# With fewer texts of a source a measure often parts it from another by chance: of 3 and 3 one in ten does.
FEWEST_VALUES = 5
# A measure tells two sources apart if of one text of either the same source's is larger in so many of all pairs.
TELLING = 0.8


@dataclass(frozen=True)
class SourceValues:
    """Of one source the mean of a measure over its texts, None without any value. n : texts that have one"""

    source: str
    mean: float | None
    n: int


@dataclass(frozen=True)
class SourceMeasure:
    """One measure by source.

    larger, smaller, share : the two sources that it parts most, and in which share of all pairs of a text of either the
        first has more; "" and None where no two sources have five texts with a value
    """

    title: str
    by_source: tuple[SourceValues, ...]
    larger: str = ""
    smaller: str = ""
    share: float | None = None
    is_typing: bool = False

    @property
    def is_telling(self) -> bool:
        return self.share is not None and self.share >= TELLING

    @property
    def n_decimals(self) -> int:
        """How many decimals of its means are shown: three digits of the largest, at most two decimals."""
        largest = max((values.mean for values in self.by_source if values.mean is not None), default=0.0)
        return 0 if largest >= 100 else 1 if largest >= 10 else 2

    @property
    def percent(self) -> int:
        return round(100 * (self.share or 0))


def measure_sources(texts_by_source: Mapping[str, Sequence[str]]) -> list[SourceMeasure]:
    """Every item of every metric that depends on a text alone, then every way of typing that parts two sources.

    Ways of typing are counted in a thousand words.
    """
    measures: list[SourceMeasure] = []
    for metric in all_metrics().values():
        values = {source: [metric.measure(text) for text in texts] for source, texts in texts_by_source.items()}
        for item in metric.items:
            columns = {
                source: [value for row in rows if not isinstance(value := row[item.key], NoValue)]
                for source, rows in values.items()
            }
            measures.append(_compare(item.key if metric.items[1:] else metric.title, columns))
    for sign in SIGNS:
        rates = {
            source: [1000 * sign.count(text) / max(len(text.split()), 1) for text in texts]
            for source, texts in texts_by_source.items()
        }
        measure = _compare(sign.title, rates, is_typing=True)
        if measure.is_telling:
            measures.append(measure)
    return measures


def _compare(title: str, columns: Mapping[str, Sequence[float]], *, is_typing: bool = False) -> SourceMeasure:
    by_source = tuple(
        SourceValues(source, fmean(values) if values else None, len(values)) for source, values in columns.items()
    )
    enough = [(source, values) for source, values in columns.items() if len(values) >= FEWEST_VALUES]
    parts = [
        (max(share, 1 - share), *((a, b) if share >= 0.5 else (b, a)))
        for (a, first), (b, second) in combinations(enough, 2)
        for share in [superiority(first, second)]
    ]
    if not parts:
        return SourceMeasure(title, by_source, is_typing=is_typing)
    share, larger, smaller = max(parts)
    return SourceMeasure(title, by_source, larger, smaller, share, is_typing)
