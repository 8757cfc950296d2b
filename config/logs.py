"""What the server writes down of its errors: one line of JSON each, without links, names or answers."""

import json
import logging
import re
import secrets
import traceback
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse

request_id: ContextVar[str] = ContextVar("request_id", default="")
# Where an invitation's token stands in an address, or the id of a participant of Prolific.
LINK = re.compile(r"(?<=/r/)[\w-]+|(?<=PROLIFIC_PID=)\w+|(?<=SESSION_ID=)\w+")
# What these say is about the connection, never about what somebody wrote.
SAFE_TO_QUOTE = (OperationalError, InterfaceError)


class RequestIdMiddleware:
    """Gives every request a random number, which its answer carries and its lines in the log."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        number = secrets.token_hex(8)
        token = request_id.set(number)
        try:
            response = self.get_response(request)
        finally:
            request_id.reset(token)
        response["X-Request-ID"] = number
        return response


class LinkFilter(logging.Filter):
    """Takes the token of an invitation out of every line that is logged: anyone who reads the log could use it."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = _masked(record.msg)
        if isinstance(record.args, tuple):
            record.args = tuple(_masked(argument) for argument in record.args)
        return True


def _masked(value: Any) -> Any:
    return LINK.sub("…", value) if isinstance(value, str) else value


class VisitorMistakeFilter(logging.Filter):
    """Leaves out what Django says of requests that it refused: pages that are not there, forms that came too late.

    A name of a host that is not ours is an error to Django; anybody can send any number of them.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name == "django.security.DisallowedHost":
            return False
        return record.levelno >= logging.ERROR or not record.name.startswith(("django.request", "django.security"))


class JsonLineFormatter(logging.Formatter):
    """A record as one line of JSON, with its traceback.

    An address is told by its route and an exception by its class, where it was raised and why it came about: the values
    in an address let people in, and what an exception says may quote an answer.
    """

    def format(self, record: logging.LogRecord) -> str:
        request: Any = getattr(record, "request", None)
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": _message(record, has_request=isinstance(request, HttpRequest)),
        }
        if number := request_id.get():
            line["request_id"] = number
        if isinstance(request, HttpRequest):
            line |= {"method": request.method, "route": _route(request), "status": getattr(record, "status_code", None)}
        if record.exc_info and record.exc_info[1]:
            line["traceback"] = list(_causes(record.exc_info[1]))
        return json.dumps(line, ensure_ascii=True, default=str)


def _message(record: logging.LogRecord, *, has_request: bool) -> str:
    # Of a request Django says “Internal Server Error: /the/address”.
    if has_request and isinstance(record.args, tuple) and record.args:
        return str(record.args[0])
    # An error that was not expected can quote anything: libraries such as Celery put it into their message, asyncio
    # behind the first line of it.
    if record.name == "asyncio":
        return record.getMessage().partition("\n")[0]
    return str(record.msg) if record.exc_info and record.name.startswith("celery") else record.getMessage()


def _route(request: HttpRequest) -> str:
    return request.resolver_match.route if request.resolver_match else ""


def _causes(error: BaseException) -> Iterator[dict[str, Any]]:
    """The exception and those that led to it, the last one first."""
    ids: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in ids:
        ids.add(id(cause))
        message = {"says": str(cause).partition("\n")[0]} if isinstance(cause, SAFE_TO_QUOTE) else {}
        yield {"error": f"{type(cause).__module__}.{type(cause).__qualname__}"} | message | _frames(cause.__traceback__)
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)


def _frames(raised: TracebackType | None) -> dict[str, Any]:
    frames = traceback.extract_tb(raised)
    return {"frames": [f"{frame.filename}:{frame.lineno} in {frame.name}: {frame.line}" for frame in frames]}
