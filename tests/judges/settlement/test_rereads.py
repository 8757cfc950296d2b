"""Replies are read again by a better parser, without a call, and what was read before is kept."""

from collections import Counter

import pytest

from annotation.models import Assignment, Response, ResponseEvent
from judges import catalogue, parsing, runs
from judges.models import Call, Parse
from judges.planning import CannotRun
from judges.settlement import replies, rereads
from judges.settlement.replies import Interpretation
from studies.models import Study
from tests.factories import NOON
from tests.judges import standin as told
from tests.judges.conftest import answers, judge_at, probed, started
from tests.judges.standin import StandIn

pytestmark = pytest.mark.django_db


def test_a_better_parser_changes_answers_through_their_history(
    study: Study, standin: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_well = replies.interpret
    with monkeypatch.context() as old:
        old.setattr(parsing, "VERSION", "1")
        old.setattr(replies, "interpret", _read_nothing)
        run = runs.drain(probed(started(study, judge_at(standin))))
    receipts = set(Assignment.objects.values_list("receipt", flat=True))
    assert answers(run) == {"unreadable": 8}
    n_hits = len(standin.hits)
    n_tried, changes = rereads.try_again(run, most=5)
    assert (n_tried, len(changes)) == (5, 5)
    assert {(change.item, change.before, change.after) for change in changes} >= {("item-1", None, "yes")}
    assert answers(run) == {"unreadable": 8}

    reread = rereads.read_again(run, at=NOON)

    assert replies.interpret is read_well
    assert (reread.n_read, reread.n_changed) == (8, 8)
    assert answers(run) == {"yes": 8}
    assert runs.count_calls(run) == {"ok": 8}
    assert len(standin.hits) == n_hits
    # Both replies of each call, by both versions.
    assert Counter(Parse.objects.values_list("version", "state")) == {
        ("1", "unreadable"): 16,
        (parsing.VERSION, "ok"): 16,
    }
    assert ResponseEvent.objects.count() == 16
    submitted = Assignment.objects.get()
    assert submitted.status == Assignment.Status.SUBMITTED
    assert submitted.receipt not in receipts


def _read_nothing(call: Call, completion: object, protocol: str) -> Interpretation:
    return replies._interpret_failure([call.item], parsing.Failure("unreadable", "nothing is read"))  # type: ignore[list-item]


def test_reading_again_with_the_same_parser_changes_nothing(study: Study, standin: StandIn) -> None:
    run = runs.drain(started(study, judge_at(standin)))
    before = list(Response.objects.order_by("pk").values()), Parse.objects.count()

    reread = rereads.read_again(run, at=NOON)

    assert (reread.n_read, reread.n_changed) == (8, 0)
    assert (list(Response.objects.order_by("pk").values()), Parse.objects.count()) == before


def test_a_filters_refusal_is_read_as_it_was(study: Study, standin: StandIn) -> None:
    standin.reply = lambda hit: told.FILTERED
    run = runs.drain(started(study, judge_at(standin)))
    assert runs.count_calls(run) == {"blocked": 8}

    assert rereads.read_again(run, at=NOON).n_changed == 0


def test_calls_under_way_are_left_alone_and_a_metric_has_no_replies(study: Study) -> None:
    run = runs.start(study, catalogue.make_stub_judge(), by="tests")
    with pytest.raises(CannotRun, match="no replies that could be read again"):
        rereads.read_again(run, at=NOON)

    metric = runs.drain(runs.start(study, catalogue.make_metric_judge("length"), by="tests"))
    with pytest.raises(CannotRun, match="a metric has no replies"):
        rereads.read_again(metric, at=NOON)
