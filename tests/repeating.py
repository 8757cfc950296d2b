"""What a test begins with, written again as it was written the first time."""

import copy
import functools
from collections.abc import Callable
from typing import Any, TypeVar

from django.db import connection
from django.utils import timezone

Made = TypeVar("Made")
Statement = tuple[str, Any, bool]
# Ours, but for what a page or a worker writes of itself; a database that numbered no row of these has none.
APPS = ("studies", "annotation", "judges", "reports")
NOT_REPEATED = ("SELECT", "SAVEPOINT", "RELEASE")


def repeated(make: Callable[..., Made]) -> Callable[..., Made]:
    """The same rows for the same arguments in an empty database, by the statements that wrote them the first time.

    Models, checks and documents are most of what making a study takes, and half of the tests begin with the same few.
    Where there are rows already, where the time of the clock is among what is written, and on PostgreSQL, whose numbers
    are not taken back with a test, all is made anew.
    """
    kept: dict[Any, tuple[list[Statement], Made]] = {}

    @functools.wraps(make)
    def repeat(*args: Any, **more: Any) -> Made:
        if not _is_empty() or not all(_is_plain(value) for value in (*args, *more.values())):
            return make(*args, **more)
        key = (args, tuple(sorted(more.items())))
        if key not in kept:
            statements, made = _recorded(lambda: make(*args, **more))
            if not any(_is_of_once(statement) for statement in statements):
                kept[key] = (statements, copy.deepcopy(made))
            return made
        statements, made = kept[key]
        with connection.cursor() as cursor:
            for sql, params, is_many in statements:
                (cursor.executemany if is_many else cursor.execute)(sql, params)
                if "RETURNING" in sql:
                    cursor.fetchall()
        return copy.deepcopy(made)

    return repeat


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int)


def _is_empty() -> bool:
    if connection.vendor != "sqlite" or not connection.in_atomic_block:
        return False
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM sqlite_sequence WHERE seq > 0")
        return not any(name.startswith(APPS) for (name,) in cursor.fetchall())


def _is_of_once(statement: Statement) -> bool:
    """Whether it was taken back in part, or holds the time of the clock."""
    sql, params, is_many = statement
    today = str(timezone.now().date())
    values = [value for row in params for value in row] if is_many else (params or ())
    return sql.startswith("ROLLBACK") or any(str(value).startswith(today) for value in values)


def _recorded(make: Callable[[], Made]) -> tuple[list[Statement], Made]:
    statements: list[Statement] = []

    def record(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if not sql.startswith(NOT_REPEATED):
            statements.append((sql, [tuple(row) for row in params] if many else params, many))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(record):
        return statements, make()
