"""Which stories calls are about, so that what is wrong with one of them is not taken to be wrong with all."""

from collections import Counter
from collections.abc import Callable, Iterable

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet

from annotation.models import Assignment
from judges.models import Attempt, Call, Run
from studies.models import Story

Stories = frozenset[str]
# What tells calls about different things apart.
SUBJECT = ("assignment", "story", "draft", "anchor")


def find_stories(call: Call) -> Stories:
    """Codes of the stories that the call is about, with their study's id; of one about none, what else it is about."""
    if call.story:
        return frozenset({f"{call.story.study_id}/{call.story.code}"})
    if call.assignment and call.assignment.seat:
        seat = call.assignment.seat
        return frozenset(f"{seat.study_id}/{code}" for code in seat.order)
    return frozenset({f"{call.run_id}/{call.draft_id or ''}/{call.anchor}"})


def count_apart(subjects: Iterable[Stories]) -> int:
    """How many of these have no story in common with one another, taken as they come."""
    codes: set[str] = set()
    n = 0
    for stories in subjects:
        if codes.isdisjoint(stories):
            codes |= stories
            n += 1
    return n


def choose_apart(run: Run, due: QuerySet[Call], *, n: int) -> list[int]:
    """Ids of up to n of these calls, about different stories as far as there are so many.

    Stories that were asked about before come after all others, and last those about which a call has failed: else what
    is wrong with one story would speak for all. Of one story, calls that were not tried yet come first.
    """
    codes_of = _load_codes(run)
    attempts = Attempt.objects.filter(call__run=run).order_by().values_list(*(f"call__{name}" for name in SUBJECT))
    has_failed = Q(outcome=Attempt.Outcome.FAILED) | Q(call__state=Call.State.BLOCKED)
    n_failed_by_code: Counter[str] = Counter()
    for *subject, n_failed in attempts.annotate(n_failed=Count("pk", filter=has_failed)):
        n_failed_by_code.update(dict.fromkeys(codes_of(*subject), n_failed))
    untried = Min("pk", filter=Q(attempts=None))
    firsts = due.order_by().values_list(*SUBJECT).annotate(first_untried=untried, first=Min("pk"))
    codes_by_call = {first_untried or first: codes_of(*subject) for *subject, first_untried, first in firsts}

    def order(pk: int) -> tuple[bool, int, int]:
        n_failed = [n_failed_by_code[code] for code in codes_by_call[pk] if code in n_failed_by_code]
        return bool(n_failed), sum(n_failed), pk

    chosen: list[int] = []
    codes_chosen: set[str] = set()
    in_order = sorted(codes_by_call, key=order)
    for pk in in_order:
        if len(chosen) < n and codes_chosen.isdisjoint(codes_by_call[pk]):
            chosen.append(pk)
            codes_chosen |= codes_by_call[pk]
    chosen += [pk for pk in in_order if pk not in chosen][: n - len(chosen)]
    is_tried = Exists(Attempt.objects.filter(call=OuterRef("pk")))
    others = due.exclude(pk__in=chosen).order_by(is_tried, "pk").values_list("pk", flat=True)
    return chosen + list(others[: n - len(chosen)])


def load_pending(run: Run) -> set[Stories]:
    """What the run's calls that are still to be answered are about."""
    codes_of = _load_codes(run)
    pending = run.calls.filter(state__in=Call.PENDING).order_by().values_list(*SUBJECT).distinct()
    return {codes_of(*subject) for subject in pending}


def _load_codes(run: Run) -> Callable[[int | None, int | None, int | None, str], Stories]:
    """What tells the codes of the stories that a call of the run is about, as `find_stories` does, by its `SUBJECT`."""
    code_by_story = dict(Story.objects.filter(study=run.study_id).values_list("pk", "code"))
    order_by_assignment = dict(Assignment.objects.filter(reading__run=run).values_list("pk", "seat__order"))

    def codes_of(assignment: int | None, story: int | None, draft: int | None, anchor: str) -> Stories:
        if story is not None:
            return frozenset({code_by_story.get(story, f"story {story}")})
        if assignment is not None:
            return frozenset(order_by_assignment.get(assignment) or {f"assignment {assignment}"})
        return frozenset({f"draft {draft}" if draft else f"text {anchor}"})

    return codes_of
