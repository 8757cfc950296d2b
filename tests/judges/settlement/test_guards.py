"""What guards a run beside its questions: the canary, the probe of what a model knows, and the fixed texts."""

import json
import re

import pytest
from django.test import Client

from annotation.models import Response
from judges import prompts, runs
from judges.models import Call, Judge, Parse, Run
from judges.planning import Scope
from judges.requests import texts
from judges.settlement import guard_results
from reports.methods.paragraph import describe_judges
from studies.models import Provenance, Story, Study
from tests import factories, triggers
from tests.judges.conftest import judge_at, sendable
from tests.judges.conftest import probed as past_probes
from tests.judges.standin import StandIn
from tests.judges.standin.replies import YES, Reply, says
from tests.judges.standin.server import Hit
from tests.judges.views.pages import page as open_page
from tests.judges.views.pages import words
from tests.replay import replayed

pytestmark = pytest.mark.django_db
WORDS = " ".join(f"word{n}" for n in range(90))


def content_of(hit: Hit) -> str:
    return "".join(message["content"] for message in hit.body["messages"])


@pytest.fixture
@replayed
def two() -> Study:
    """Two stories, two tests of each."""
    return sendable(factories.study(n_stories=2, comparative=False))


def test_every_fence_of_a_run_carries_its_code_and_another_run_has_another(two: Study, standin: StandIn) -> None:
    first = runs.start(two, judge_at(standin), by="tests")
    second = runs.start(two, judge_at(standin, "model-2"), by="tests")

    assert first.canary != second.canary
    for run in (first, second):
        for call in run.calls.all():
            (_system, user) = texts.render(call.request)["messages"]
            assert f"{run.canary}\n</story" in user["content"]


def test_a_reply_that_repeats_the_code_gives_no_answer_and_says_why(two: Study, standin: StandIn) -> None:
    def reply(hit: Hit) -> Reply:
        code = re.search(r"canary-[0-9a-f]{32}", content_of(hit))
        assert code is not None
        return says(f'{code[0]}\n{{"answer": "yes"}}')

    standin.reply = reply

    run = runs.drain(past_probes(runs.start(two, judge_at(standin), by="tests")))

    assert runs.count_calls(run) == {"unreadable": 4}
    assert "must not come back" in run.calls.all()[0].reason
    assert set(Response.objects.values_list("outcome", "value")) == {("unreadable", None)}


def probed(study: Study, standin: StandIn, reply: dict[str, str]) -> Run:
    standin.reply = lambda hit: says(json.dumps(reply)) if "beginning of a text" in content_of(hit) else YES
    return runs.drain(runs.start(study, judge_at(standin), by="tests", scope=Scope(probes=True)))


def test_a_model_that_knows_how_a_story_goes_on_is_found_out(two: Study, standin: StandIn) -> None:
    with triggers.lifted():
        Story.objects.filter(code="p1s1").update(text=WORDS)
    rest = WORDS.split()[40:60]

    run = probed(two, standin, {"known": "yes", "title": "", "author": "", "continuation": " ".join(rest)})

    assert (run.state, run.n_planned) == ("finished", 6)
    found = Parse.objects.filter(attempt__call__kind=Call.Kind.PROBE).order_by("attempt__call__story__code")
    assert [(parse.values["n_words"], parse.values["is_proven"]) for parse in found] == [(20, True), (0, False)]
    assert not any("word40" in content_of(hit) for hit in standin.hits if "beginning of a text" in content_of(hit))


def test_who_names_title_and_author_knows_the_story(two: Study, standin: StandIn) -> None:
    with triggers.lifted():
        Provenance.objects.update(title="The Ferry", factors={"author": "Ann Ash"})

    probed(two, standin, {"known": "yes", "title": "Ferry", "author": "Ann Ash", "continuation": ""})

    found = Parse.objects.filter(attempt__call__kind=Call.Kind.PROBE)
    assert [(p.values["has_title"], p.values["has_author"]) for p in found] == [(True, True)] * 2


def test_a_probe_is_no_answer_of_the_judge(two: Study, standin: StandIn) -> None:
    run = probed(two, standin, {"known": "no"})

    assert run.calls.filter(kind=Call.Kind.PROBE, state=Call.State.OK, assignment=None).count() == 2
    assert Response.objects.count() == 4


def test_the_fixed_texts_are_judged_beside_the_stories_and_enter_no_answer(two: Study, standin: StandIn) -> None:
    run = runs.drain(runs.start(two, judge_at(standin), by="tests", scope=Scope(anchors=True)))

    tests = run.calls.filter(kind=Call.Kind.TEST).order_by("pk")
    keys = [text.key for text in prompts.load_anchors().texts]
    assert [(call.anchor, call.items, call.state) for call in tests] == [
        (key, [item], "ok") for key in keys for item in ("item-1", "item-2")
    ]
    values = Parse.objects.filter(attempt__call__kind=Call.Kind.TEST).values_list("values", flat=True)
    assert sorted(values, key=str) == [{"item-1": "yes"}] * 3 + [{"item-2": "yes"}] * 3
    assert (run.frozen["anchors"], Response.objects.count()) == ("1", 4)


