"""Who took part in an earlier study that this one names gets no group, if it is known who they are."""

import pytest

from annotation.models import Identity, Rater
from annotation.participation import claims, eligibility
from studies.models import Study
from tests import factories
from tests.replay import replayed

pytestmark = pytest.mark.django_db


@pytest.fixture
@replayed
def later() -> Study:
    """A study that excludes the raters of another, in which one person has a group."""
    earlier = factories.study("earlier")
    before = factories.assignment(earlier).rater
    before.identity = Identity.objects.create(name="A", email="a@example.org", platform="prolific", platform_id="p1")
    before.save()
    study = factories.study("later", planned=False, state=Study.State.DRAFT)
    study.excluded_studies = ["earlier"]
    study.save()
    factories.plan(study)
    Study.objects.filter(pk=study.pk).update(state=Study.State.LIVE)
    return study


def come(study: Study, identity: Identity | None) -> Rater:
    rater = factories.rater(study)
    Rater.objects.filter(pk=rater.pk).update(identity=identity)
    return Rater.objects.get(pk=rater.pk)


@pytest.mark.parametrize("known_by", ["identity", "mail", "platform"])
def test_who_took_part_before_gets_no_group(later: Study, known_by: str) -> None:
    identity = {
        "identity": lambda: Identity.objects.get(),
        "mail": lambda: Identity.objects.create(email="A@EXAMPLE.org"),
        "platform": lambda: Identity.objects.create(platform="prolific", platform_id="p1"),
    }[known_by]()
    rater = come(later, identity)

    with pytest.raises(claims.NoSeat, match="You took part in an earlier study"):
        claims.claim(rater)
    assert claims.n_groups_left(rater) == 0


def test_others_get_one_and_so_does_who_never_had_a_group_before(later: Study) -> None:
    only_looked = factories.rater(Study.objects.get(slug="earlier"))
    only_looked.identity = Identity.objects.create(email="b@example.org")
    only_looked.save()

    for identity in (None, only_looked.identity, Identity.objects.create(platform="other", platform_id="p1")):
        assert claims.claim(come(later, identity)).group


def test_a_study_that_excludes_nobody_asks_nothing(later: Study, django_assert_num_queries) -> None:  # type: ignore[no-untyped-def]
    rater = Rater.objects.select_related("study").get(study__slug="earlier")

    with django_assert_num_queries(0):
        assert not eligibility.took_part_before(rater)
        assert not eligibility.has_read_most(rater)
