"""What a save and a page would cost at the least: views that decide nothing, with the same middleware.

The bare save reads the session and writes the rows that a save writes, the bare page renders the desk from a context
that was prepared before. Served by `tools.bench.urls` in benches only.
"""

import secrets
from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotation.models import Response, ResponseEvent
from annotation.progress import work
from annotation.views.rater import addresses, guards, overview
from annotation.views.rater.presenters import pages
from studies import hashing


@require_POST
def save(request: HttpRequest, response: int) -> HttpResponse:
    """Change that response and add an event, whoever asks, and say so in a line."""
    if not request.session[guards.KEY]:
        return HttpResponse(status=401)
    at, revision, rationale = timezone.now(), int(request.POST["base"]) + 1, request.POST["rationale"]
    digest = hashing.sha256(rationale + secrets.token_hex(16))
    with transaction.atomic():
        Response.objects.filter(pk=response).update(
            value="yes", outcome="answered", rationale=rationale, revision=revision, head=digest, last_edited_at=at
        )
        ResponseEvent(
            response_id=response,
            revision=revision,
            at=at,
            key=request.POST["key"],
            words=rationale,
            commitment=digest,
            digest=digest,
        ).save(force_insert=True)
    return HttpResponse(f'<input id="base-1" value="{revision}">')


_CONTEXTS: dict[str, dict[str, Any]] = {}


@require_safe
def page(request: guards.Request, code: str, step: str, letter: str, item: str) -> HttpResponse:
    """The desk from a context that the first request prepared."""
    if code not in _CONTEXTS:
        mine = work.load_work(code, rater=request.session[guards.KEY], at=timezone.now())
        assert mine is not None
        part, question = addresses.find_question(mine, step, item, letter)
        context = pages.desk_context(mine, part, question, shows_shortfalls=False)
        _CONTEXTS[code] = context | overview.progress_context(request, mine, question, at=timezone.now())
    return render(request, "annotation/desk.html", _CONTEXTS[code])
