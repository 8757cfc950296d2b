"""When memory is searched for garbage, which of large computations is a good part."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# Asked first: counting what is frozen goes through all of it, 20 ms each time in a process that computes a report.
_is_within = ContextVar("_is_within", default=False)


@contextmanager
def only_new() -> Iterator[None]:
    """Until the end only what is made from now on is searched for garbage, not again and again all that was there.

    Within itself, and where a process has frozen its memory for good, it does nothing.
    """
    if _is_within.get() or gc.get_freeze_count():
        yield
        return
    gc.freeze()
    token = _is_within.set(True)
    try:
        yield
    finally:
        _is_within.reset(token)
        gc.unfreeze()
