"""The triggers that keep the history append-only, taken away: to empty the tables, and to show that they bite."""

from django.db import connections


def drop(using: str = "default") -> None:
    """Remove them; `history.protect` puts them back."""
    with connections[using].cursor() as cursor:
        for name in ("event_is_kept", "event_is_final"):
            on = " ON annotation_responseevent" if connections[using].vendor == "postgresql" else ""
            cursor.execute(f"DROP TRIGGER IF EXISTS {name}{on}")
