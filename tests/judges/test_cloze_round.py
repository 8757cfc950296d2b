"""A round of a cloze: models fill it, a panel judges what they filled, and the report says how far the panel agrees."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from django.utils import timezone

from annotation.models import Fill, Response
from annotation.responses import derivation, submission
from judges import catalogue, runs
from judges.models import Judge
from judges.parsing import LEAKED
from judges.requests import CallWords
from reports.results import compute
from stats import agreement
from studies import protocol
from studies.cloze.text import RAISED
from studies.models import Provenance, Study
from tests import factories
from tests.annotation import clozes
from tests.judges.conftest import judge_at, sendable
from tests.judges.standin import StandIn
from tests.judges.standin.replies import Reply, says
from tests.judges.standin.server import Hit

pytestmark = pytest.mark.django_db
MYSTERY = Path(__file__).parents[2] / "studies" / "demo" / "mystery" / "cloze.toml"
NAMED = re.compile(r"\b(blank|section)s?\s+(\d+(?:(?:,| and| or)\s+\d+)*)", re.IGNORECASE)
WRITERS = ("writer-1", "writer-2", "writer-3")
PANEL = ("panel-1", "panel-2", "panel-3")


def content_of(hit: Hit) -> str:
    return str(hit.body["messages"][-1]["content"])


def fill(hit: Hit) -> Reply:
    """The whole story with words of that model in every blank."""
    story = re.search(r"<story fence-[0-9a-f]+>\n(.*?)\ncanary-[0-9a-f]+\n</story", content_of(hit), re.DOTALL)
    assert story is not None
    return says(re.sub(r"\{\{(\d+)\}\}", rf"words \1 of {hit.body['model']}", story[1]))


def score(hit: Hit) -> Reply:
    """What that member of the panel thinks of that writer: planted, so that the report can be checked."""
    content, member = content_of(hit), int(hit.body["model"][-1])
    if "yes" in content.rsplit("Question:")[-1]:
        return says('So it seems.\n{"answer": "yes"}')
    writer = next(n for n, name in enumerate(WRITERS, 1) if f"of {name}" in content)
    return says(f'So it seems.\n{{"answer": {writer + (member == 3 and writer == 2)}}}')


def members(standin: StandIn, names: tuple[str, ...], prompt: str) -> list[Judge]:
    row = next(p for p in catalogue.load_prompts() if p.name == prompt)
    judges = [judge_at(standin, name) for name in names]
    for judge in judges:
        judge.model, judge.prompt = judge.slug, row
        judge.save()
    return judges


@pytest.fixture
def filled(standin: StandIn) -> Study:
    """Three models have filled the cloze."""
    study = sendable(clozes.study())
    standin.reply = fill
    for judge in members(standin, WRITERS, "quiet-fill-whole"):
        assert runs.drain(runs.start(study, judge, by="tests")).state == "finished"
    return study


def test_models_fill_a_panel_judges_and_the_report_has_alpha_and_means(filled: Study, standin: StandIn) -> None:
    study = derivation.derive(filled, "judged", derivation.derivable_fills(filled))
    Study.objects.filter(pk=study.pk).update(asks_recognition=False)
    study.refresh_from_db()
    factories.plan(study)
    Provenance.objects.filter(story__study=study).update(may_send_out=True)
    standin.reply = score
    for judge in members(standin, PANEL, "quiet-judge"):
        run = runs.drain(runs.start(study, judge, by="tests"))
        assert (run.state, set(runs.count_calls(run))) == ("finished", {"ok"})
    Study.objects.filter(pk=study.pk).update(state="closed")
    study.refresh_from_db()

    row = next(row for row in compute(study)["judges_among_themselves"] if row["item"] == "s1-c1")

    planted = np.array([[1, 2, 3], [1, 2, 3], [1, 3, 3]], dtype=float)
    assert row["coefficient"]["value"] == pytest.approx(agreement.krippendorff_alpha(planted, row["level"]).value)
    assert (row["mean"], row["n_judges"]) == (pytest.approx(planted.mean()), 3)
    assert sorted(Response.objects.filter(item__key="s1-c1").values_list("value", flat=True)) == sorted(planted.flat)
    assert {source["source"] for source in compute(study)["sources"]} == set(WRITERS)


def test_a_model_that_cannot_go_on_has_dropped_out_at_that_section(standin: StandIn) -> None:
    study = sendable(clozes.study())
    standin.reply = lambda hit: says("I cannot go on at blank 3")
    (judge,) = members(standin, WRITERS[:1], "quiet-fill-whole")

    run = runs.drain(runs.start(study, judge, by="tests"))

    assert (run.state, runs.count_calls(run)) == ("finished", {"refused": 1})
    assert run.calls.get().reason == "the model took the way out at blank 3"
    row = Fill.objects.get()
    assert (row.state, row.stopped_at, row.assignment.rater.kind) == ("dropped_out", 2, "model")
    assert set(Response.objects.values_list("outcome", "value")) == {("declined", None)}


def test_a_model_that_writes_out_the_code_beside_the_cloze_has_filled_nothing(standin: StandIn) -> None:
    study = sendable(clozes.study())
    standin.reply = lambda hit: says(f"{json.loads(fill(hit).body)['choices'][0]['message']['content']}\n{run.canary}")
    (judge,) = members(standin, WRITERS[:1], "quiet-fill-whole")

    run = runs.start(study, judge, by="tests")
    run = runs.drain(run)

    assert run.canary in content_of(standin.hits[0])
    assert runs.count_calls(run) == {"unreadable": 1}
    assert run.calls.get().reason == LEAKED
    assert Fill.objects.count() == 0


def test_where_no_way_out_is_offered_none_is_taken(standin: StandIn) -> None:
    study = sendable(clozes.study(options={"constraints": True}))
    standin.reply = lambda hit: says("I cannot go on at blank 3")
    (judge,) = members(standin, WRITERS[:1], "quiet-fill-paper")

    run = runs.drain(runs.start(study, judge, by="tests"))

    assert runs.count_calls(run) == {"unreadable": 1}
    assert Fill.objects.count() == 0


def test_a_cloze_is_filled_in_the_words_of_the_judges_own_prompt(standin: StandIn) -> None:
    study = sendable(clozes.study())
    judges = members(standin, WRITERS[:2], "quiet-fill-paper")
    judges[1].prompt = next(p for p in catalogue.load_prompts() if p.name == "quiet-fill-whole")
    judges[1].save()
    standin.reply = fill

    for judge in judges:
        runs.drain(runs.start(study, judge, by="tests"))

    (paper, whole) = [content_of(hit) for hit in standin.hits]
    assert "I cannot go on" in whole
    assert "I cannot go on" not in paper


def test_a_prompt_for_filling_asks_nothing_else(standin: StandIn) -> None:
    study = sendable(factories.study())
    (judge,) = members(standin, WRITERS[:1], "quiet-fill-whole")

    with pytest.raises(runs.CannotRun, match="cannot ask what these steps ask"):
        runs.start(study, judge, by="tests")


def fill_section(hit: Hit) -> Reply:
    """The blanks that the section asks for, each named after itself."""
    numbers = re.findall(r"^(\d+) \(", content_of(hit), re.MULTILINE)
    return says(json.dumps({number: f"words {number} of {hit.body['model']}" for number in numbers}))


def test_section_by_section_each_is_asked_with_what_stands_before_it(standin: StandIn) -> None:
    study = sendable(clozes.study())
    standin.reply = fill_section
    (judge,) = members(standin, WRITERS[:1], "quiet-fill-section")

    run = runs.start(study, judge, by="tests")
    planned = list(run.calls.order_by("section").values_list("section", "request_sha256"))
    run = runs.drain(run)

    assert [(section, bool(sha256)) for section, sha256 in planned] == [(1, True), (2, False), (3, False)]
    assert (run.state, run.n_planned, runs.count_calls(run)) == ("finished", 3, {"ok": 3})
    first, second, third = [content_of(hit) for hit in standin.hits]
    assert "words 1 of" not in first
    assert "They were words 1 of writer-1" in second
    assert all(f"words {n} of writer-1" in third for n in (1, 2, 3, 4))
    assert all(run.canary in content for content in (first, second, third))
    values = Response.objects.order_by("item__position").values_list("value", flat=True)
    assert list(values) == [f"words {n} of writer-1" for n in range(1, 6)]
    assert Fill.objects.get().state == "submitted"


def test_a_model_that_stops_in_a_later_section_keeps_what_it_filled(standin: StandIn) -> None:
    study = sendable(clozes.study())
    standin.reply = lambda hit: (
        says("I cannot go on at blank 3") if "of writer-1" in content_of(hit) else fill_section(hit)
    )
    (judge,) = members(standin, WRITERS[:1], "quiet-fill-section")

    run = runs.drain(runs.start(study, judge, by="tests"))

    assert run.state == "finished"
    assert list(run.calls.order_by("section").values_list("state", flat=True)) == ["ok", "refused", "not_asked"]
    assert run.calls.get(section=3).reason == "not asked, since section 2 had no answer"
    row = Fill.objects.get()
    assert (row.state, row.stopped_at, len(standin.hits)) == ("dropped_out", 2, 2)
    outcomes = Response.objects.order_by("item__position").values_list("outcome", flat=True)
    assert list(outcomes) == ["answered"] * 2 + ["declined"] * 3


@pytest.mark.parametrize(
    ("prompt", "n"), [("quiet-judge", 160), ("quiet-judge-checks", 64), ("quiet-judge-coarse", 40)]
)
def test_a_model_is_told_what_every_question_of_the_demos_cloze_is_about(standin: StandIn, prompt: str, n: int) -> None:
    """Each blank and section that it names, by its number, and of a check the constraint that it is part of."""
    mystery = clozes.study(toml=MYSTERY.read_text(encoding="utf-8"))
    work = clozes.assignment(mystery)
    blanks = clozes.cloze(mystery).parsed.blanks
    clozes.fill(work, {blank.number: f"words{blank.number:02}" for blank in blanks})
    submission.submit(work, at=timezone.now())
    study = derivation.derive(mystery, "judged", derivation.derivable_fills(mystery), has_coarse=True)
    (judge,) = members(standin, PANEL[:1], prompt)
    group = study.groups.get()
    steps = protocol.load_protocol(study.versions.get()).ratings
    question_by_key = {item.key: item.question for item in protocol.items_of(steps[0])}
    orders = [story.code for story in group.stories.all()]
    types = judge.required_prompt.item_types

    calls = [
        (call.item, call.request["messages"][-1]["content"])
        for call in CallWords(judge).ask_about_group(steps, group, orders, is_whole=True)
        if call.item and (not types or call.item.type in types)
    ]

    assert len(calls) == n
    for item, content in calls:
        told, _, asked = content.rpartition("Question:")
        whole, is_check, _ = item.key.partition("-k")
        assert not is_check or question_by_key[whole] in told, item.key
        for kind, numbers in NAMED.findall(asked):
            assert derivation.ABOUT_NUMBERS in told
            for number in re.findall(r"\d+", numbers):
                raised = number.translate(RAISED)
                mark = f"{raised}words{int(number):02}{raised}" if kind.lower() == "blank" else f"§ {number} "
                assert mark in told, f"{item.key}: {kind} {number}"
