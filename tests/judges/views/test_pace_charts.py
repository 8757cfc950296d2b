"""How fast a run is answered, as its page draws it; and what it cost, as its page writes it."""

from decimal import Decimal

import pytest
from django.test import Client
from django.utils import timezone

from judges import catalogue, runs
from judges.models import Attempt, Run
from judges.templatetags.money import dollars
from judges.views.pace_charts import draw_pace, load_pace
from tests import factories
from tests.judges.views.pages import page, words
from tests.replay import replayed

pytestmark = pytest.mark.django_db


@pytest.fixture
@replayed
def run() -> Run:
    return runs.start(factories.study(n_stories=2, n_items=1), catalogue.make_stub_judge(), by="ann")


def test_a_pace_is_drawn_from_ten_answers_on(client: Client, run: Run) -> None:
    noon = timezone.make_aware(timezone.datetime(2026, 3, 1, 12))
    call = run.calls.first()
    assert call is not None

    def answer(numbers: range) -> None:
        for n in numbers:
            sent_at = noon + timezone.timedelta(seconds=n)
            ended_at = sent_at + timezone.timedelta(seconds=0.5 if n < 6 else 2.5)
            Attempt.objects.create(call=call, number=n, sent_at=sent_at, ended_at=ended_at, outcome="answered")

    answer(range(1, 10))
    assert load_pace(run) is None
    assert "Pace" not in words(page(client, "coordinator", f"/studies/plums/runs/{run.pk}/"))
    answer(range(10, 13))

    pace = load_pace(run)

    assert pace is not None
    assert (pace.n, pace.median_seconds) == (12, 2.5)
    assert [(bar.up_to, bar.n, bar.height) for bar in pace.bars] == [
        *((0.6, 5, 57.1), (0.8, 0, 0), (1.0, 0, 0), (1.5, 0, 0), (2.0, 0, 0), (3.0, 7, 80))
    ]
    # From 12:00:01 to 12:00:14.5, in two halves: five answers, then seven, on a scale up to 1.5 a second.
    assert (pace.rate, pace.highest) == ("M0.0 40.5L320.0 24.7", pytest.approx(7 / 6.75))
    assert [(tick.rate, tick.y) for tick in pace.scale] == [(0, 80), (0.5, 53.3), (1, 26.7), (1.5, 0)]
    assert (pace.is_by_minute, pace.latest_y, pace.waits) == (False, 24.7, [])
    html = page(client, "coordinator", f"/studies/plums/runs/{run.pk}/")
    assert "Seconds to a reply: half within 2.5, 95 of 100 within 2.5" in words(html)


def test_a_slow_pace_is_by_the_minute_and_shows_where_the_provider_asked_to_wait() -> None:
    noon = timezone.make_aware(timezone.datetime(2026, 3, 1, 12))
    times = [
        (noon + timezone.timedelta(seconds=10 * n), noon + timezone.timedelta(seconds=10 * n + 10)) for n in range(12)
    ]

    pace = draw_pace(times, [noon + timezone.timedelta(seconds=30)])

    assert pace is not None
    assert (pace.is_by_minute, pace.highest, pace.waits) == (True, pytest.approx(7), [80.0])
    assert [tick.rate for tick in pace.scale] == [0, 2, 4, 6, 8]


def test_a_refusal_for_overload_is_no_answer_but_stands_in_the_drawing(client: Client, run: Run) -> None:
    noon = timezone.make_aware(timezone.datetime(2026, 3, 1, 12))
    call = run.calls.first()
    assert call is not None
    for n in range(1, 13):
        ended_at = noon + timezone.timedelta(seconds=n)
        is_refused = n == 6
        status, outcome = (429, "failed") if is_refused else (200, "answered")
        Attempt.objects.create(call=call, number=n, sent_at=noon, ended_at=ended_at, outcome=outcome, status=status)

    html = page(client, "coordinator", f"/studies/plums/runs/{run.pk}/")

    assert "Of the latest 11 replies." in words(html)
    assert html.count('class="wait"') == 1
    assert "Dashed upright lines: the provider asked to wait." in words(html)


def test_little_money_is_not_shown_as_none() -> None:
    amounts = ["0", "0.00001", "0.0234", "0.1", "12.345"]

    assert [dollars(Decimal(amount)) for amount in amounts] == ["0.00", "0.0001", "0.0234", "0.10", "12.35"]
