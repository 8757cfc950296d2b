"""What is final is not changed: said on a page of its own, wherever the change was refused."""

from collections.abc import Callable

from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from studies import triggers
from studies.protocol.triggers import TRIGGERS
from studies.publication import AlreadyFrozen, AlreadyPublished


def explain(error: Exception) -> str:
    """Why the change was refused, in the reader's language; "" if the error is no such refusal."""
    if isinstance(error, AlreadyFrozen | AlreadyPublished):
        return str(error)
    trigger = triggers.find_refusal(TRIGGERS, error) if isinstance(error, IntegrityError) else None
    return _(trigger.sentence) if trigger else ""


class FinalityMiddleware:
    """Answers 409 with the sentence where a change was refused, by the admin or by the database."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        sentence = explain(error)
        return render(request, "409.html", {"sentence": sentence}, status=409) if sentence else None
