"""The triggers that refuse changes, taken away: to empty tables, to tamper with rows, and to show that they bite."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connections

from annotation.models import payments
from annotation.responses import history
from studies import triggers
from studies.protocol.triggers import TRIGGERS as OF_PROTOCOLS

ALL = [*history.TRIGGERS, *payments.TRIGGERS, *OF_PROTOCOLS]


def drop(using: str = "default") -> None:
    """Remove them; `install` puts them back."""
    triggers.lift(ALL, using)


def install(using: str = "default") -> None:
    triggers.install(ALL, using)


def missing(using: str = "default") -> bool:
    return bool(triggers.find_missing(ALL, using))


@contextmanager
def lifted(using: str = "default") -> Iterator[None]:
    """Whatever is changed in this block is changed; from then on the database refuses again, if it did before."""
    if missing(using):
        yield
        return
    _check_now(using)
    drop(using)
    try:
        yield
    finally:
        _check_now(using)
        install(using)


def _check_now(using: str) -> None:
    """PostgreSQL alters no table while constraints of changed rows are still to be checked."""
    if connections[using].vendor == "postgresql" and connections[using].in_atomic_block:
        with connections[using].cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")
