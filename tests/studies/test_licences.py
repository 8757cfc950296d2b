import pytest

from studies import licences
from studies.models import Provenance, Story
from tests import factories

pytestmark = pytest.mark.django_db


def test_only_texts_that_may_be_sent_out_and_are_there_are_sendable() -> None:
    study = factories.study(planned=False)
    factories.study("other", planned=False)
    Provenance.objects.filter(story__code__in=["p1s1", "p1s2"]).update(may_send_out=True)
    Story.objects.filter(study=study, code="p1s2").update(text="", is_withheld=True)

    assert licences.find_sendable_codes(study) == {"p1s1"}


def test_a_story_of_unknown_origin_is_not_sendable() -> None:
    study = factories.study(planned=False)
    Provenance.objects.update(may_send_out=True)
    Story.objects.create(study=study, code="found", text="Found in a drawer.")

    assert licences.find_sendable_codes(study) == {"p1s1", "p1s2", "p1s3", "p1s4"}
