"""What metrics and ways of typing say of texts by source, so that differences are seen before a study is planned.

Functions on texts; the caller has made sure that the account may know the sources. Nothing is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from judges.metrics import NoValue, all_metrics
from stats.superiority import superiority
from studies.typography.features import SIGNS, Sign
from studies.typography.word_boundaries import split_words

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
    n_texts: int

    @property
    def is_of_some(self) -> bool:
        """Whether some of its texts have no value, so that the mean is not of all."""
        return self.n < self.n_texts


@dataclass(frozen=True)
class SourceMeasure:
    """One measure by source.

    larger, smaller, share : the two sources that it parts most, and in which share of all pairs of a text of either the
        first has more; "" and None where no two sources have five texts with a value
    sign : the way of typing that it is, None for a metric's item
    """

    title: str
    by_source: tuple[SourceValues, ...]
    larger: str = ""
    smaller: str = ""
    share: float | None = None
    sign: Sign | None = None

    @property
    def is_typing(self) -> bool:
        return self.sign is not None

    @property
    def is_telling(self) -> bool:
        return self.share is not None and self.share >= TELLING

    @property
    def is_of_some(self) -> bool:
        return any(values.is_of_some for values in self.by_source)

    @property
    def n_decimals(self) -> int:
        """How many decimals of its means are shown: three digits of the largest, at most two decimals."""
        largest = max((values.mean for values in self.by_source if values.mean is not None), default=0.0)
        return 0 if largest >= 100 else 1 if largest >= 10 else 2

    @property
    def percent(self) -> int:
        return round(100 * (self.share or 0))


def measure_sources(
    texts_by_source: Mapping[str, Sequence[str]], *, on_step: Callable[[], None] = lambda: None
) -> list[SourceMeasure]:
    """Every item of every metric that depends on a text alone, then every way of typing that parts two sources.

    Ways of typing are counted in a thousand words, as `split_words` has them; of what stands in a text once at most,
    the mean is the share of texts.

    on_step : called after each metric and each way of typing
    """
    measures: list[SourceMeasure] = []
    n_texts = {source: len(texts) for source, texts in texts_by_source.items()}
    for metric in all_metrics().values():
        values = {source: [metric.measure(text) for text in texts] for source, texts in texts_by_source.items()}
        for item in metric.items:
            columns = {
                source: [value for row in rows if not isinstance(value := row[item.key], NoValue)]
                for source, rows in values.items()
            }
            title = item.key if metric.items[1:] else metric.title
            measures.append(_compare(title, columns, n_texts=n_texts))
        on_step()
    measured_texts = {
        source: [(text, max(len(split_words(text)), 1) / 1000) for text in texts]
        for source, texts in texts_by_source.items()
    }
    for sign in SIGNS:
        rates = {
            source: [sign.count(text) / (1 if sign.is_once else thousands) for text, thousands in texts]
            for source, texts in measured_texts.items()
        }
        measure = _compare(sign.title, rates, n_texts=n_texts, sign=sign)
        if measure.is_telling:
            measures.append(measure)
        on_step()
    return measures


def _compare(
    title: str, columns: Mapping[str, Sequence[float]], *, n_texts: Mapping[str, int], sign: Sign | None = None
) -> SourceMeasure:
    by_source = tuple(
        SourceValues(source, fmean(values) if values else None, len(values), n_texts[source])
        for source, values in columns.items()
    )
    enough = [(source, values) for source, values in columns.items() if len(values) >= FEWEST_VALUES]
    parts = [
        (max(share, 1 - share), *((a, b) if share >= 0.5 else (b, a)))
        for (a, first), (b, second) in combinations(enough, 2)
        for share in [superiority(first, second)]
    ]
    if not parts:
        return SourceMeasure(title, by_source, sign=sign)
    share, larger, smaller = max(parts)
    return SourceMeasure(title, by_source, larger, smaller, share, sign)
