"""Derived texts released for sending, in one action with a reason: whatever may stand in its way."""

import re
import threading
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.design import deletion
from annotation.models import Fill
from annotation.participation import withdrawal
from annotation.responses import derivation, submission
from judges import releases, runs
from judges.laboratory import generation
from judges.laboratory.generation import Terms
from judges.models import Draft, GeneratedText, Judge, Prompt, TextRelease
from judges.planning import CannotRun
from judges.releases import CannotRelease, ClosedText
from studies import licences
from studies.models import Provenance, Source, Story, Study
from studies.strata import SubsetRule
from tests import factories
from tests.annotation import clozes
from tests.judges import standin as told
from tests.judges.conftest import judge_at
from tests.judges.laboratory.generation.stories import draft_study, endpoint_at, order, written
from tests.judges.standin import StandIn
from tests.replay import replayed
from tests.studies.subsets import create_subset
from tests.threads import at_once

pytestmark = pytest.mark.django_db
TEXTS = "/studies/plums/runs/texts/"
FIELDS = {"codes": ["p1s2"], "reason": "Written for this study."}


@pytest.fixture
@replayed
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


def test_a_printed_text_is_released_only_for_a_reason_that_names_its_licence(designer: Client, study: Study) -> None:
    with pytest.raises(CannotRelease, match="p1s1 has no licence"):
        releases.release(study, ["p1s1"], reason="Why not.", by="x", at=factories.NOON)
    Provenance.objects.filter(story__code="p1s1").update(licence="CC BY-NC 4.0")
    assert "CC BY-NC 4.0: 1 text <small>p1s1</small>" in designer.get(TEXTS).content.decode()

    refused = designer.post(TEXTS, {"printed": ["CC BY-NC 4.0"], "reason": "Why not."})

    assert (refused.status_code, licences.find_sendable_codes(study)) == (400, set())
    assert "The licence of p1s1 is “CC BY-NC 4.0”. Say in the reason why it allows" in refused.content.decode()
    designer.post(TEXTS, {"printed": ["CC BY-NC 4.0"], "reason": "We do not earn by it: CC BY-NC 4.0."})
    assert licences.find_sendable_codes(study) == {"p1s1"}
    assert TextRelease.objects.get().codes == ["p1s1"]


def test_a_text_that_may_be_sent_without_a_release_is_said_to_have_come_so(designer: Client, study: Study) -> None:
    designer.post(TEXTS, FIELDS)
    assert releases.find_brought_in(study) == {}

    Provenance.objects.filter(story__code="p1s1").update(may_send_out=True, licence="CC0")

    assert releases.find_brought_in(study) == {"CC0": ["p1s1"]}
    assert "May be sent since import" in designer.get(TEXTS).content.decode()


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
    assert releases.NOT_WAITING % {"value": "p1s2"} in response.content.decode()


def test_what_a_rater_filled_in_is_released_until_they_withdraw_and_never_after(designer: Client, study: Study) -> None:
    writer = clozes.assignment(clozes.study("quinces"))
    clozes.fill(writer)
    submission.submit(writer, at=factories.NOON)
    Fill.objects.update(story=study.stories.get(code="p1s1"))
    assert [text.code for text in releases.find_releasable(study) if text.is_derived] == ["p1s1", "p1s2"]
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
    texts = releases.find_releasable(study)
    releases.release(study, ["p1s2"], reason="Agreed.", by="x", at=factories.NOON)
    if is_meanwhile:
        # By somebody else, while this account's form was on the way.
        answers = iter([texts, [], []])
        monkeypatch.setattr(releases, "find_releasable", lambda study: next(answers))

    response = designer.post(TEXTS, FIELDS)

    assert (response.status_code, TextRelease.objects.get().reason) == (400, "Agreed.")
    assert releases.NOT_WAITING % {"value": "p1s2"} in response.content.decode()


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


