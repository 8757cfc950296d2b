"""A database of an earlier layout is refused before anything is changed in it."""

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

pytestmark = [pytest.mark.django_db, pytest.mark.slow]  # of a database that was made by migrations


def test_a_database_of_migrations_that_are_gone_is_refused_in_one_sentence() -> None:
    MigrationRecorder(connection).record_applied("studies", "0002_properties_of_steps")

    with pytest.raises(CommandError, match=r"earlier version of Quire.*start with a new one"):
        call_command("migrate", verbosity=0)


def test_a_database_of_the_migrations_that_are_there_is_migrated_again() -> None:
    call_command("migrate", verbosity=0)

    executor = MigrationExecutor(connection)
    assert executor.loader.applied_migrations, "made by migrations"
    assert executor.migration_plan(executor.loader.graph.leaf_nodes()) == []
