"""What PostgreSQL's log could still say of raters' words: told to the operator when the database is migrated."""

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Tags, Warning, register
from django.db import connections

from config.postgresql.base import QUIET


@register(Tags.database)
def check_server_log(databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """A warning for each database whose log quotes statements that fail, with the lines that a superuser can enter."""
    return [
        warning
        for using in databases or ()
        if connections[using].vendor == "postgresql"
        for warning in _find_warnings(using)
    ]


def _find_warnings(using: str) -> list[CheckMessage]:
    connection = connections[using]
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        role = connection.ops.quote_name(cursor.fetchone()[0])
        cursor.execute("SELECT name, setting FROM pg_settings WHERE name = ANY(%s)", [list(QUIET)])
        setting_by_name = dict(cursor.fetchall())
    loud = [name for name, setting in setting_by_name.items() if setting != QUIET[name]]
    if not loud:
        return []
    lines = " ".join(f"ALTER ROLE {role} SET {name} = '{QUIET[name]}';" for name in sorted(loud))
    return [
        Warning(
            "The log of the database server can quote what raters wrote, where a statement fails, "
            "and Quire's role may not change that.",
            hint=f"As a superuser of the server: {lines}",
            id="quire.W001",
        )
    ]