@pytest.fixture
def filled(standin: StandIn) -> tuple[Study, Judge]:
    """A person's fill of a cloze as a story that may not be sent, in a subset; and a judge outside."""
    writer = clozes.assignment(clozes.study("quinces"))
    clozes.fill(writer)
    submission.submit(writer, at=factories.NOON)
    derived = derivation.derive(writer.study, "filled", derivation.derivable_fills(writer.study))
    judge = judge_at(standin)
    Judge.objects.filter(pk=judge.pk).update(prompt=Prompt.objects.get(name="quiet-judge"))
    judge.refresh_from_db()
    return create_subset(derived, SubsetRule(n=1, seed=1), "Some", by=None), judge


@pytest.mark.parametrize("is_original_deleted", [False, True])
def test_a_filled_text_that_was_copied_is_refused_by_name_and_released_where_it_is(
    designer: Client, filled: tuple[Study, Judge], is_original_deleted: bool
) -> None:
    study, judge = filled
    if is_original_deleted:
        deletion.delete_draft(Study.objects.get(slug="filled"))
    code = study.stories.get().code
    texts = f"/studies/{study.slug}/runs/texts/"
    with pytest.raises(CannotRun, match=rf"1 story \({code}\) "):
        runs.preview(study, judge)
    assert f"{code}, participant E01 of quinces" in designer.get(texts).content.decode()

    assert designer.post(texts, {"codes": [code], "reason": "Agreed by consent."}).status_code == 302

    planned, _estimate = runs.preview(study, judge)
    assert planned.n_calls
    assert (TextRelease.objects.get().study, TextRelease.objects.get().codes) == (study, [code])
    original = Provenance.objects.filter(story__study__slug="filled").first()
    assert original is None or not original.may_send_out


def test_a_printed_story_that_was_copied_is_printed_there_too(study: Study) -> None:
    subset = create_subset(study, SubsetRule(n=2, seed=1), "Some", by=None)

    assert {text.code: text.is_derived for text in releases.find_releasable(subset)} == {"p1s1": False, "p1s2": True}


@pytest.fixture
def extracted(standin: StandIn) -> Study:
    """A draft with an idea, p1s1 said by a model in its own house: p1s1 may not be sent, and its licence is entered."""
    study = draft_study()
    standin.reply = lambda hit: told.says("A well runs dry.")
    Provenance.objects.filter(story__code="p1s1").update(licence="All rights reserved")
    wish = order(endpoint_at(standin), "nsv-extraction", groups=(), stories=("p1s1",), sizes=(50,))
    made = written(study, wish)
    keys = GeneratedText.objects.filter(draft__generation=made).values_list("pk", flat=True)
    terms = Terms(may_send_out=True, reason="The writers agreed.")
    generation.accept(made, dict.fromkeys(keys, False), terms, by="rui", at=factories.NOON)
    return study


def idea(study: Study) -> ClosedText:
    """The one text of the study that a model made from a story."""
    (text,) = [text for text in releases.find_releasable(study) if "runs dry" in text.beginning]
    return text


@pytest.mark.parametrize("is_copied", [False, True])
def test_what_was_made_from_a_closed_story_leaves_only_for_a_reason_that_names_its_licence(
    designer: Client, extracted: Study, is_copied: bool
) -> None:
    study = create_subset(extracted, SubsetRule(n=3, seed=1), "All", by=None) if is_copied else extracted
    text = idea(study)
    address = f"/studies/{study.slug}/runs/texts/"
    html = unescape(designer.get(address).content.decode())
    assert "Made from p1s1, which may not be sent. Its licence: All rights reserved." in html
    assert "the reason must name that story’s licence." in html
    assert not re.search(rf'value="{text.code}"[^>]*checked', html), "it is ticked by hand"

    refused = designer.post(address, {"codes": [text.code], "reason": "Only the idea of it."})

    assert (refused.status_code, licences.find_sendable_codes(study)) == (400, set())
    sentence = (
        f"{text.code} was made from p1s1, which may not be sent: its licence is “All rights reserved”. Say in the"
    )
    assert sentence in unescape(refused.content.decode())
    reason = "The idea alone is not covered by “all  rights reserved” (counsel, 3 March)."
    assert designer.post(address, {"codes": [text.code], "reason": reason}).status_code == 302
    assert licences.find_sendable_codes(study) == {text.code}
    assert TextRelease.objects.get().reason == reason


