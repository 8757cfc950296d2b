from datetime import timedelta

import pytest

from annotation.models import Invitation, Rater
from annotation.participation import invitations
from studies import lifecycle
from tests import factories

NOON = factories.NOON


@pytest.mark.django_db
def test_only_the_hash_of_a_token_is_kept():
    invitation, token = invitations.issue(factories.study(), label="first")

    row = Invitation.objects.values().get(pk=invitation.pk)

    assert len(token) >= 43, "32 bytes, url-safe"
    assert token not in str(row)
    assert row["token_sha256"] == invitations.hash_token(token)


@pytest.mark.django_db
def test_a_token_opens_its_invitation_until_it_expires():
    invitation, token = invitations.issue(factories.study(), expires_at=NOON)

    assert invitations.find_by_token(token, at=NOON - timedelta(seconds=1)) == invitation
    assert invitations.find_by_token(token, at=NOON) is None


@pytest.mark.django_db
def test_an_unknown_or_revoked_token_opens_nothing():
    invitation, token = invitations.issue(factories.study())
    assert invitations.find_by_token(token, at=NOON) == invitation

    invitations.revoke(invitation, at=NOON)

    assert invitations.find_by_token(token, at=NOON) is None
    assert invitations.find_by_token(token[:-1], at=NOON) is None


@pytest.mark.django_db
@pytest.mark.parametrize("state", ["draft", "closed"])
def test_a_study_that_is_not_live_opens_to_nobody(state):
    _, token = invitations.issue(factories.study(state=state))

    assert invitations.find_by_token(token, at=NOON) is None


@pytest.mark.django_db
def test_a_study_is_open_until_its_last_moment():
    study = factories.study()
    study.closes_at = NOON

    assert lifecycle.is_open_for_answers(study, at=NOON - timedelta(seconds=1))
    assert not lifecycle.is_open_for_answers(study, at=NOON)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("closes_in", "expires_in", "ends_in"), [(None, None, None), (2, None, 2), (None, 3, 3), (2, 3, 2), (3, 2, 2)]
)
def test_the_earlier_of_two_ends_is_the_one_that_counts(closes_in, expires_in, ends_in):
    at = {days: days and NOON + timedelta(days=days) for days in (None, 2, 3)}
    study = factories.study()
    study.closes_at = at[closes_in]
    invitation, _ = invitations.issue(study, expires_at=at[expires_in])

    assert invitations.ends_at(study, invitation) == at[ends_in]
    assert invitations.ends_at(study, None) == at[closes_in]


@pytest.mark.django_db
def test_raters_are_named_in_order_of_arrival_and_the_same_link_finds_the_same_rater():
    study = factories.study()
    first, second = (invitations.issue(study)[0] for _ in range(2))

    named = [invitations.ensure_rater(each).code for each in (second, first, second)]

    assert named == ["E01", "E02", "E01"]
    assert Rater.objects.count() == 2


@pytest.mark.django_db
def test_a_name_that_is_taken_by_hand_is_skipped():
    study = factories.study()
    factories.rater(study, "E09")
    factories.rater(study, "Expert")

    assert invitations.ensure_rater(invitations.issue(study)[0]).code == "E10"


@pytest.mark.django_db
def test_a_link_opened_twice_at_once_makes_one_rater():
    study = factories.study()
    invitation, _ = invitations.issue(study)
    stale = Invitation.objects.select_related("study").get(pk=invitation.pk)
    rater = invitations.ensure_rater(invitation)

    assert invitations.ensure_rater(stale) == rater
    assert list(Rater.objects.all()) == [rater]
