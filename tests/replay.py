"""What a test begins with, written again by the statements that wrote it the first time."""

import copy
import functools
from collections.abc import Callable
from typing import Any, TypeVar

from django.db import connection
from django.utils import timezone

Result = TypeVar("Result")
Statement = tuple[str, Any, bool]
# Ours, but for what a page or a worker writes of itself; a database that numbered no row of these has none.
APPS = ("studies", "annotation", "judges", "reports")
NOT_RECORDED = ("SELECT", "SAVEPOINT", "RELEASE")


def replayed(make: Callable[..., Result]) -> Callable[..., Result]:
    """The same rows for the same arguments in an empty database, by the statements that wrote them the first time.

    Models, checks and documents are most of what making a study takes, and half of the tests begin with the same few.
    Where there are rows already, where a value begins with today's date, since the clock was asked, and on PostgreSQL,
    whose numbers are not taken back with a test, all is made anew. Nothing but rows comes back: what waits for the
    commit and what is held in memory does not, and what was drawn by chance is the same in every test.
    """
    kept: dict[Any, tuple[list[Statement], Result]] = {}

    @functools.wraps(make)
    def replay(*args: Any, **options: Any) -> Result:
        if not _is_database_empty() or not all(_is_plain(value) for value in (*args, *options.values())):
            return make(*args, **options)
        key = (args, tuple(sorted(options.items())))
        if key not in kept:
            days = {str(timezone.now().date())}
            statements, result = _record(lambda: make(*args, **options))
            days.add(str(timezone.now().date()))
            if not any(_was_rolled_back(statement) or _has_date(statement, days) for statement in statements):
                kept[key] = (statements, copy.deepcopy(result))
            return result
        statements, result = kept[key]
        with connection.cursor() as cursor:
            for sql, params, is_many in statements:
                (cursor.executemany if is_many else cursor.execute)(sql, params)
                if "RETURNING" in sql:
                    cursor.fetchall()
        return copy.deepcopy(result)

    return replay


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int)


def _is_database_empty() -> bool:
    if connection.vendor != "sqlite" or not connection.in_atomic_block:
        return False
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM sqlite_sequence WHERE seq > 0")
        return not any(name.startswith(APPS) for (name,) in cursor.fetchall())


def _was_rolled_back(statement: Statement) -> bool:
    return statement[0].startswith("ROLLBACK")


def _has_date(statement: Statement, days: set[str]) -> bool:
    """Whether a value begins with one of the days: then it may be the time of the clock."""
    _sql, params, is_many = statement
    values = [value for row in params for value in row] if is_many else (params or ())
    return any(str(value)[:10] in days for value in values)


def _record(make: Callable[[], Result]) -> tuple[list[Statement], Result]:
    """What was written, and what came of it."""
    statements: list[Statement] = []

    def record(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if not sql.startswith(NOT_RECORDED):
            statements.append((sql, [tuple(row) for row in params] if many else params, many))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(record):
        return statements, make()
