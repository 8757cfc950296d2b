"""Recording answers: one function through which every answer goes, whoever gives it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import FilteredRelation, Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from annotation import history
from annotation.models import Assignment, Response
from studies import items
from studies.items import Shown
from studies.items.rationale import Rule, shortfall
from studies.models import Item, Step, Story

ENDED = gettext_noop("This has been submitted or given up; its answers can no longer be changed.")
TRIES = 5
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Refused(Exception):
    """Nothing can be recorded here any more; the message says why, in words that the rater's page translates."""


class Stale(Exception):
    """The answer was changed elsewhere since this page was opened. Carries the response as it stands."""

    def __init__(self, response: Response) -> None:
        super().__init__("This answer was changed in another window since you opened this page.")
        self.response = response


@dataclass(frozen=True)
class Answer:
    """What somebody gives: a raw value as the form, the model or the file has it, stories named by letter.

    value : None or "" for no answer (a draft, or one that was cleared)
    outcome : DECLINED or UNREADABLE where a judge gave no usable answer
    """

    value: Any = None
    rationale: str = ""
    quotes: list[dict[str, Any]] = field(default_factory=list)
    outcome: str = ""


def letters(order: Sequence[str]) -> dict[str, str]:
    """Story code by letter, for one order of stories: what a rater may call a story."""
    return dict(zip(LETTERS, order, strict=False))


def record(
    assignment: Assignment,
    *,
    step: Step,
    item: Item,
    story: Story | None,
    answer: Answer,
    at: datetime,
    base: int | None = None,
    key: str = "",
    again: bool = False,
    n_pasted: int = 0,
) -> Response:
    """The response after this answer is committed, with its event in the history.

    base : the revision that the sender saw; None to write without looking, as judges and imports do
    key : the sender's own name for this save, "page-n" for the n-th of one page. A repeated key changes nothing and
        gets the response, its revision that of this save; a page whose earlier save is the latest event has not
        missed anything, though it never heard that it arrived
    again : keep it even if it says the same as before: somebody looked at it once more, and it stands
    n_pasted : characters of a large paste into the rationale
    Raises InvalidAnswer, Refused if the assignment has ended, Stale if someone else wrote since.
    """
    if assignment.status != Assignment.Status.OPEN:
        raise Refused(ENDED)
    value = read(assignment, item=item, answer=answer)
    outcome = answer.outcome or (Response.Outcome.ANSWERED if value is not None else Response.Outcome.OPEN)
    unique = {"assignment": assignment, "step": step, "item": item, "story": story}
    said = {"value": value, "outcome": outcome, "rationale": answer.rationale, "quotes": answer.quotes}
    for _try in range(TRIES):
        try:
            with transaction.atomic():
                response = _hold(assignment, step=step, item=item, story=story) or Response(**unique)
                if _says_the_same(response, said) and not again:
                    return response
                if base is not None and response.revision != base and (known := _known(response, key=key)):
                    return known
                return _write(response, said, at=at, key=key, n_pasted=n_pasted)
        except (_Overtaken, IntegrityError):
            # Another save of this answer made or changed the row between our reading and our writing: look again.
            continue
    raise Stale(Response.objects.get(**unique))


class _Overtaken(Exception):
    """Somebody wrote between our reading and our writing."""


def _hold(assignment: Assignment, *, step: Step, item: Item, story: Story | None) -> Response | None:
    """The response as it stands, the assignment held open until the end of the transaction: a submission that comes
    meanwhile waits, and its receipt covers this answer. Raises Refused if a submission came first.

    One query for both, since saving must stay cheap. SQLite knows no row locks and needs none: a transaction of ours
    begins with the lock on the whole database.
    """
    about = Q(responses__story=story) if story else Q(responses__story__isnull=True)
    here = about & Q(responses__step=step, responses__item=item)
    held = (
        Assignment.objects.filter(pk=assignment.pk, status=Assignment.Status.OPEN)
        .annotate(given=FilteredRelation("responses", condition=here))
        .select_related("given")  # type: ignore[misc]  # the name is the annotation's
        .select_for_update(of=("self",), no_key=True)
        .first()
    )
    if held is None:
        raise Refused(ENDED)
    # Django sets the name only where the join found a row.
    return getattr(held, "given", None)


def _known(response: Response, *, key: str) -> Response | None:
    """The response as the save of that key left it, if it has arrived before; None if this save may be written although
    it is based on an older revision. Raises Stale if it may not."""
    mine = response.events.filter(key=key).first() if key and response.pk else None
    if mine is not None:
        # Not the latest revision: whoever takes it for their base must still hear of what others wrote on top.
        response.revision = mine.revision
        return response
    if response.pk and _follows(key, response.events.get(revision=response.revision).key):
        return None
    raise Stale(response)


def _follows(key: str, earlier: str) -> bool:
    """Whether both name saves of one page, the first after the second."""
    page, _, n = key.rpartition("-")
    same, _, before = earlier.rpartition("-")
    return bool(page) and page == same and n.isdecimal() and before.isdecimal() and int(n) > int(before)


def read(assignment: Assignment, *, item: Item, answer: Answer) -> Any:
    """The value as it is stored, or None. Raises InvalidAnswer."""
    if answer.outcome or answer.value is None or answer.value in ("", []):
        return None
    code_by_letter = letters(assignment.seat.order) if assignment.seat else {}
    kind = items.named(item.type)
    value = kind.keep(item, answer.value, stories=[Shown(letter) for letter in code_by_letter])
    return kind.renamed(value, code_by_letter)


def _says_the_same(response: Response, said: dict[str, Any]) -> bool:
    is_known = response.pk is not None or said["outcome"] == Response.Outcome.OPEN
    return is_known and all(getattr(response, name) == what for name, what in said.items())


def _write(response: Response, said: dict[str, Any], *, at: datetime, key: str, n_pasted: int) -> Response:
    seen = response.revision
    for name, what in said.items():
        setattr(response, name, what)
    response.revision, response.last_edited_at = seen + 1, at
    if response.first_answered_at is None and response.outcome != Response.Outcome.OPEN:
        response.first_answered_at = at
    event = history.event(response, at=at, key=key, n_pasted=n_pasted)
    if response.pk is None:
        response.save()
        event.response = response
    else:
        fields = (*said, "revision", "head", "first_answered_at", "last_edited_at")
        # The revision in the condition is the optimistic lock: of two writers at once, one changes no row.
        changed = Response.objects.filter(pk=response.pk, revision=seen).update(
            **{f: getattr(response, f) for f in fields}
        )
        if not changed:
            raise _Overtaken
    event.save(force_insert=True)
    return response


def missing(response: Response | None, item: Item) -> str:
    """What an answer still lacks before it can be submitted, as a sentence; empty if nothing."""
    if response is None or response.outcome == Response.Outcome.OPEN:
        lacks = "" if item.is_skippable else _("This has not been answered yet.")
        return lacks if response is None or not response.rationale else _("Your reasons are here, but no answer yet.")
    lacks = items.named(item.type).shortfall(item, response.value) if response.value is not None else ""
    return lacks or shortfall(Rule.of(item), response.rationale)
