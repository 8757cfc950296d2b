"""The log of what the staff did, which is the admin's and one for all languages."""

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Model

SYSTEM = "Quire (automatic)"  # the account that stands for Quire itself; no form of the staff makes such a name


def log_action(row: Model, message: str, *, by: User | AnonymousUser, flag: int = CHANGE) -> None:
    """Note that the account did that with the row. Raises TypeError for nobody: pages of the staff have a door.

    flag : of Django's, ADDITION, CHANGE or DELETION
    """
    if not isinstance(by, User):
        raise TypeError("what nobody did is not logged")
    LogEntry.objects.log_actions(by.pk, [row], flag, change_message=message, single_object=True)


def log_by_system(row: Model, message: str) -> None:
    """Note that Quire did that with the row by itself: in the name of an account by which nobody can sign in."""
    defaults = {"password": make_password(None), "is_active": False}
    account, _ = User.objects.get_or_create(username=SYSTEM, defaults=defaults)
    log_action(row, message, by=account)