def test_what_was_made_from_a_closed_story_without_a_licence_is_not_released(extracted: Study) -> None:
    Provenance.objects.filter(story__code="p1s1").update(licence="")
    text = idea(extracted)

    with pytest.raises(CannotRelease, match="Enter the licence of p1s1 with its provenance first"):
        releases.release(extracted, [text.code], reason="Why not.", by="x", at=factories.NOON)


def test_what_was_made_from_a_story_that_may_be_sent_needs_no_name(extracted: Study) -> None:
    text = idea(extracted)
    Provenance.objects.filter(story__code="p1s1").update(may_send_out=True)

    assert not idea(extracted).made_from
    releases.release(extracted, [text.code], reason="Agreed.", by="x", at=factories.NOON)


@pytest.mark.parametrize("what", ["study", "draft", "original"])
def test_what_a_copy_was_made_from_keeps_its_say_after_the_draft_was_deleted(
    designer: Client, extracted: Study, what: str
) -> None:
    subset = create_subset(extracted, SubsetRule(n=3, seed=1), "All", by=None)
    assert idea(subset).made_from

    if what == "study":
        deletion.delete_draft(extracted)
    elif what == "draft":
        Draft.objects.all().delete()
    else:
        extracted.stories.get(code="p1s1").delete()

    assert not GeneratedText.objects.exists()
    for study in Study.objects.all():
        text = idea(study)
        with pytest.raises(CannotRelease, match=f"The licence of {text.code} is “All rights reserved”"):
            releases.release(study, [text.code], reason="Only the idea of it.", by="x", at=factories.NOON)


def test_an_idea_whose_idea_of_reference_was_deleted_is_released_only_under_its_own_licence(standin: StandIn) -> None:
    study = draft_study()
    standin.reply = lambda hit: told.says("A well runs dry.")
    made = written(study, order(endpoint_at(standin), "nsv-feedback", n_rounds=1, reference="p2s1"))
    plain = written(study, order(made.run.judge.required_endpoint, "nsv-feedback", n_rounds=1, model="other"))
    for result in (made, plain):
        keys = GeneratedText.objects.filter(draft__generation=result).values_list("pk", flat=True)
        generation.accept(result, dict.fromkeys(keys, False), Terms(placement="new"), by="rui", at=factories.NOON)
    study.stories.get(code="p2s1").delete()

    texts = [text for text in releases.find_releasable(study) if "runs dry" in text.beginning]

    rounds = dict(GeneratedText.objects.values_list("story__code", "draft__generation__run"))
    later = set(GeneratedText.objects.filter(round=1).values_list("story__code", flat=True))
    assert len(texts) == 4
    assert {text.code for text in texts if not text.is_derived} == {c for c in later if rounds[c] == made.pk}


@pytest.mark.services
def test_of_two_that_release_the_same_text_at_once_one_does_and_the_other_is_told(
    committed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = factories.study(n_stories=2, n_items=1, state="draft", planned=False)
    Source.objects.filter(name="Source 2").update(kind=Source.Kind.MODEL)
    clients = [Client() for _ in range(2)]
    for number, client in enumerate(clients):
        user = factories.staff("designer")
        User.objects.filter(pk=user.pk).update(username=f"designer-{number}")
        client.force_login(User.objects.get(pk=user.pk))
    both_are_there, release = threading.Barrier(2), releases.release

    def release_together(*args: Any, **options: Any) -> TextRelease:
        both_are_there.wait(timeout=30)
        return release(*args, **options)

    monkeypatch.setattr(releases, "release", release_together)

    answers = at_once(*(lambda n=n: clients[n].post(TEXTS, FIELDS | {"reason": f"Reason {n}."}) for n in range(2)))

    assert sorted(answer.status_code for answer in answers) == [302, 400]
    (told_of_it,) = [answer for answer in answers if answer.status_code == 400]
    assert releases.NOT_WAITING % {"value": "p1s2"} in told_of_it.content.decode()
    row = TextRelease.objects.get()
    assert (row.codes, row.reason) == (["p1s2"], f"Reason {row.by[-1]}.")
    assert licences.find_sendable_codes(study) == {"p1s2"}
