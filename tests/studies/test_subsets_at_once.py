"""A subset that is made while somebody changes the stories that it is drawn from."""

import threading
import time

import pytest
from django.db import transaction

from studies import story_edits, subsets
from studies.models import Story, Study
from studies.strata import draw
from tests.studies.test_subsets import make_study, rule
from tests.threads import at_once


@pytest.mark.usefixtures("committed")
@pytest.mark.django_db(transaction=True)
@pytest.mark.services
def test_what_is_drawn_is_what_is_copied_though_somebody_corrects_a_story_meanwhile() -> None:
    study = make_study(n_groups=1)
    story = study.stories.earliest("pk")
    is_held, before = threading.Event(), story.text

    def make() -> Study:
        with transaction.atomic():
            population = subsets.hold_population(study)
            is_held.set()
            time.sleep(0.3)
            return subsets.create_subset(study, population, draw(population.candidates, rule(2)), "Both", by=None)

    def correct() -> bool:
        is_held.wait()
        return story_edits.correct_text(story, "New words.")

    subset, is_corrected = at_once(make, correct)

    assert is_corrected is True
    assert study.stories.get(pk=story.pk).text == "New words."
    assert Story.objects.get(study=subset, code=story.code).text == before
