"""A study whose stories can be told apart by their words."""

import pytest

from studies.models import Study
from tests import factories


@pytest.fixture
def study() -> Study:
    """Four stories, two tests of each, frozen."""
    study = factories.study(comparative=False, planned=False)
    for n, story in enumerate(study.stories.order_by("code")):
        story.text = f"Story {n} began in a year of rain.\n\n" + f"Plum {n}. " * 60
        story.save()
    factories.plan(study)
    return study
