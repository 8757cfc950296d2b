"""`manage.py new_link STUDY CODE`: a new link for a rater who has lost theirs."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.urls import reverse
from django.utils import timezone

from annotation.management import raters
from annotation.models import Invitation
from annotation.participation import invitations


class Command(BaseCommand):
    help = (
        "Makes a new link for a rater who has lost theirs and prints its address below that of the site, this once. It "
        "leads to the same rater; the old link only says that it was replaced, and sessions opened with it end."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        raters.add_arguments(parser)

    def handle(self, *, study: str, code: str, **options: Any) -> None:
        rater = raters.find_person(study, code)
        try:
            invitation = Invitation.objects.select_related("study", "rater").get(rater=rater)
            token = invitations.replace_link(invitation, at=timezone.now())
        except invitations.CannotReplace as error:
            raise CommandError(str(error)) from None
        except Invitation.DoesNotExist:
            raise CommandError(f"{code} in {study} did not come in by a link, so there is none to replace") from None
        self.stdout.write(reverse("annotation:invitation", args=[token]))
