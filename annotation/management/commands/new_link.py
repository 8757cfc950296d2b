"""`manage.py new_link STUDY CODE`: a new link to the place of a rater who has lost theirs."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.urls import reverse
from django.utils import timezone

from annotation.models import Invitation, Rater
from annotation.participation import invitations
from studies.lookup import NoSuchStudy, find_study


class Command(BaseCommand):
    help = (
        "Makes a new link for a rater who has lost theirs and prints its address below that of the site, this once. It "
        "leads to the same place; the old link only says that it was replaced, and whoever came in by it is out."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="slug of the study")
        parser.add_argument("code", metavar="CODE", help="code of the rater, such as E07")

    def handle(self, *, study: str, code: str, **options: Any) -> None:
        try:
            rater = find_study(study).raters.get(code=code, kind=Rater.Kind.PERSON)
            invitation = Invitation.objects.select_related("study", "rater").get(rater=rater)
            token = invitations.replace_link(invitation, at=timezone.now())
        except (NoSuchStudy, invitations.CannotReplace) as error:
            raise CommandError(str(error)) from None
        except Rater.DoesNotExist:
            raise CommandError(f"there is nobody with the code “{code}” in {study}") from None
        except Invitation.DoesNotExist:
            raise CommandError(f"{code} in {study} did not come in by a link, so there is none to replace") from None
        self.stdout.write(reverse("annotation:invitation", args=[token]))
