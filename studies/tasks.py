"""Celery tasks: long files of stories."""

from celery import shared_task

from studies.story_import import intakes


@shared_task  # type: ignore[untyped-decorator]
def bring_in_stories(import_id: int) -> None:
    """Bring in a long file of stories; nothing if it is in already or another worker holds it."""
    intakes.carry_out(import_id)
