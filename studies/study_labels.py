"""How studies are called where one is chosen among several: two may have one title."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from django import forms
from django.forms.models import ModelChoiceIterator, ModelChoiceIteratorValue
from django.utils import timezone
from django.utils.formats import date_format

from studies.models import Study


def label_studies(studies: Iterable[Study]) -> dict[Study, str]:
    """Each study's title with its state, and since when; its short name as well where two would read alike."""
    label_by_study = {study: _label(study) for study in studies}
    n_by_label = Counter(label_by_study.values())
    return {
        study: label if n_by_label[label] == 1 else _label(study, study.slug) for study, label in label_by_study.items()
    }


def _label(study: Study, *more: str) -> str:
    day = study.closed_at or study.launched_at
    since = [date_format(timezone.localtime(day), "DATE_FORMAT")] if day else []
    return f"{study.title} ({', '.join([str(study.get_state_display()), *since, *more])})"


class LabelledStudies(ModelChoiceIterator):  # type: ignore[type-arg]
    def __iter__(self) -> Iterator[Any]:
        if self.field.empty_label is not None:
            yield ("", self.field.empty_label)
        for study, label in label_studies(self.queryset).items():
            yield ModelChoiceIteratorValue(self.field.prepare_value(study), study), label


class StudyChoice(forms.ModelChoiceField):  # type: ignore[type-arg]
    iterator = LabelledStudies


class StudiesChoice(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    iterator = LabelledStudies
