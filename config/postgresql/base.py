"""Django's PostgreSQL backend; where one connection of its pool is dead, all of them are checked at once.

The pool's own check waits a second after the first dead connection, then two, then four: after a restart of the
database nine idle ones kept a request waiting until it failed (measured with psycopg_pool 3.3.3).
"""

from typing import Any

from django.db.backends.postgresql import base
from psycopg import OperationalError


class DatabaseWrapper(base.DatabaseWrapper):
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
