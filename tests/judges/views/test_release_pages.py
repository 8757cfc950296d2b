"""Derived texts released for sending, in one action with a reason: whatever may stand in its way."""

import re

import pytest
from django.test import Client

from annotation.models import Fill
from annotation.participation import withdrawal
from annotation.responses import submission
from judges import releases
from judges.models import TextRelease
from judges.releases import CannotRelease
from studies import licences
from studies.models import Source, Story, Study
from tests import factories
from tests.annotation import clozes

pytestmark = pytest.mark.django_db
TEXTS = "/studies/plums/runs/texts/"
FIELDS = {"codes": ["p1s2"], "reason": "Written for this study."}


@pytest.fixture
def study() -> Study:
    """Two stories; a model wrote the second."""
    study = factories.study(n_stories=2, n_items=1, state="draft", planned=False)
    Source.objects.filter(name="Source 2").update(kind=Source.Kind.MODEL)
    return study


@pytest.fixture
def designer(client: Client) -> Client:
    client.force_login(factories.staff("designer"))
    return client


def test_derived_texts_are_released_in_one_action_with_a_reason(designer: Client, study: Study) -> None:
    assert (
        "p1s2, Source 2 <small>The p1s2 began. It went on. It ended. …</small>" in designer.get(TEXTS).content.decode()
    )

    designer.post(TEXTS, {"codes": ["p1s2"], "licence": "CC0", "reason": "Written for this study."})

    row = TextRelease.objects.get()
    assert (row.codes, row.licence, row.reason, row.by) == (["p1s2"], "CC0", "Written for this study.", "designer")
    assert licences.find_sendable_codes(study) == {"p1s2"}
    assert study.stories.get(code="p1s2").provenance.licence == "CC0"
    assert "Written for this study." in designer.get(TEXTS).content.decode()


def test_without_a_reason_nothing_is_released(designer: Client, study: Study) -> None:
    response = designer.post(TEXTS, {"codes": ["p1s2"], "reason": " "})

    assert (response.status_code, TextRelease.objects.count(), licences.find_sendable_codes(study)) == (400, 0, set())


def test_a_text_that_is_not_derived_is_not_released_so(study: Study) -> None:
    with pytest.raises(CannotRelease, match="p1s1 is not among"):
        releases.release(study, ["p1s1"], reason="Why not.", by="x", at=factories.NOON)
    assert licences.find_sendable_codes(study) == set()


@pytest.mark.parametrize("role", ["coordinator", "researcher", "steward", "administrator"])
def test_who_may_not_change_provenance_releases_nothing(client: Client, study: Study, role: str) -> None:
    client.force_login(factories.staff(role))

    assert client.post(TEXTS, FIELDS).status_code == 403
    assert licences.find_sendable_codes(study) == set()


@pytest.mark.parametrize("state", Study.State.values)
@pytest.mark.parametrize("is_frozen", [False, True])
def test_texts_are_released_in_every_state_of_a_study(
    designer: Client, study: Study, state: str, is_frozen: bool
) -> None:
    factories.plan(study, freezes=is_frozen)
    Study.objects.filter(pk=study.pk).update(state=state)

    assert designer.post(TEXTS, FIELDS).status_code == 302
    assert licences.find_sendable_codes(study) == {"p1s2"}


def test_a_withheld_text_is_not_released(designer: Client, study: Study) -> None:
    Story.objects.filter(code="p1s2").update(is_withheld=True, text="")

    response = designer.post(TEXTS, FIELDS)

    assert (response.status_code, TextRelease.objects.count()) == (400, 0)
    assert "p1s2 is not among the texts that wait to be released." in response.content.decode()


def test_what_a_rater_filled_in_is_released_until_they_withdraw_and_never_after(designer: Client, study: Study) -> None:
    writer = clozes.assignment(clozes.study("quinces"))
    clozes.fill(writer)
    submission.submit(writer, at=factories.NOON)
    Fill.objects.update(story=study.stories.get(code="p1s1"))
    assert [story.code for story in releases.find_releasable(study)] == ["p1s1", "p1s2"]
    designer.post(TEXTS, FIELDS | {"codes": ["p1s1"]})
    assert licences.find_sendable_codes(study) == {"p1s1"}

    withdrawal.withdraw(writer.rater, at=factories.NOON)

    assert licences.find_sendable_codes(study) == set()
    assert [story.code for story in releases.find_releasable(study)] == ["p1s2"]
    assert designer.post(TEXTS, FIELDS | {"codes": ["p1s1"]}).status_code == 400


@pytest.mark.parametrize("is_meanwhile", [False, True])
def test_a_text_that_was_released_before_is_not_released_again(
    designer: Client, study: Study, is_meanwhile: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stories = releases.find_releasable(study)
    releases.release(study, ["p1s2"], reason="Agreed.", by="x", at=factories.NOON)
    if is_meanwhile:
        # By somebody else, while this account's form was on the way.
        answers = iter([stories, [], []])
        monkeypatch.setattr(releases, "find_releasable", lambda study: next(answers))

    response = designer.post(TEXTS, FIELDS)

    assert (response.status_code, TextRelease.objects.get().reason) == (400, "Agreed.")
    assert "p1s2 is not among the texts that wait to be released." in response.content.decode()


def test_the_same_form_posted_twice_releases_once_and_leads_there_again(designer: Client, study: Study) -> None:
    token = re.findall(r'name="once" value="(\w+)"', designer.get(TEXTS).content.decode())[-1]

    responses = [designer.post(TEXTS, FIELDS | {"once": token}) for _ in range(2)]

    assert [(response.status_code, response.headers["Location"]) for response in responses] == [(302, TEXTS)] * 2
    assert TextRelease.objects.count() == 1


@pytest.mark.parametrize("fields", [{"reason": ""}, {"codes": []}, {"codes": ["nowhere"]}, {"licence": "x" * 201}])
def test_a_form_that_is_not_right_releases_nothing_and_leads_to_what_is_not(
    designer: Client, study: Study, fields: dict[str, object]
) -> None:
    response = designer.post(TEXTS, FIELDS | fields)

    page = response.content.decode()
    assert (response.status_code, TextRelease.objects.count(), licences.find_sendable_codes(study)) == (400, 0, set())
    anchors = re.findall(r'<li><a href="#([^"]+)"', page)
    assert anchors
    assert all(f'id="{anchor}"' in page for anchor in anchors)
