"""What several probes begin with: an instrument asked of every story of a small study, and a rater before it."""

from django.test import Client
from django.urls import reverse

from annotation.models import Assignment
from studies.models import Instrument, Step, Study
from tests import factories
from tests.annotation import walk


def study_of(instrument: Instrument) -> Study:
    """A live study of two stories in one group for two raters, whose one rating step asks this instrument."""
    study = factories.study(n_stories=2, k=2, comparative=False, planned=False)
    Step.objects.filter(version__study=study, key="tests").update(instrument=instrument)
    factories.plan(study)
    return study


def desk_of(instrument: Instrument, client: Client, *, item: str) -> tuple[Assignment, str]:
    """A rater's assignment in such a study, and the page that asks the item of the first story."""
    assignment = walk.begin(client, study_of(instrument))
    address = reverse("annotation:story_item", args=[assignment.code, "tests", "A", item])
    return assignment, client.get(address).text
