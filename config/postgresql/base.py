"""Django's PostgreSQL backend, whose pool gets over a restart at once, and whose server's log holds nobody's words.

Where one connection of the pool is dead, all of them are checked at once. The pool's own check waits a second after the
first dead connection, then two, then four: after a restart of the database nine idle ones kept a request waiting until
it failed (measured with psycopg_pool 3.3.3).

A server that cannot carry out a statement writes it into its log: a full disk, a time limit, a refused row. Django puts
values into the statement, so answers and reasons stood there. What inserts or updates has its values beside it here.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from django.db.backends.postgresql import base, operations
from psycopg import OperationalError

# What one statement may have beside it, by the protocol.
MOST_VALUES = 2**16 - 1
CHANGES = ("INSERT", "UPDATE")
# What the server is to leave out of its log: a statement that failed, values beside one, and what it says of a row that
# it refuses. The first is for everybody to set, the rest for a superuser, or whom one has allowed it.
QUIET = {
    "log_parameter_max_length_on_error": "0",
    "log_parameter_max_length": "0",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}


_BOUND: Any = base.ServerBindingCursor


class Cursor:
    """Django's cursor for what reads; for what inserts or updates one that sends values apart from the statement.

    Not that one for all: Django repeats values of a query in its GROUP BY, which are then no longer the same to the
    server (https://code.djangoproject.com/ticket/34255).
    """

    def __init__(self, reading: Any, make_changing: Callable[[], Any]) -> None:
        self._reading = self._current = reading
        self._make_changing = make_changing
        self._changing: Any = None

    def execute(self, query: Any, params: Any = None, **options: Any) -> "Cursor":
        self._choose(query, params).execute(query, params, **options)
        return self

    def executemany(self, query: Any, params_seq: Any, **options: Any) -> None:
        rows = list(params_seq)
        self._choose(query, max(rows, key=len, default=None)).executemany(query, rows, **options)

    def close(self) -> None:
        self._reading.close()
        if self._changing is not None:
            self._changing.close()

    def __enter__(self) -> "Cursor":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._current)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._current, name)

    def _choose(self, query: Any, values: Any) -> Any:
        is_change = isinstance(query, str) and query.lstrip()[:6].upper() in CHANGES
        self._current = self._reading
        if is_change and values and len(values) <= MOST_VALUES:
            self._changing = self._changing or self._make_changing()
            self._current = self._changing
        return self._current


class DatabaseOperations(operations.DatabaseOperations):
    def bulk_batch_size(self, fields: Any, objs: Any) -> int:
        return min(len(objs), MOST_VALUES // max(len(fields), 1))


class DatabaseWrapper(base.DatabaseWrapper):
    ops_class = DatabaseOperations

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """A connection that has just answered a query, so that it is known to be alive."""
        connection = super().get_new_connection(conn_params)
        if self.pool is None:
            return connection
        try:
            connection.execute("")
        except OperationalError:
            self.pool.putconn(connection)  # which discards it
            self.pool.check()
            connection = super().get_new_connection(conn_params)
        return connection

    def create_cursor(self, name: str | None = None) -> Any:
        cursor = super().create_cursor(name)
        return cursor if name else Cursor(cursor, partial(_BOUND, self.connection))

    def _configure_connection(self, connection: Any) -> bool:
        """As Django sets a new connection up, and with as quiet a log of the server as this role may have."""
        super()._configure_connection(connection)  # type: ignore[misc]
        with connection.cursor() as cursor:
            cursor.execute(_keep_quiet())
        return True


def _keep_quiet() -> str:
    """One statement that sets each of QUIET, as far as the role may: what it may not is no error."""
    settings = (
        f"BEGIN PERFORM set_config('{name}', '{value}', false); EXCEPTION WHEN insufficient_privilege THEN NULL; END;"
        for name, value in QUIET.items()
    )
    return f"DO $$ BEGIN {' '.join(settings)} END $$"