def test_a_run_that_asks_for_no_guards_sends_none(two: Study, standin: StandIn) -> None:
    run = runs.start(two, judge_at(standin), by="tests")

    assert set(run.calls.values_list("kind", flat=True)) == {Call.Kind.ANSWER}


def test_what_the_guards_saw_can_be_read_in_one_place(two: Study, standin: StandIn) -> None:
    first = judge_at(standin)
    runs.drain(runs.start(two, first, by="tests", scope=Scope(anchors=True)))
    standin.reply = lambda hit: says('It breaks off.\n{"answer": "no"}', model="standin-mini")
    second = Judge.objects.create(
        slug="again", endpoint=first.endpoint, model=first.model, prompt=first.prompt, parameters=first.parameters
    )

    run = runs.drain(runs.start(two, second, by="tests", scope=Scope(anchors=True)))
    results = guard_results.load_results(run)

    # What was asked of the stories was answered before; the fixed texts are asked anew.
    assert results.other_models == {"standin-mini": 6}
    assert {(answer.value, answer.before) for answer in results.fixed} == {("no", "yes")}
    assert (results.n_changed, results.n_probed, results.known, results.n_leaks) == (6, 0, [], 0)


def test_texts_that_the_model_knows_are_named(two: Study, standin: StandIn) -> None:
    with triggers.lifted():
        Provenance.objects.filter(story__code="p1s2").update(title="The Ferry")

    run = probed(two, standin, {"known": "yes", "title": "The Ferry", "author": "", "continuation": ""})

    results = guard_results.load_results(run)
    assert (results.n_probed, results.known, results.fixed) == (2, ["p1s2"], [])


def test_a_name_and_its_dated_version_are_one_model_and_replies_taken_over_have_a_row(
    client: Client, two: Study, standin: StandIn
) -> None:
    answered = iter(["standin", "standin-2026-08-06", "standin"])
    standin.reply = lambda hit: says('It works.\n{"answer": "yes"}', model=next(answered, "standin"))
    judge = judge_at(standin)
    runs.drain(runs.start(two, judge, by="tests"))
    again = Judge.objects.create(
        slug="again", endpoint=judge.endpoint, model=judge.model, prompt=judge.prompt, parameters=judge.parameters
    )

    run = runs.drain(runs.start(two, again, by="tests"))

    results = guard_results.load_results(run)
    assert [(row.model, row.n, row.is_reused) for row in results.snapshots] == [
        ("standin", 3, True),
        ("standin-2026-08-06", 1, True),
    ]
    assert results.n_models == 1
    page = words(open_page(client, "researcher", f"/studies/{two.slug}/runs/{run.pk}/"))
    assert "standin-2026-08-06 (taken over from earlier calls)" in page
    assert not [sentence for sentence in describe_judges(two) if "Several models" in sentence]


def test_which_models_and_systems_answered_is_counted_and_several_are_said(
    client: Client, two: Study, standin: StandIn
) -> None:
    answered = iter([("standin-0301", "fp_1"), ("standin-0301", "fp_2"), ("standin-0613", "fp_2")])

    def reply(hit: Hit) -> Reply:
        model, fingerprint = next(answered, ("standin-0613", "fp_2"))
        return says('It works.\n{"answer": "yes"}', model=model, system_fingerprint=fingerprint)

    standin.reply = reply
    judge = judge_at(standin)
    judge.parameters = {}
    judge.save()
    run = runs.drain(runs.start(two, judge, by="tests"))

    snapshots = guard_results.load_results(run).snapshots
    assert [(row.model, row.system_fingerprint, row.n) for row in snapshots] == [
        ("standin-0301", "fp_1", 1),
        ("standin-0301", "fp_2", 1),
        ("standin-0613", "fp_2", 2),
    ]
    page = words(open_page(client, "researcher", f"/studies/{two.slug}/runs/{run.pk}/"))
    assert "2 models answered under the name of this judge" in page
    assert "Temperature the provider’s own, since the judge sets none" in page
    (sentence,) = [sentence for sentence in describe_judges(two) if "Several models" in sentence]
    assert sentence == (
        f"Several models answered for {run.judge.slug}, so its answers are not all of one judge: "
        "standin-0301 (2 replies, fp_1, fp_2) and standin-0613 (2 replies, fp_2)."
    )
