"""Measures of a text's words, by hand; and what a text that is too short for one records."""

import json
import math

import pytest

from annotation.models import Response
from judges import catalogue, runs
from judges.metrics import NoValue, find_metric
from judges.models import Attempt, Call, Run
from studies.models import Story
from tests import factories, triggers


def test_distinct_by_hand() -> None:
    # the cat the dog the cat: three of six words; the-cat, cat-the, the-dog, dog-the: four of five pairs.
    assert find_metric("distinct").measure("The cat, the dog: the CAT!") == {"distinct-1": 3 / 6, "distinct-2": 4 / 5}


def test_characters_stand_for_words_where_no_blanks_do() -> None:
    assert find_metric("distinct").measure("你好你好。")["distinct-1"] == 2 / 4


def test_the_moving_average_is_that_of_all_windows() -> None:
    words = [f"w{n * n % 23}" for n in range(140)]

    value = find_metric("type-token-ratio").measure(" ".join(words))["mattr-50"]

    windows = [words[n : n + 50] for n in range(len(words) - 49)]
    assert value == pytest.approx(sum(len(set(window)) / 50 for window in windows) / len(windows))
    assert find_metric("type-token-ratio").measure("one " * 49)["mattr-50"] == NoValue(
        "the text has too few words for this measure: 49 of at least 50"
    )


def test_halves_with_the_same_words_surprise_less_than_halves_with_others() -> None:
    metric = find_metric("surprise-within")
    same = metric.measure("the ferry stopped at noon " * 30)["nats"]
    other = metric.measure(" ".join([f"a{n}" for n in range(75)] + [f"b{n}" for n in range(75)]))["nats"]

    assert isinstance(same, float)
    assert isinstance(other, float)
    # Nothing of either half stands in the other: every word is the unknown one, with its share of the lowest orders.
    # 75 pairs, all discounts .75: the mass left by unigrams is .75, uniform over 76 words.
    assert other == pytest.approx(-math.log(0.75 / 76), rel=0.05)
    assert same < 0.2


@pytest.mark.django_db
def test_a_text_that_is_too_short_is_recorded_as_unreadable_with_the_reason() -> None:
    study = factories.study()
    with triggers.lifted():
        Story.objects.filter(study=study).update(text="Noon.")

    run = runs.drain(runs.start(study, catalogue.make_metric_judge("distinct"), by="tests"))

    assert run.state == Run.State.FINISHED
    call = run.calls.first()
    assert call is not None
    assert (call.state, call.reason) == (Call.State.OUT_OF_RANGE, "distinct-2: the text has fewer than two words")
    assert json.loads(Attempt.objects.filter(call=call).get().body) == {"distinct-1": 1.0}
    by_item = dict(Response.objects.filter(story=call.story).values_list("item__key", "outcome"))
    assert by_item == {"distinct-1": "answered", "distinct-2": "unreadable"}
