"""People who are to be invited: read from pasted lines or a table, noted all or not at all, and taken off again.

Names and addresses go into identities, which stewards alone see; everybody else sees labels.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from email.utils import parseaddr

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils.translation import gettext as _

from annotation.models import Application, Identity, Invitation
from annotation.participation import invitations, withdrawal
from studies.models import Study

MOST_PEOPLE = 2000  # people at a time
LONGEST_LABEL = 120
HEADINGS = {
    "label": "label",
    "name": "name",
    "e-mail": "email",
    "email": "email",
    "mail": "email",
    "address": "email",
}


@dataclass(frozen=True)
class Person:
    """Somebody to be invited. line : where they stand, from 1; an empty label is made"""

    line: int
    label: str
    name: str = ""
    email: str = ""


class CannotNote(ValueError):
    """None of the people were noted. problems : a sentence for each line that is not right"""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = list(problems)


def read_people(text: str) -> list[Person]:
    """The people of these lines: a label; a label and an address; a label, a name and an address. Raises CannotNote.

    Commas, semicolons or tabs between; a first line may name the columns.
    """
    people: list[Person] = []
    problems: list[str] = []
    columns: list[str] = []
    lines = text.lstrip("\ufeff").splitlines()
    for number, line in enumerate(lines, start=1):
        cells = _split(line)
        if not any(cells):
            continue
        if not people and not columns and all(cell.lower() in HEADINGS for cell in cells):
            columns = [HEADINGS[cell.lower()] for cell in cells]
            continue
        try:
            people.append(_read_person(number, cells, columns))
        except ValueError as error:
            problems.append(_("Line %(line)d: %(why)s") % {"line": number, "why": error})
    if len(people) > MOST_PEOPLE:
        problems = [
            _("These are %(n)d people. Add at most %(most)d at a time.") % {"n": len(people), "most": MOST_PEOPLE}
        ]
    if not people and not problems:
        problems = [_("No people found. Enter one person per line.")]
    if problems:
        raise CannotNote(problems)
    return people


def _split(line: str) -> list[str]:
    separator = next((mark for mark in "\t;" if mark in line), ",")
    return [" ".join(cell.split()) for cell in next(csv.reader([line], delimiter=separator), [])]


def _read_person(number: int, cells: list[str], columns: list[str]) -> Person:
    if columns:
        values = dict(zip(columns, cells, strict=False))
        label, name, email = (values.get(column, "") for column in ("label", "name", "email"))
    else:
        addresses = [cell for cell in cells if "@" in cell]
        words = [cell for cell in cells if cell and "@" not in cell]
        if len(addresses) > 1:
            raise ValueError(_("it has two addresses; enter one person per line."))
        if len(words) > 2 or (len(words) == 2 and not addresses):
            raise ValueError(_("it has more than a label, a name and an address. Put a label with commas in quotes."))
        name_in_address, email = parseaddr(addresses[0]) if addresses else ("", "")
        label, name = (*words, "", "")[:2]
        name = name or name_in_address
        if addresses and not email:
            raise ValueError(_("“%(text)s” is not an e-mail address.") % {"text": addresses[0]})
    if len(label) > LONGEST_LABEL:
        raise ValueError(_("its label is longer than %(n)d characters.") % {"n": LONGEST_LABEL})
    if email:
        try:
            validate_email(email)
        except ValidationError:
            raise ValueError(_("“%(text)s” is not an e-mail address.") % {"text": email}) from None
    if not label and not email:
        raise ValueError(_("it has neither a label nor an address."))
    return Person(number, label, name[:200], email)


def note(study: Study, people: Sequence[Person]) -> list[Invitation]:
    """Invitations for all these people, whose links have not been shown yet. Raises CannotNote, making none."""
    with transaction.atomic():
        # Held, so that two people who note at once do not note the same person twice.
        Study.objects.select_for_update().filter(pk=study.pk).first()
        if problems := [*_find_clashes(study, people)]:
            raise CannotNote(problems)
        rows = invitations.note(study, _make_labels(study, people))
        identity_by_email = _ensure_identities(people)
        for row, person in zip(rows, people, strict=True):
            row.identity = identity_by_email.get(person.email.lower())
        Invitation.objects.bulk_update([row for row in rows if row.identity], ["identity"], batch_size=400)
    return rows


def _find_clashes(study: Study, people: Sequence[Person]) -> Iterable[str]:
    """A sentence for each line whose label or address is somebody else's."""
    line_by_label: dict[str, int] = {}
    line_by_email: dict[str, int] = {}
    labels = {label.lower() for label in study.invitations.values_list("label", flat=True)}
    label_by_email = {email.lower(): label for email, label in emails_in(study)}
    for person in people:
        label, email = person.label.lower(), person.email.lower()
        if label and label in labels:
            yield _("Line %(line)d: there is a “%(label)s” in this study already.") % vars(person)
        elif label and label in line_by_label:
            values = {"line": person.line, "label": person.label, "other": line_by_label[label]}
            yield _("Line %(line)d: “%(label)s” is also in line %(other)d.") % values
        if email and email in label_by_email:
            values = {"line": person.line, "label": label_by_email[email]}
            yield (
                _(
                    "Line %(line)d: this address belongs to “%(label)s”, who is already on the list. Remove the line, "
                    "enter another address, or leave the address out and send the link yourself."
                )
                % values
            )
        elif email and email in line_by_email:
            values = {"line": person.line, "other": line_by_email[email]}
            yield (
                _(
                    "Line %(line)d: the same address is in line %(other)d. Remove one of them, enter another address, "
                    "or leave one address out and send that link yourself."
                )
                % values
            )
        line_by_label.setdefault(label, person.line)
        line_by_email.setdefault(email, person.line)


