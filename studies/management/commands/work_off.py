"""`manage.py work_off TASK ID`: what a worker was asked to do, done here."""

from typing import Any

from celery import current_app
from django.core.management.base import BaseCommand, CommandError, CommandParser


class Command(BaseCommand):
    help = (
        "Does a page's job that no worker has started. Embedded sites start it automatically; "
        "a job that a worker has started is left to it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("task", metavar="TASK", help="Celery's name of the task")
        parser.add_argument("id", metavar="ID", type=int, help="number of the row that says what was asked")

    def handle(self, *, task: str, id: int, **options: Any) -> None:
        current_app.loader.import_default_modules()
        if task not in current_app.tasks:
            raise CommandError(f"there is no task {task}")
        current_app.tasks[task](id)
