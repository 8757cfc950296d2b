"""How a database with real commits is emptied after a test: row by row of the few tables that have any."""

from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.db import connections, transaction
from django.db.migrations.recorder import MigrationRecorder

from tests import triggers

# What a migration makes and no test that commits changes: content types, permissions, the staff's roles.
KEPT = {
    ContentType._meta.db_table,
    Permission._meta.db_table,
    Group._meta.db_table,
    Group.permissions.through._meta.db_table,
    MigrationRecorder.Migration._meta.db_table,
}


def empty(using: str = "default") -> None:
    """Delete all rows but those that migrating made, and see that the database refuses again what it should.

    Django's own way truncates 130 tables and then makes all permissions anew: two seconds for a test of a tenth.
    """
    connection = connections[using]
    names = sorted(set(connection.introspection.django_table_names(only_existing=True)) - KEPT)
    tables = {name: connection.ops.quote_name(name) for name in names}
    with transaction.atomic(using), connection.cursor() as cursor:
        _lock(using, tables)
        cursor.execute(" UNION ALL ".join(f"SELECT '{n}' WHERE EXISTS (SELECT 1 FROM {t})" for n, t in tables.items()))
        with_rows = [tables[name] for (name,) in cursor.fetchall()]
        _switch_triggers(using, with_rows, "DISABLE")
        for table in with_rows:
            cursor.execute(f"DELETE FROM {table}")
        connection.check_constraints()
        _switch_triggers(using, with_rows, "ENABLE")
    if triggers.missing(using):
        triggers.install(using)


def _lock(using: str, tables: dict[str, str]) -> None:
    """A page that is still open may be saving: let it end, and no other begin. On SQLite a transaction does that."""
    if connections[using].vendor == "postgresql":
        with connections[using].cursor() as cursor:
            cursor.execute(f"LOCK TABLE {', '.join(tables.values())} IN SHARE ROW EXCLUSIVE MODE")


def _switch_triggers(using: str, tables: list[str], to: str) -> None:
    """PostgreSQL can switch off the triggers of a table; on SQLite all are dropped, and are missing afterwards."""
    if connections[using].vendor == "postgresql":
        with connections[using].cursor() as cursor:
            for table in tables:
                cursor.execute(f"ALTER TABLE {table} {to} TRIGGER USER")
    elif to == "DISABLE":
        triggers.drop(using)
