"""Celery as the product sets it up, for trials: every message about judges is sent twice."""

from typing import Any

from config.celery import app

_send_task = app.send_task


def _send_twice(*args: Any, **kwargs: Any) -> Any:
    _send_task(*args, **kwargs)
    return _send_task(*args, **kwargs)


app.send_task = _send_twice  # type: ignore[method-assign]
