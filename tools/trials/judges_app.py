"""Celery as the product sets it up, for trials: every message is sent twice, and a worker says that it is up."""

import os
from pathlib import Path
from typing import Any

from celery.signals import worker_ready

from config.celery import app

_send_task = app.send_task


def _send_twice(*args: Any, **kwargs: Any) -> Any:
    _send_task(*args, **kwargs)
    return _send_task(*args, **kwargs)


app.send_task = _send_twice  # type: ignore[method-assign]


@worker_ready.connect  # type: ignore[untyped-decorator]
def _say_so(**_: Any) -> None:
    (Path(os.environ["TRIAL_READY_FOLDER"]) / str(os.getpid())).touch()
