"""Taking a draft away, with its seats, which nobody deletes alone."""

from django.db import transaction
from django.utils.translation import gettext as _

from studies import lifecycle, protocol
from studies.models import Study


class NotDeletable(ValueError):
    """The study stays; the message says why."""


@transaction.atomic
def delete_draft(study: Study) -> None:
    """Delete the draft with its stories, steps, places and links. Raises NotDeletable once it has been frozen."""
    locked = Study.objects.select_for_update().get(pk=study.pk)
    if not lifecycle.may_edit(locked, is_frozen=protocol.is_frozen(locked)):
        raise NotDeletable(_("What was asked, and about which texts, is what its answers mean: this study stays."))
    # A group does not go while it has seats.
    locked.seats.all().delete()
    locked.delete()
