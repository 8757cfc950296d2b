"""Studies that are chosen among several are told apart."""

import pytest
from django import forms

from studies.models import Study
from studies.study_labels import StudyChoice, label_studies
from tests.factories import NOON

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


def test_a_study_is_called_by_title_state_and_day() -> None:
    draft = Study(pk=1, slug="plums", title="Plums")
    closed = Study(pk=2, slug="plums-2", title="Plums", state="closed", closed_at=NOON)

    assert list(label_studies([draft, closed]).values()) == ["Plums (Draft)", "Plums (Closed, 2 March 2026)"]


def test_two_that_would_read_alike_have_their_short_names() -> None:
    Study.objects.create(slug="pears", title="Plums")
    Study.objects.create(slug="plums", title="Plums")
    Study.objects.create(slug="quinces", title="Quinces")

    class Form(forms.Form):
        study = StudyChoice(Study.objects.order_by("slug"), empty_label="Choose one")

    labels = [str(label) for _value, label in Form().fields["study"].choices]  # type: ignore[attr-defined]
    assert labels == ["Choose one", "Plums (Draft, pears)", "Plums (Draft, plums)", "Quinces (Draft)"]
