"""When memory is searched for garbage, which of large computations is a good part."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def only_new() -> Iterator[None]:
    """Until the end only what is made from now on is searched for garbage, not again and again all that was there.

    Within itself, and where a process has frozen its memory for good, it does nothing.
    """
    if gc.get_freeze_count():
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
