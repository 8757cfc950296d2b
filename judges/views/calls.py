"""The calls of a run: the list, by what became of them, and each one to read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Response
from config import roles
from judges.models import Attempt, Call, Parse, Run
from judges.providers import is_same_model
from judges.requests import texts as requests
from judges.settlement import attempts as sendings
from judges.settlement import erasure
from judges.views import call_rows, states
from judges.views.runs import SEES, find_run
from studies.access import Access
from studies.items import find_type
from studies.views.guards import require_in_study

A_PAGE = 50
REPLIED = (Attempt.Outcome.ANSWERED, Attempt.Outcome.REUSED, Attempt.Outcome.LATE)
LEAST_SHOWN = 0.0005  # of probabilities
# What a probe of a text finds, in words; what is asked about fixed texts is named by the keys of its items.
FINDINGS = {
    "is_known": gettext_lazy("says that it knows the text"),
    "title": gettext_lazy("title that it gives"),
    "author": gettext_lazy("author that it gives"),
    "continuation": gettext_lazy("how it goes on"),
    "has_title": gettext_lazy("the title is right"),
    "has_author": gettext_lazy("the author is right"),
    "n_words": gettext_lazy("words in a row as in the text"),
    "n_words_written": gettext_lazy("words written"),
    "is_proven": gettext_lazy("knows the text"),
    "surprise": gettext_lazy("surprise, in nats a token"),
    "n_tokens": gettext_lazy("tokens of the story"),
    "n_vectors": gettext_lazy("vectors"),
    "n_numbers": gettext_lazy("numbers in each"),
}


@require_in_study(SEES, query=("state", "page"))
def index(request: HttpRequest, access: Access, run: int) -> HttpResponse:
    """For all who see judges: the calls of a run, of one state if one is named."""
    row = find_run(access, run)
    state = request.GET.get("state", "")
    if state and state not in Call.State.values:
        raise Http404
    n_by_state = dict(row.calls.order_by().values_list("state").annotate(n=Count("pk")))
    rows = call_rows.with_what_they_asked(row.calls.all())
    pages = Paginator((rows.filter(state=state) if state else rows).order_by("pk"), A_PAGE)
    pages.count = n_by_state.get(state, 0) if state else sum(n_by_state.values())
    page = pages.get_page(request.GET.get("page"))
    context = {
        "study": access.study,
        "access": access,
        "run": row,
        "state": state,
        "filters": [(key, states.WORDS[key].label, n_by_state[key]) for key in Call.State.values if key in n_by_state],
        "page": page,
        "calls": call_rows.with_words(page),
        "n_all": sum(n_by_state.values()),
    }
    return render(request, "judges/calls.html", context)


@require_in_study(SEES)
def show(request: HttpRequest, access: Access, run: int, call: int) -> HttpResponse:
    """For all who see judges: what was sent; for those who may see answers, what came back and what was read."""
    parent = find_run(access, run)
    rows = Call.objects.select_related("story", "item", "step", "assignment__group", "draft")
    row = get_object_or_404(rows, pk=call, run=parent)
    attempts = list(row.attempts.order_by("number"))
    # What a model wrote is nobody's answer: whoever may open the run at all may read it.
    sees_answers = access.may(roles.VIEW_RESPONSES) or parent.judge.is_writer
    last = next((attempt for attempt in reversed(attempts) if attempt.body), None)
    # What asks for another prompt holds what experts answered and wrote.
    sees_sent = sees_answers or not hasattr(parent, "alignment")
    sent = requests.render(row.request) if sees_sent else {}
    is_erased = row.reason == erasure.REASON
    context = {
        "study": access.study,
        "access": access,
        "run": parent,
        "call": row,
        "words": states.WORDS[row.state],
        "kind": "good" if row.state in states.ANSWERED else "error" if row.state in states.WITHOUT else "",
        "messages_sent": sent.get("messages", []),
        "settings": json.dumps(sent.get("parameters", {}), indent=1, ensure_ascii=False, sort_keys=True),
        "attempts": attempts,
        "sees_answers": sees_answers,
        "sees_sent": sees_sent,
        "is_erased": is_erased,
        "reply": _find_reply(parent, attempts) if sees_answers else "",
        "parses": _parses(row) if sees_answers else [],
        "last": last if sees_answers else None,
        "is_other_model": any(not is_same_model(parent.judge.model, attempt.model) for attempt in attempts),
        "findings": _findings(row) if sees_answers else [],
        "answers": _answers(row, is_erased=is_erased) if sees_answers else [],
        "previous": _neighbour(access, parent, row, forward=False),
        "next": _neighbour(access, parent, row, forward=True),
    }
    return render(request, "judges/call.html", context)


def _find_reply(run: Run, attempts: Sequence[Attempt]) -> str:
    """The words of the model that came last; "" if none did."""
    answered = [attempt for attempt in attempts if attempt.body and attempt.outcome in REPLIED]
    return sendings.read_reply(answered[-1], adapter=run.adapter).text if answered and run.adapter else ""


def _parses(call: Call) -> list[dict[str, Any]]:
    """What each version of the parser read in the replies, the oldest first."""
    rows = Parse.objects.filter(attempt__call=call).select_related("attempt").order_by("pk")
    return [
        {
            "parse": row,
            "words": states.WORDS[row.state],
            "values": _spell(row.values),
            "probabilities": _spell_grades(row.grades),
        }
        for row in rows
    ]


def _spell_grades(grades: dict[str, Any]) -> str:
    """Of each item the answers that are not improbable, the most probable first, and what fell on none of them."""
    return "; ".join(f"{key}: {_spell_grade(grade)}" for key, grade in grades.items())


def _spell_grade(grade: dict[str, Any]) -> str:
    by_value = sorted(grade["by_value"].items(), key=lambda pair: -pair[1])
    shares = [pair for pair in (*by_value, (_("others"), grade["outside"])) if pair[1] >= LEAST_SHOWN]
    return ", ".join(f"{name} {number_format(100 * share, decimal_pos=1)}" for name, share in shares)


def _spell(values: dict[str, Any]) -> str:
    return ", ".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in values.items())


def _findings(call: Call) -> list[tuple[str, Any]]:
    """What was read in the reply to a call that guards the run, name by name; nothing of it is an answer."""
    if call.kind in Call.ANSWERING:
        return []
    parse = Parse.objects.filter(attempt__call=call).order_by("-attempt__number", "-pk").first()
    findings = sorted((parse.values if parse else {}).items(), key=_place)
    return [(FINDINGS.get(name, name), _write_finding(value)) for name, value in findings]


def _place(finding: tuple[str, Any]) -> int:
    """Where it stands among findings: a database may give them in any order; others come after, as they were."""
    return list(FINDINGS).index(finding[0]) if finding[0] in FINDINGS else len(FINDINGS)


def _write_finding(value: Any) -> Any:
    if isinstance(value, bool):  # a count of one equals True
        return _("yes") if value else _("no")
    if isinstance(value, float):
        return number_format(value, decimal_pos=3)
    return "–" if value == "" else value


def _answers(call: Call, *, is_erased: bool) -> list[dict[str, Any]]:
    """What is recorded for the call: of each item its value in words, or what else became of it, and the reasons."""
    if call.kind not in Call.ANSWERING:
        return []
    about = Response.objects.filter(assignment=call.assignment_id, step=call.step_id, story=call.story_id)
    rows = (
        (about.filter(item=call.item_id) if call.item_id else about).select_related("item").order_by("item__position")
    )
    return [
        {
            "item": row.item,
            "label": _label(row, is_erased=is_erased),
            "rationale": row.rationale,
        }
        for row in rows
    ]


def _label(row: Response, *, is_erased: bool) -> str:
    if is_erased and row.outcome == Response.Outcome.OPEN:
        return _("erased")
    if row.outcome != Response.Outcome.ANSWERED:
        return str(row.get_outcome_display())
    return str(find_type(row.item.type).label(row.item, row.value))


def _neighbour(access: Access, run: Run, call: Call, *, forward: bool) -> str:
    """The address of the call before or after this one; "" at the end."""
    near = (
        run.calls.filter(pk__gt=call.pk).order_by("pk") if forward else run.calls.filter(pk__lt=call.pk).order_by("-pk")
    )
    key = near.values_list("pk", flat=True).first()
    return reverse("judges:call", args=[access.study.slug, run.pk, key]) if key else ""
