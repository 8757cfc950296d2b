from importlib import import_module
from typing import Any

from django.apps import AppConfig, apps
from django.core.management import CommandError
from django.db import connections
from django.db.migrations.recorder import MigrationRecorder
from django.db.models.signals import post_migrate, pre_migrate

# A migration that every database had which was made before the migrations were written anew.
OLDER_MIGRATION = ("studies", "0002_properties_of_steps")


def create_roles(using: str, **more: Any) -> None:
    """Make the staff's roles, or put them back as the table says."""
    from config import roles

    roles.create(using, **more)


def refuse_older_database(using: str, **_: Any) -> None:
    """Stop before a database is changed that was made by migrations which are no longer there.

    They were rewritten as one for each app while nothing was deployed; from then on they are kept.
    """
    if OLDER_MIGRATION in MigrationRecorder(connections[using]).applied_migrations():
        raise CommandError(
            "This database was made by an earlier version of Quire, from before its first release, and cannot be "
            "brought up to date: start with a new one (another DATABASE_URL; embedded, without the folder var/)."
        )


class SiteConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        import_module("config.postgresql.checks")  # which registers them
        # This app has no tables, so no signals of its own; those of the first and the last app with tables serve.
        pre_migrate.connect(refuse_older_database, sender=apps.get_app_config("studies"))
        post_migrate.connect(create_roles, sender=apps.get_app_config("reports"))
