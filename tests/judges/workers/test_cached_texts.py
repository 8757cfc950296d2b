"""A provider that keeps marked texts in a cache, as Anthropic does: what fourteen tests of a story cost there."""

import json
import threading
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db.models import Sum

from judges import runs
from judges.models import Attempt, Call, Endpoint, Judge, Run
from judges.settlement import attempts
from judges.workers.cached_texts import KEPT_SECONDS, CachedTexts
from studies.models import Story, Study
from tests import factories, triggers
from tests.judges import standin as told
from tests.judges.conftest import judge_at, started
from tests.judges.planning.test_budget import price
from tests.judges.standin import Hit, Reply, StandIn

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MILLION = Decimal(1_000_000)
USD = {"plain": Decimal(3), "written": Decimal("3.75"), "read": Decimal("0.3"), "out": Decimal(15)}
N_OUT = 200  # tokens of a verdict with its reasons
N_LEAST = 1024  # tokens; of less nothing is kept


@dataclass
class Cache:
    """The provider's: a text is there from the end of the reply to the first call that marked it, and for a while.

    bill : in US dollars
    plain_bill : what the same calls would cost without a cache
    """

    delay: float = 0.02
    lifetime: float = 300.0
    bill: Decimal = Decimal(0)
    plain_bill: Decimal = Decimal(0)
    kept_until: dict[str, tuple[float, float]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def reply(self, hit: Hit) -> Reply:
        blocks = [*hit.body.get("system", []), *hit.body["messages"][-1]["content"]]
        n_in = sum(len(block["text"]) for block in blocks) // 4
        marks = [n for n, block in enumerate(blocks) if "cache_control" in block]
        prefix = json.dumps(blocks[: marks[0] + 1]) if marks else ""
        n_marked = sum(len(block["text"]) for block in blocks[: marks[0] + 1]) // 4 if marks else 0
        n_written, n_read = 0, 0
        with self.lock:
            now = time.monotonic()
            begin, end = self.kept_until.get(prefix, (0.0, 0.0))
            if n_marked >= N_LEAST and begin <= now < end:
                n_read = n_marked
                self.kept_until[prefix] = (begin, now + self.lifetime)
            elif n_marked >= N_LEAST:
                n_written = n_marked
                self.kept_until.setdefault(prefix, (now + self.delay, now + self.lifetime))
            n_plain = n_in - n_written - n_read
            counts = {"plain": n_plain, "written": n_written, "read": n_read, "out": N_OUT}
            self.bill += sum(n * USD[kind] for kind, n in counts.items()) / MILLION
            self.plain_bill += (n_in * USD["plain"] + N_OUT * USD["out"]) / MILLION
        document = json.loads(told.YES.body)
        usage = {"prompt_tokens": n_in, "completion_tokens": N_OUT, "n_written": n_written, "n_read": n_read}
        return replace(told.YES, body=json.dumps(document | {"usage": usage}), delay=self.delay)


def at_anthropic(standin: StandIn, *, n_at_once: int = 32) -> Judge:
    judge = judge_at(standin, n_at_once=n_at_once)
    Endpoint.objects.update(adapter="anthropic")
    price(
        judge,
        str(USD["plain"]),
        str(USD["out"]),
        adapter="anthropic",
        usd_per_million_cached=USD["read"],
        usd_per_million_cache_written=USD["written"],
    )
    return Judge.objects.select_related("endpoint", "prompt").get(pk=judge.pk)


def study_of(*, n_stories: int, n_items: int, n_words: int) -> Study:
    study = factories.study(n_stories=n_stories, n_items=n_items, comparative=False)
    with triggers.lifted():
        for story in Story.objects.filter(study=study):
            story.text = f"{story.code} " + "plums in the icebox, cold and sweet. " * (n_words // 7)
            story.save()
    return study


def test_fourteen_tests_of_eight_stories_cost_little_more_than_half(standin: StandIn) -> None:
    cache = Cache()
    standin.reply, standin.is_quick = cache.reply, True

    run = runs.drain(started(study_of(n_stories=8, n_items=14, n_words=1_400), at_anthropic(standin)))

    assert runs.count_calls(run) == {"ok": 112}
    assert cache.bill <= Decimal("0.55") * cache.plain_bill
    sums = Attempt.objects.aggregate(
        cost=Sum("cost"), written=Sum("n_tokens_cache_written"), read=Sum("n_tokens_cached")
    )
    assert round(Decimal(sums["cost"]), 8) == round(cache.bill, 8)
    assert len(cache.kept_until) == 8
    n_marked = sums["written"] // 8
    assert sums["written"] + sums["read"] == 112 * n_marked, "each text is written once, and read by all others"


@pytest.fixture
def run(standin: StandIn) -> Run:
    """Two stories, three calls about each."""
    return started(study_of(n_stories=2, n_items=3, n_words=10), at_anthropic(standin))


def calls_of(run: Run) -> list[Call]:
    return list(run.calls.order_by("pk"))


def test_the_first_call_about_each_text_goes_alone_and_the_others_once_it_was_answered(run: Run) -> None:
    one, *_rest_of_one, other, _second, _third = calls_of(run)
    cached = CachedTexts(run, patience_seconds=60)
    assert cached.choose(run, n=6, at=NOON) == [one.pk, other.pk]

    cached.note_sent([one, other], at=NOON)
    Call.objects.filter(pk__in=[one.pk, other.pk]).update(state=Call.State.LEASED)
    assert cached.choose(run, n=6, at=NOON) == []

    cached.note_ended(one, is_answered=True, at=NOON)
    assert cached.choose(run, n=6, at=NOON) == [call.pk for call in _rest_of_one]
    assert cached.choose(run, n=1, at=NOON) == [_rest_of_one[0].pk]


def test_where_the_first_call_fails_or_is_not_heard_of_another_is_the_first(run: Run) -> None:
    one, second, *_rest = calls_of(run)
    cached = CachedTexts(run, patience_seconds=60)
    cached.note_sent([one], at=NOON)
    Call.objects.filter(pk=one.pk).update(state=Call.State.LEASED)
    assert second.pk not in cached.choose(run, n=6, at=NOON + timedelta(seconds=59))
    assert second.pk in cached.choose(run, n=6, at=NOON + timedelta(seconds=60))

    cached.note_ended(one, is_answered=False, at=NOON)

    assert second.pk in cached.choose(run, n=6, at=NOON)


def test_a_text_that_was_not_used_for_long_is_written_anew(run: Run) -> None:
    one, second, third, *_rest = calls_of(run)
    cached = CachedTexts(run, patience_seconds=60)
    cached.note_ended(one, is_answered=True, at=NOON)
    Call.objects.filter(pk=one.pk).update(state=Call.State.OK)
    late = NOON + timedelta(seconds=KEPT_SECONDS)

    assert {second.pk, third.pk} <= set(cached.choose(run, n=6, at=late - timedelta(seconds=1)))
    assert third.pk not in cached.choose(run, n=6, at=late)


def test_a_call_that_has_to_wait_is_not_chosen(run: Run) -> None:
    one, second, *_rest = calls_of(run)
    Call.objects.filter(pk=one.pk).update(not_before=NOON + timedelta(seconds=attempts.LEASE_SECONDS))

    assert CachedTexts(run, patience_seconds=60).choose(run, n=1, at=NOON) == [second.pk]
