"""The rater of a command: its arguments, and the lookup."""

from django.core.management.base import CommandError, CommandParser

from annotation.models import Rater
from studies.lookup import NoSuchStudy, find_study


def add_arguments(parser: CommandParser) -> None:
    """Let a command take the slug of a study and the code of a rater."""
    parser.add_argument("study", metavar="STUDY", help="slug of the study")
    parser.add_argument("code", metavar="CODE", help="code of the rater, such as E07")


def find_person(study: str, code: str) -> Rater:
    """The person of that code in the study of that slug. Raises CommandError."""
    try:
        return find_study(study).raters.get(code=code, kind=Rater.Kind.PERSON)
    except NoSuchStudy as error:
        raise CommandError(str(error)) from None
    except Rater.DoesNotExist:
        raise CommandError(f"there is nobody with the code “{code}” in {study}") from None
