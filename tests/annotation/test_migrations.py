"""What a migration makes of rows that are there already."""

from importlib import import_module

import pytest
from django.apps import apps

from annotation.models import Assignment, Invitation, Rater
from annotation.participation import claims, recognition, visits
from tests import factories
from tests.factories import NOON

pytestmark = pytest.mark.django_db


def test_groups_claimed_before_are_numbered_from_their_times() -> None:
    study = factories.study(n_groups=4, k=2)
    person, imported = factories.rater(study), factories.rater(study)
    Invitation.objects.create(study=study, token_sha256="x", rater=person)
    first = claims.claim(person)
    Assignment.objects.filter(pk=first.pk).update(status="submitted", ended_at=NOON)
    recognition.give_back_seat(claims.claim(person), at=NOON)
    claims.claim(person)
    claims.claim(imported)
    visits.ensure_visit(person)
    Assignment.objects.update(position=None)

    import_module("annotation.migrations.0002_order_over_groups").number_assignments(apps, None)

    def positions(rater: Rater) -> list[int | None]:
        return list(rater.assignments.order_by("pk").values_list("position", flat=True))

    assert positions(person) == [1, 2, 2, None]
    assert positions(imported) == [None]
