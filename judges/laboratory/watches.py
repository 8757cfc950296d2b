"""Judges watched for drift: asked about the fixed texts every day, and compared with the days before.

Each check is a run of its own, with a budget, states and kept replies as any other; it reads no story and answers
nothing in the study. Page and worker do the same: `begin`, `find_due`, `check`, `find_finished`, `compare`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.core.mail import EmailMessage
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from judges import lifecycle, runs
from judges.models import Call, DriftCheck, DriftWatch, Endpoint, Judge, Parse, Run
from judges.planning import CannotRun
from judges.planning.estimates import RunEstimate
from judges.planning.fixed_texts import SCOPE, plan_fixed_texts
from judges.runs import preparation
from judges.runs.packed_calls import CallPacker
from studies.models import Study

EVERY = timedelta(days=1)
# A check is compared with the first so many of its watch: where one call asks everything about a text, three texts
# can show a difference beyond `MOVED_BELOW` beside no fewer.
MOST_CHECKS = 10
# A judge that never changes is said to have moved in one check of a thousand at most.
MOVED_BELOW = 0.001
BUSY = gettext_noop("Another run of this judge was not finished. The next check is tried a day later.")
# The model replied, with an answer or without. What ended otherwise says nothing of the model.
REPLIED = (
    *(Call.State.OK, Call.State.REFUSED, Call.State.BLOCKED, Call.State.TRUNCATED),
    *(Call.State.UNREADABLE, Call.State.OUT_OF_RANGE),
)
# Text, step and question of a call; 0 where it asks all of a step.
CallKey = tuple[str, int, int]
Answers = dict[str, Any]


class AlreadyWatched(ValueError):
    """The judge is watched in that study already."""


def find_candidates(study: Study) -> QuerySet[Judge]:
    """Models that have read in the study, and that nobody watches there."""
    watched = study.drift_watches.filter(ended_at=None).values("judge")
    judges = Judge.objects.judging().filter(metric="")
    judges = judges.filter(runs__study=study).exclude(endpoint__base_url=Endpoint.LOGS)
    return judges.exclude(pk__in=watched).distinct().order_by("slug")


def estimate(study: Study, judge: Judge) -> RunEstimate:
    """What one check takes. Raises CannotRun. Writes and sends nothing."""
    takes = preparation.estimate(study, plan_fixed_texts(study, judge))
    if takes is None:
        raise CannotRun(_("A metric is asked nothing, so it cannot drift."))
    return takes


def begin(
    study: Study, judge: Judge, *, budget: Decimal | None, recipient: str, site: str, by: str, at: datetime
) -> DriftWatch:
    """A watch that is due at once. Raises CannotRun if the judge cannot be asked there, AlreadyWatched.

    budget : of each check, in US dollars
    recipient : who is written to when it moves; "" for nobody
    by : who approves every check with it
    """
    plan_fixed_texts(study, judge)
    if budget is not None:
        lifecycle.check_price(judge)
    try:
        with transaction.atomic():
            return DriftWatch.objects.create(
                study=study,
                judge=judge,
                budget=budget,
                recipient=recipient,
                site=site,
                created_by=by,
                created_at=at,
                next_at=at,
                compared_from=at,
            )
    except IntegrityError:
        raise AlreadyWatched(_("%(judge)s is watched here already.") % {"judge": judge.slug}) from None


def end(watch: DriftWatch, *, at: datetime) -> None:
    """Ask no more. What was asked stays."""
    DriftWatch.objects.filter(pk=watch.pk, ended_at=None).update(ended_at=at)


def start_anew(watch: DriftWatch, *, at: datetime) -> None:
    """Compare later checks with those from now on, as after a change that is known."""
    DriftWatch.objects.filter(pk=watch.pk, ended_at=None).update(compared_from=at)


def find_due(*, at: datetime) -> QuerySet[DriftWatch]:
    """The watches whose next check is to be begun."""
    return DriftWatch.objects.filter(ended_at=None, next_at__lte=at)


def check(watch: DriftWatch, *, at: datetime) -> DriftCheck | None:
    """The check, approved and at work; None if another worker has it, or with the reason in the watch.

    The check before it that nobody saw to is closed with what it has, so that one lost call ends no watch.
    """
    claimed = DriftWatch.objects.filter(pk=watch.pk, ended_at=None, next_at=watch.next_at)
    if not claimed.update(next_at=at + EVERY):
        return None
    try:
        for run in Run.objects.filter(drift_check__watch=watch).exclude(state=Run.State.FINISHED):
            lifecycle.close(run, at=at)
        with transaction.atomic():
            drift_check = DriftCheck.objects.create(watch=watch, run=_write_run(watch))
            runs.approve(drift_check.run, by=watch.created_by)
    except (CannotRun, IntegrityError) as error:
        is_busy = isinstance(error, IntegrityError)  # one unfinished run per judge and study
        problem = BUSY if is_busy else str(error)  # translated when it is shown
        DriftWatch.objects.filter(pk=watch.pk).update(problem=problem)
        return None
    DriftWatch.objects.filter(pk=watch.pk).update(problem="")
    return drift_check


def _write_run(watch: DriftWatch) -> Run:
    study, judge = watch.study, watch.judge
    if study.runs.filter(judge=judge).exclude(state=Run.State.FINISHED).exists():
        raise CannotRun(BUSY)
    planned = plan_fixed_texts(study, judge)
    prepared = preparation.prepare(study, planned, SCOPE, CallPacker(judge))
    return preparation.write(study, prepared, by=watch.created_by, budget=watch.budget)


def find_finished() -> QuerySet[DriftCheck]:
    """The checks that are answered and not compared."""
    return DriftCheck.objects.filter(compared_at=None, run__state=Run.State.FINISHED)


def compare(drift_check: DriftCheck, *, at: datetime) -> DriftCheck:
    """The check with how its answers lie beside those before it; a mail is sent where they have moved.

    Compared once, it stays as it is. Loads numpy.
    """
    from stats import drift  # here, so that web processes come without numpy

    watch = drift_check.watch
    since = watch.checks.filter(
        run__created_at__gte=watch.compared_from, pk__lt=drift_check.pk, compared_at__isnull=False
    )
    earlier = list(since.order_by("pk").values_list("run", flat=True)[:MOST_CHECKS])
    replies_by_run = load_replies([drift_check.run_id, *earlier])
    latest = replies_by_run.get(drift_check.run_id, {})
    calls = [
        [answers, *(by_call[key] for run in earlier if key in (by_call := replies_by_run.get(run, {})))]
        for key, answers in latest.items()
    ]
    test = drift.compare_checks(calls, seed=drift_check.pk)
    has_moved = test is not None and test.p < MOVED_BELOW
    values: Mapping[str, Any] = {}
    if test is not None:
        values = {
            "n_answers": test.n_answers,
            "n_checks": test.n_checks,
            "distance": test.distance,
            "floor": test.floor,
            "p": test.p,
            "least_p": test.least_p,
        }
    row = DriftCheck.objects.filter(pk=drift_check.pk, compared_at=None)
    if row.update(compared_at=at, has_moved=has_moved, **values):
        drift_check.refresh_from_db()
        if has_moved and watch.recipient:
            _write_to(watch, drift_check, at=at)
    drift_check.refresh_from_db()
    return drift_check


def load_replies(run_pks: Collection[int]) -> dict[int, dict[CallKey, Answers]]:
    """What each of the runs was answered about the fixed texts, by call: values by question. Two queries.

    A reply without an answer has no values. Free words are left out: no two are alike.
    """
    calls = Call.objects.filter(run__in=run_pks, kind=Call.Kind.TEST, state__in=REPLIED)
    replies: dict[int, dict[CallKey, Answers]] = defaultdict(dict)
    key_by_call: dict[int, tuple[int, CallKey]] = {}
    for pk, run, anchor, step, item in calls.values_list("pk", "run", "anchor", "step", "item"):
        key = (anchor, step or 0, item or 0)
        key_by_call[pk], replies[run][key] = (run, key), {}
    parses = Parse.objects.filter(attempt__call__in=key_by_call, state=Call.State.OK).order_by("pk")
    for pk, values in parses.values_list("attempt__call", "values"):
        run, key = key_by_call[pk]
        replies[run][key] = {name: value for name, value in values.items() if isinstance(value, str | int | float)}
    return replies


def _write_to(watch: DriftWatch, drift_check: DriftCheck, *, at: datetime) -> None:
    """Write that the judge has moved. The row says so first: a second attempt would be a second mail."""
    DriftCheck.objects.filter(pk=drift_check.pk).update(mailed_at=at)
    path = reverse("judges:watches", args=[watch.study.slug])
    text = _(
        "The judge %(judge)s answered the fixed texts otherwise than before: %(distance)d of 100 comparisons with its "
        "earlier answers differ, %(floor)s among those. By chance that happens at most once in %(n)d checks. "
        "The model behind the name, or the way in which it is served, may have changed."
    ) % {
        "judge": watch.judge.slug,
        "distance": round(100 * (drift_check.distance or 0)),
        "floor": "–" if drift_check.floor is None else round(100 * drift_check.floor),
        "n": round(1 / MOVED_BELOW),
    }
    subject = _("Quire: the judge %(judge)s answers otherwise") % {"judge": watch.judge.slug}
    try:
        EmailMessage(subject, f"{text}\n\n{watch.site}{path}", to=[watch.recipient]).send()
    except OSError as error:  # smtplib's errors are such
        DriftCheck.objects.filter(pk=drift_check.pk).update(mail_problem=type(error).__name__)
