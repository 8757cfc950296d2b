"""`manage.py amend STUDY PLACE=TEXT …`: changes what a launched study says, with a reason, as its page does."""

from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from annotation.design import amendments
from annotation.design.amendments import HoldsFor, Wish
from studies.lookup import NoSuchStudy, find_study
from studies.protocol import NotPlannable
from studies.protocol.amendments import FIELDS, WORDS, AmendableState, AmendedPlace, state_of

NUMBERS = ("minutes", "seats_per_group")


class Command(BaseCommand):
    help = (
        "Changes what a launched study tells its raters, its deadline, its pay or its raters a group. Says what would "
        "change and what stands in the way; stories, questions, steps and orders cannot be amended."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="slug of the study")
        parser.add_argument(
            "changes",
            metavar="PLACE=TEXT",
            nargs="+",
            help=f"a field ({', '.join(FIELDS)}), or a step's words, as consent.text or consent.title; nothing after = "
            "empties it",
        )
        parser.add_argument("--reason", required=True, help="one sentence, which reports print")
        parser.add_argument(
            "--everybody", action="store_true", help="also for those at work, not only for who begins from now on"
        )
        parser.add_argument("--pay-is-no-less", action="store_true", help="say so where the words cannot be compared")
        parser.add_argument("--dry-run", action="store_true", help="only say what would change")

    def handle(self, *, study: str, changes: list[str], reason: str, dry_run: bool, **options: Any) -> None:
        holds_for = HoldsFor.EVERYBODY if options["everybody"] else HoldsFor.NEWCOMERS
        try:
            row = find_study(study)
            state = _change(state_of(row)[0], changes)
            wish = Wish(state, reason, holds_for, pay_is_no_less=options["pay_is_no_less"])
            preview = amendments.preview(row, wish, at=timezone.now())
            self._say(preview.places)
            if dry_run:
                for finding in preview.findings:
                    self.stdout.write(f"{finding.level}: {finding}")
                self.stdout.write("Nothing has been done.")
                return
            amendment = amendments.amend(row, wish, by="manage.py amend", at=timezone.now())
        except (NoSuchStudy, NotPlannable, amendments.NotAmended) as error:
            raise CommandError(str(error)) from None
        version = f"protocol version {amendment.version.number}" if amendment.version else "the protocol's words stay"
        whom = "everybody" if amendment.holds_for == HoldsFor.EVERYBODY else "those who begin from now on"
        self.stdout.write(f"{study} is amended: {version}, for {whom}.")

    def _say(self, places: list[AmendedPlace]) -> None:
        for place in places:
            self.stdout.write(f"{place.label}: - {place.before}")
            self.stdout.write(f"{place.label}: + {place.after}")


def _change(state: AmendableState, changes: list[str]) -> AmendableState:
    """The state with what was typed. Raises CommandError."""
    values, words = dict(state.values), {key: dict(of_step) for key, of_step in state.words.items()}
    for change in changes:
        place, sign, text = change.partition("=")
        step, _dot, name = place.partition(".")
        if not sign:
            raise CommandError(f"{change}: write PLACE=TEXT")
        if place in FIELDS:
            values[place] = _read(place, text)
        elif step in words and name in WORDS:
            words[step][name] = text
        else:
            raise CommandError(f"{place} cannot be amended; a copy of the study can ask something else")
    return AmendableState(values, words)


def _read(name: str, text: str) -> object:
    if name == "closes_at":
        return _read_time(text) if text else None
    if name in NUMBERS:
        if not text.isdigit() and not (name == "minutes" and not text):
            raise CommandError(f"{name}: give a whole number")
        return int(text) if text else None
    return text


def _read_time(text: str) -> datetime:
    try:
        at = parse_datetime(text)
    except ValueError:
        at = None
    if at is None:
        raise CommandError("closes_at: give a day and a time with its zone, such as 2027-01-31T18:00+01:00")
    return at if timezone.is_aware(at) else timezone.make_aware(at)
