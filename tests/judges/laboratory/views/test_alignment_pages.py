"""The pages on which a judge's prompt is aligned: what is told, who may, what was proposed, and what is held out."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from judges import runs
from judges.laboratory import alignments
from judges.models import Alignment, Judge, Prompt, Run
from judges.views.new_runs import PLAN_CHANGED
from studies.models import Study
from tests import factories
from tests.judges.conftest import judge_at
from tests.judges.laboratory.alignments.studies import LESSON, Learner, aligned, answered_study
from tests.judges.standin import StandIn
from tests.judges.views.pages import page, words
from tests.replay import replayed

pytestmark = pytest.mark.django_db

NEW = "/studies/plums/runs/alignment/"


@pytest.fixture
@replayed
def study() -> Study:
    return answered_study()


@pytest.fixture
def judge(standin: StandIn, study: Study) -> Judge:
    judge = judge_at(standin)
    standin.reply = Learner(judge)
    runs.drain(runs.start(study, judge, by="tests"))
    return judge


def post(client: Client, where: str, values: dict[str, Any], *, role: str = "researcher") -> Any:
    client.force_login(User.objects.filter(username=role).first() or factories.staff(role))
    return client.post(where, values, follow=True)


def asked(judge: Judge, **values: Any) -> dict[str, Any]:
    shipped = alignments.load_proposal_prompt()
    words = {"system": shipped.system, "template": shipped.template}
    return {"judge": judge.pk, "share": 50, "n_proposals": 1, "seed": 0, **words, **values}


def test_what_is_told_stands_on_the_page_before_anything_is_sent(client: Client, study: Study, judge: Judge) -> None:
    assert "alignment-proposal" not in words(page(client, "researcher", NEW)), "the words stand in a field"

    said = words(post(client, NEW, asked(judge)).content.decode())
    changed = words(post(client, NEW, asked(judge, do="start", n_calls=3)).content.decode())

    assert "10 disagreements among 20 answers of the first part" in said
    assert "5 groups are held out" in said
    assert "The experts’ reasons are not sent." in said
    assert "Experts answered: No, No" in said
    assert str(PLAN_CHANGED) in changed
    assert not Alignment.objects.exists()


def test_a_person_reads_edits_accepts_and_starts_what_is_held_out(client: Client, study: Study, judge: Judge) -> None:
    post(client, NEW, asked(judge, do="start", n_calls=1))
    alignment = Alignment.objects.get()
    runs.drain(alignment.run)
    here = f"{NEW}{alignment.pk}/"

    said = words(page(client, "researcher", here))
    proposal = alignment.proposals.get()
    wording = alignments.load_wording(proposal)
    assert wording is not None
    values = {"do": "accept", "proposal": proposal.pk, "system": wording.system}
    lost = post(client, here, values | {"template": wording.template.replace("{{ words }}", "")})
    assert lost.status_code == 400
    post(client, here, values | {"template": wording.template.replace(LESSON, f"{LESSON} Always.")})
    before, looked = (words(page(client, "researcher", at)) for at in (here, f"{here}?look=yes"))
    started = words(post(client, here, {"do": "start", "budget": ""}).content.decode())

    assert "Approve and start" not in before, "it is worked out only when asked for"
    assert "Calls to be sent 20" in looked
    assert "Approve and start" in looked
    assert f"added: {LESSON}" in said
    assert "It asks for an ending." in said
    assert "the place {{ words }} is missing" in words(lost.content.decode()).lower()
    assert "Edited and accepted by researcher" in started
    version = Judge.objects.get(slug="model-1-aligned")
    assert "Always." in version.required_prompt.template
    assert version.runs.get().state == Run.State.RUNNING
    assert "judged on the held-out stories" in words(page(client, "researcher", "/studies/plums/runs/"))


def test_nobody_who_may_not_read_answers_sees_what_is_made_from_them(
    client: Client, study: Study, judge: Judge
) -> None:
    alignment = aligned(study, judge)
    call = alignment.run.calls.get()
    address = f"/studies/plums/runs/{alignment.run_id}/calls/{call.pk}/"
    assert "Experts answered: No" in words(page(client, "researcher", address)), "there is something to leak"

    of_alignment, of_call = (words(page(client, "designer", at)) for at in (f"{NEW}{alignment.pk}/", address))

    assert LESSON not in of_alignment
    assert "Experts answered" not in of_call
    page(client, "designer", NEW, status=403)
    assert post(client, f"{NEW}{alignment.pk}/", {"do": "accept", "proposal": "1"}, role="designer").status_code == 403


def test_a_refused_proposal_is_kept_and_an_unreadable_one_says_why(
    standin: StandIn, client: Client, study: Study, judge: Judge
) -> None:
    learner = Learner(judge)
    learner.template = ""
    standin.reply = learner
    alignment = aligned(study, judge)
    here = f"{NEW}{alignment.pk}/"

    said = words(page(client, "researcher", here))
    values = {"do": "refuse", "proposal": alignment.proposals.get().pk}
    refused, again = (words(post(client, here, values).content.decode()) for _time in range(2))

    assert "The reply holds no JSON object with a template of its own" in said
    assert "Accept as a new version" not in said
    assert "Refused by researcher" in refused
    assert "This proposal has been decided already" in again
    assert not Prompt.objects.filter(version__contains="aligned").exists()


def test_what_nobody_has_approved_can_be_taken_back(client: Client, study: Study, judge: Judge) -> None:
    n_judges = Judge.objects.count()
    post(client, NEW, asked(judge, do="save", n_calls=1))
    alignment = Alignment.objects.get()
    assert "Nothing has been sent" in words(page(client, "coordinator", f"{NEW}{alignment.pk}/"))

    post(client, f"{NEW}{alignment.pk}/", {"do": "discard"})

    assert (Alignment.objects.count(), Judge.objects.count()) == (0, n_judges)


def test_the_list_asks_as_much_for_three_alignments_as_for_one(
    client: Client, study: Study, judge: Judge, django_assert_num_queries: Any
) -> None:
    counts = []
    for n in (1, 2):
        for _time in range(n):
            aligned(study, judge)
        page(client, "researcher", "/studies/plums/runs/")
        with django_assert_num_queries(21):
            page(client, "researcher", "/studies/plums/runs/")
        counts.append(study.alignments.count())
    assert counts == [1, 3]