def emails_in(study: Study) -> list[tuple[str, str]]:
    """The addresses of all who stand invited to the study, each with its label."""
    rows = study.invitations.filter(revoked_at=None).exclude(identity=None).exclude(identity__email="")
    return list(rows.values_list("identity__email", "label"))


def _make_labels(study: Study, people: Sequence[Person]) -> list[str]:
    labels = {label.lower() for label in study.invitations.values_list("label", flat=True)}
    labels |= {person.label.lower() for person in people}
    number, completed = study.invitations.count(), []
    for person in people:
        label = person.label
        while not label:
            number += 1
            candidate = _("Person %(number)d") % {"number": number}
            label = "" if candidate.lower() in labels else candidate
        completed.append(label)
    return completed


def _ensure_identities(people: Sequence[Person]) -> dict[str, Identity]:
    """Their identities by address in small letters: somebody of another study stays one and the same."""
    by_email = {person.email.lower(): person for person in people if person.email}
    rows = Identity.objects.annotate(key=Lower("email")).filter(key__in=list(by_email))
    identities = {identity.email.lower(): identity for identity in rows}
    lacking = [person for email, person in by_email.items() if email not in identities]
    created = Identity.objects.bulk_create([Identity(name=person.name, email=person.email) for person in lacking])
    return identities | {identity.email.lower(): identity for identity in created}


class AddressTaken(ValueError):
    """Somebody else in the study has this address; the message says who."""


def change_address(invitation: Invitation, *, name: str, email: str) -> None:
    """Give the person of this invitation a name and an address, as a steward fills them in. Raises AddressTaken."""
    with transaction.atomic():
        Study.objects.select_for_update().filter(pk=invitation.study_id).first()
        others = invitation.study.invitations.filter(revoked_at=None, identity__email__iexact=email)
        if email and (other := others.exclude(pk=invitation.pk).first()):
            raise AddressTaken(_("This address belongs to “%(label)s”.") % {"label": other})
        identity = invitation.identity or Identity.objects.filter(~Q(email=""), email__iexact=email).first()
        identity = identity or Identity()
        identity.name, identity.email = name, email
        identity.save()
        Invitation.objects.filter(pk=invitation.pk).update(identity=identity)
        if invitation.rater:
            type(invitation.rater).objects.filter(pk=invitation.rater.pk, identity=None).update(identity=identity)


def take_back(invitation: Invitation, *, at: datetime) -> None:
    """Revoke the invitation. If the person never started, only the label is kept."""
    with transaction.atomic():
        invitations.revoke(invitation, at=at)
        invitation.refresh_from_db(fields=["rater", "identity"])
        identity = invitation.identity_id
        if invitation.rater_id is None and identity:
            Application.objects.filter(invitation=invitation).delete()
            Invitation.objects.filter(pk=invitation.pk).update(identity=None)
            withdrawal.forget_identity(identity)
