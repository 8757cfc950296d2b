"""Work that begins at the same moment in several threads."""

import threading
from collections.abc import Callable

from django.db import connection


def at_once(*work: Callable[[], object]) -> list[object]:
    """What each piece of work returns, all begun at the same moment, each with a connection of its own."""
    start, outcomes = threading.Barrier(len(work)), [None] * len(work)

    def run(n: int) -> None:
        start.wait()
        try:
            outcomes[n] = work[n]()
        except Exception as error:
            outcomes[n] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(n,)) for n in range(len(work))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes
