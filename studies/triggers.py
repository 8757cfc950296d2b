"""What the database itself refuses: triggers, written once for SQLite and PostgreSQL, installed, lifted and looked for.

No tables are named in this module: apps with rows that never change list their own triggers.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from django.db import DatabaseError, connections

Operation = Literal["INSERT", "UPDATE", "DELETE"]


@dataclass(frozen=True)
class Trigger:
    """One kind of change that the database refuses to everyone.

    condition : SQL on NEW and OLD; of what both databases understand, and IS DISTINCT FROM
    sentence : what the refusal says, without a quotation mark
    held : "FROM … WHERE …" of the rows on which the condition depends, if it reads any. PostgreSQL locks them first:
        without, a row could be changed while another transaction is just freezing what it belongs to
    """

    name: str
    table: str
    operation: Operation
    condition: str
    sentence: str
    held: str = ""


def any_changed(columns: Iterable[str]) -> str:
    """The condition that one of these columns gets another value."""
    return "(" + " OR ".join(f'NEW."{column}" IS DISTINCT FROM OLD."{column}"' for column in columns) + ")"


def install(triggers: Sequence[Trigger], using: str) -> None:
    """Install them as they are defined now, where their tables are there. Safe to call again."""
    connection = connections[using]
    if not {trigger.table for trigger in triggers} <= set(connection.introspection.table_names()):
        return
    with connection.cursor() as cursor:
        for trigger in triggers:
            for statement in _statements(trigger, connection.vendor):
                cursor.execute(statement)


def lift(triggers: Iterable[Trigger], using: str) -> None:
    """Take them away, where they are: a table that is altered, or emptied for a test, must not refuse."""
    connection = connections[using]
    tables = set(connection.introspection.table_names())
    with connection.cursor() as cursor:
        for trigger in triggers:
            if trigger.table in tables:
                cursor.execute(_drop(trigger, connection.vendor))


def find_missing(triggers: Iterable[Trigger], using: str = "default") -> list[Trigger]:
    """Those that are not installed, or switched off. One query."""
    with connections[using].cursor() as cursor:
        cursor.execute(_INSTALLED[connections[using].vendor])
        installed = set(cursor.fetchall())
    return [trigger for trigger in triggers if (trigger.name, trigger.table) not in installed]


def find_refusal(triggers: Iterable[Trigger], error: DatabaseError) -> Trigger | None:
    """The trigger that raised the error; None if it comes from elsewhere."""
    return next((trigger for trigger in triggers if str(error).startswith(trigger.sentence)), None)


_INSTALLED = {
    "sqlite": "SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'",
    "postgresql": "SELECT tgname, relname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid "
    "WHERE NOT tgisinternal AND tgenabled IN ('O', 'A') AND pg_table_is_visible(pg_class.oid)",
}


def _statements(trigger: Trigger, vendor: str) -> Iterator[str]:
    timing = f"{trigger.name} BEFORE {trigger.operation} ON {trigger.table}"
    if vendor == "sqlite":
        condition = trigger.condition.replace("IS DISTINCT FROM", "IS NOT")
        yield _drop(trigger, vendor)
        yield f"CREATE TRIGGER {timing} WHEN {condition} BEGIN SELECT RAISE(ABORT, '{trigger.sentence}'); END"
    else:
        row = "OLD" if trigger.operation == "DELETE" else "NEW"
        held = f"PERFORM 1 {trigger.held} FOR SHARE; " if trigger.held else ""
        # As a constraint's: the same exception in Django on both databases.
        refuse = f"RAISE EXCEPTION '{trigger.sentence}' USING ERRCODE = 'integrity_constraint_violation'"
        yield (
            f"CREATE OR REPLACE FUNCTION quire_{trigger.name}() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN {held}IF {trigger.condition} THEN {refuse}; END IF; RETURN {row}; END $$"
        )
        yield f"CREATE OR REPLACE TRIGGER {timing} FOR EACH ROW EXECUTE FUNCTION quire_{trigger.name}()"


def _drop(trigger: Trigger, vendor: str) -> str:
    table = f" ON {trigger.table}" if vendor == "postgresql" else ""
    return f"DROP TRIGGER IF EXISTS {trigger.name}{table}"
