"""What every metric promises, whichever file defines it."""

import re

import pytest

from judges import metrics
from judges.metrics import Metric, NoValue
from studies import items
from studies.documents import instrument as documents

TEXTS = [
    "One.",
    "She left. He stayed!\n\n***\n\nNobody *ever* asked why…",
    "你好。再见！",
    "a\nb\nc",
    "…",
    "*" * 3,
    "The ferry stopped at noon. " * 30,
]
every_metric = pytest.mark.parametrize("metric", metrics.all_metrics().values(), ids=lambda m: m.slug)


@every_metric
def test_a_metric_has_names_that_fit_their_columns(metric: Metric) -> None:
    for word in (metric.slug, metric.version):
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", word)
    assert len(metric.step_key) <= 40
    assert metrics.find_metric(metric.slug) is metric


@every_metric
def test_a_metric_declares_an_instrument_of_numbers(metric: Metric) -> None:
    instrument = metric.instrument

    assert (instrument.slug, instrument.version) == (f"metric-{metric.slug}", metric.version)
    assert {item.type for item in instrument.items} == {"number"}
    assert documents.fingerprint(instrument) == documents.fingerprint(metric.instrument)


@every_metric
@pytest.mark.parametrize("text", TEXTS)
def test_a_metric_gives_each_item_a_value_that_it_allows_or_says_why_not(metric: Metric, text: str) -> None:
    value_by_item = metric.measure(text)

    assert set(value_by_item) == {item.key for item in metric.items}
    for item in metric.items:
        value = value_by_item[item.key]
        if isinstance(value, NoValue):
            assert value.reason
            assert text is not TEXTS[-1], "150 words are enough for every metric"
        else:
            items.find_type(item.type).clean(item, value)
    assert metric.measure(text) == value_by_item


def test_the_metrics_that_come_with_quire_are_found_in_alphabetical_order() -> None:
    assert list(metrics.all_metrics()) == sorted(metrics.all_metrics())
    assert "length" in metrics.all_metrics()


def test_an_unknown_metric_is_refused_with_those_there_are() -> None:
    with pytest.raises(metrics.UnknownMetric, match=r"“width”.*: distinct, length"):
        metrics.find_metric("width")
