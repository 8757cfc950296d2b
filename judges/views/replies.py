"""How the replies of a run were read: in which forms, what could not be, and what the current parser would change."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Max, Min
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config import roles
from judges import parsing, reasons
from judges.models import Call, Parse, Run
from judges.settlement import rereads
from judges.views import states
from judges.views.runs import SEES, find_run
from judges.views.states import StateWords
from studies.access import Access
from studies.views.guards import require_in_study

# A page waits for so many, about two seconds; a sample of more says no more of the forms that a model writes.
N_TRIED = 2_000
FORMS: Mapping[str, Promise] = {
    "": gettext_lazy("As asked for"),
    "json": gettext_lazy("JSON with a slip: a line break within a text, or a comma too many"),
    "courtesy": gettext_lazy("A courteous sentence follows the answer"),
    "extra": gettext_lazy("With a field that was not asked for"),
    "names": gettext_lazy("Under another name, such as score or rating, or a key spelled otherwise"),
    "boolean": gettext_lazy("true or false for yes or no"),
    "box": gettext_lazy("In a box of LaTeX"),
    "option": gettext_lazy("With the letter of an option before it"),
    "sentence": gettext_lazy("Within the last sentence, as the model’s own verdict"),
    "last_word": gettext_lazy("A yes or no within the last sentence"),
}


@dataclass(frozen=True)
class FormRow:
    """example : a call whose reply stood in the form"""

    label: Promise
    n: int
    example: int


@dataclass(frozen=True)
class UnreadRow:
    """Replies that were not read whole for one kind of reason. reason : with … for what differs"""

    words: StateWords
    reason: str
    n: int
    example: int


@dataclass(frozen=True)
class ChangeRow:
    """Answers to one item that would change alike. before, after : in words"""

    item: str
    before: str
    after: str
    n: int
    example: int


@require_in_study(SEES, query=("try",))
def show(request: HttpRequest, access: Access, run: int) -> HttpResponse:
    """For all who see judges: forms and reasons; for those who may see answers, what reading again would change."""
    row = find_run(access, run)
    may_try = access.may(roles.VIEW_RESPONSES) and bool(row.adapter)
    n_tried, changes = rereads.try_again(row, most=N_TRIED) if may_try and request.GET.get("try") else (None, [])
    context = {
        "study": access.study,
        "access": access,
        "run": row,
        "forms": _count_forms(row),
        "unread": _group_unread(row, sees_words=access.may(roles.VIEW_RESPONSES)),
        "version": parsing.VERSION,
        "may_try": may_try,
        "n_tried": n_tried,
        "most": N_TRIED,
        "changes": _group_changes(changes),
        "n_changed": len({change.call for change in changes}),
    }
    return render(request, "judges/replies.html", context)


def _count_forms(run: Run) -> list[FormRow]:
    """In how many replies the answers stood in each form, by what was read in them last."""
    of_run = Parse.objects.filter(attempt__call__run=run, attempt__call__kind__in=Call.ANSWERING)
    latest = of_run.order_by().values("attempt").annotate(last=Max("pk")).values("last")
    read = Parse.objects.filter(pk__in=latest).exclude(values={})
    counts = read.order_by().values_list("form").annotate(n=Count("pk"), call=Min("attempt__call"))
    by_form = {form: (n, call) for form, n, call in counts}
    return [FormRow(label, *by_form[form]) for form, label in FORMS.items() if form in by_form]


def _group_unread(run: Run, *, sees_words: bool) -> list[UnreadRow]:
    """Calls whose replies were not read whole, those alike together, the most first.

    sees_words : whether what a model said itself is shown where it is the reason
    """
    outcomes = (Call.State.UNREADABLE, Call.State.OUT_OF_RANGE)
    calls = run.calls.filter(kind__in=Call.ANSWERING, state__in=outcomes).order_by()
    counts = calls.values_list("state", "reason").annotate(n=Count("pk"), first=Min("pk"))
    groups: dict[tuple[str, str], tuple[int, int]] = {}
    for state, reason, n, first in counts:
        kind = (state, reasons.generalise(reason, otherwise=reason if sees_words else "…"))
        n_before, first_before = groups.get(kind, (0, first))
        groups[kind] = (n_before + n, min(first, first_before))
    unread = [UnreadRow(states.WORDS[state], reason, *numbers) for (state, reason), numbers in groups.items()]
    return sorted(unread, key=lambda row: -row.n)


def _group_changes(changes: Iterable[rereads.ChangedAnswer]) -> list[ChangeRow]:
    kinds: Counter[tuple[str, str, str]] = Counter()
    examples: dict[tuple[str, str, str], int] = {}
    for change in changes:
        if change.item:
            kind = (change.item, _spell(change.before), _spell(change.after))
        else:
            kind = ("–", str(states.WORDS[change.before].label), str(states.WORDS[change.after].label))
        kinds[kind] += 1
        examples.setdefault(kind, change.call)
    return [ChangeRow(*kind, n, examples[kind]) for kind, n in kinds.most_common()]


def _spell(value: Any) -> str:
    if value is None:
        return str(_("no answer"))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
