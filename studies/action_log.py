"""The log of what the staff did, which is the admin's and one for all languages."""

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Model


def log_action(row: Model, message: str, *, by: User | AnonymousUser, flag: int = CHANGE) -> None:
    """Note that the account did that with the row. Raises TypeError for nobody: pages of the staff have a door.

    flag : of Django's, ADDITION, CHANGE or DELETION
    """
    if not isinstance(by, User):
        raise TypeError("what nobody did is not logged")
    LogEntry.objects.log_actions(by.pk, [row], flag, change_message=message, single_object=True)
