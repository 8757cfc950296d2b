"""An event loop beside a thread that keeps the database: whoever calls it serves the loop's queries until it ends.

Connections of a database belong to a thread, and waiting for it would hold up every call under way. So the loop has a
thread of its own, and all queries stand in the thread of the caller, one after the other, over one connection.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Database:
    """Runs functions in the thread that keeps the database, for a loop in another."""

    def __init__(self) -> None:
        self.jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()

    async def __call__(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What the function returns there. Raises what it raises."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def job() -> None:
            try:
                result = function(*args, **kwargs)
            except BaseException as error:
                loop.call_soon_threadsafe(_fail, future, error)
            else:
                loop.call_soon_threadsafe(_set, future, result)

        self.jobs.put(job)
        return await future


def run_beside(main: Callable[[Database], Coroutine[Any, Any, T]], *, interrupt: threading.Event) -> T:
    """What the coroutine returns, run in a loop in a thread of its own, while this thread serves its database.

    interrupt : set if this thread is interrupted, so that the coroutine can come to its end
    """
    database = Database()
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(asyncio.run(main(database)))
        except BaseException as error:
            errors.append(error)
        finally:
            database.jobs.put(None)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    is_over = False
    while not is_over:
        try:
            while (job := database.jobs.get()) is not None:
                job()
            is_over = True
        except KeyboardInterrupt:
            interrupt.set()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


def _set(future: "asyncio.Future[T]", result: T) -> None:
    if not future.done():
        future.set_result(result)


def _fail(future: "asyncio.Future[T]", error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)
