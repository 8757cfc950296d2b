"""What a writer withdraws is in no call of a judge any more."""

import io
import zipfile

import pytest
from django.apps import apps
from django.test import Client
from django.utils import timezone

from annotation import responses
from annotation.design import launches
from annotation.models import Assignment, Fill, Response
from annotation.participation import withdrawal
from annotation.responses import derivation, submission, verification
from judges import catalogue, runs, settlement
from judges.models import Attempt, Call, Endpoint, Judge, Parse, Run, Text
from judges.planning import Scope
from judges.providers import Completion
from judges.requests import texts
from judges.settlement import Ended, attempts, erasure
from reports.export import issues
from reports.models import ExportPackage
from studies.models import Provenance, Step, Story, Study
from studies.protocol import items_of, load_protocol
from studies.typography.paragraphs import number_paragraphs
from tests import factories, triggers
from tests.annotation import clozes
from tests.annotation.participation.test_withdrawal import n_with
from tests.factories import NOON
from tests.judges import standin as told
from tests.judges.conftest import judge_at, sendable, started
from tests.judges.standin import Reply, StandIn
from tests.judges.standin.server import Hit
from tests.studies.cloze.documents import FILLS

pytestmark = pytest.mark.django_db


def test_calls_forget_the_text_of_whoever_withdrew_and_pending_ones_end() -> None:
    source = clozes.study()
    writer = clozes.assignment(source)
    clozes.fill(writer, {number: f"goldfinch {said}" for number, said in FILLS.items()})
    submission.submit(writer, at=NOON)
    judged = derivation.derive(source, "judged", derivation.derivable_fills(source))
    judged.versions.get().steps.update(position=2)
    Step.objects.create(version=judged.versions.get(), position=1, key="consent", kind="consent", text="May we?")
    launches.launch(judged, by="tests", at=timezone.now())
    run = runs.start(judged, catalogue.make_stub_judge(), by="tests")
    answered = run.calls.first()
    assert answered is not None
    assert "goldfinch" in str(texts.render(answered.request)), "there is text to forget"
    attempt = Attempt.objects.create(
        call=answered, number=1, sent_at=NOON, outcome=Attempt.Outcome.FAILED, body="Of the goldfinch, half"
    )
    Parse.objects.create(
        attempt=attempt, version="1", state="unreadable", values={"a": "goldfinch"}, reason="goldfinch", at=NOON
    )
    assert n_with("goldfinch") > 3

    withdrawal.withdraw(writer.rater, at=NOON)

    assert n_with("goldfinch") == 0
    assert set(Call.objects.values_list("state", flat=True)) == {Call.State.BLOCKED}
    assert Story.objects.get(study=judged).is_withheld
    assert runs.drain(run).state == Run.State.FINISHED


def test_calls_about_a_group_forget_the_text_of_each_of_its_stories() -> None:
    study = factories.study()
    with triggers.lifted():
        Story.objects.filter(study=study, code="p1s2").update(text="Here is the goldfinch.")
    run = runs.start(study, catalogue.make_stub_judge(), by="tests")
    story = study.stories.get(code="p1s2")
    about_group = run.calls.get(story=None)
    assert "goldfinch" in str(texts.render(about_group.request)), "there is text to forget"

    erasure.empty_calls([story.pk])

    about_group.refresh_from_db()
    assert (about_group.request, about_group.state, about_group.reason) == ({}, Call.State.BLOCKED, erasure.REASON)
    assert not Text.objects.filter(content__contains="goldfinch").exists()
    other = run.calls.filter(story__code="p1s1").first()
    assert other is not None
    assert other.state == Call.State.PLANNED
    assert "The p1s1 began." in str(texts.render(other.request))


def words_kept(word: str) -> list[str]:
    """The columns of judges' tables in which the word stands."""
    return sorted(
        f"{model.__name__}.{field.name}"
        for model in apps.get_app_config("judges").get_models()
        for field in model._meta.concrete_fields
        if any(word in str(value) for value in model.objects.values_list(field.name, flat=True))
    )


def test_after_erasure_no_column_of_judges_holds_the_words(standin: StandIn) -> None:
    study = factories.study(comparative=False)
    with triggers.lifted():
        Story.objects.filter(study=study, code="p1s2").update(text="Here is the goldfinch.")
    story = study.stories.get(code="p1s2")
    standin.reply = lambda hit: told.says('The goldfinch ends well.\n{"answer": "yes"}')
    judge = judge_at(standin)
    first = runs.drain(started(study, judge))
    names = ("endpoint", "model", "prompt", "parameters")
    twin = Judge.objects.create(slug="twin", **{name: getattr(judge, name) for name in names})
    second = runs.drain(started(study, twin))
    assert Attempt.objects.filter(call__run=second, outcome="reused", body__contains="goldfinch").exists()
    quoting = first.calls.filter(story=story).first()
    assert quoting is not None
    sentence = "HTTP 400: I will not read “Here is the goldfinch.”"
    Attempt.objects.create(call=quoting, number=9, sent_at=NOON, outcome="failed", reason=sentence, body=sentence)
    Call.objects.filter(pk=quoting.pk).update(reason=sentence)
    Run.objects.filter(pk=first.pk).update(
        note_sentence="The last because: %(reason)s", note_values={"n": 3, "reason": sentence}
    )
    values = {"kind": "bad_request", "reason": sentence}
    Endpoint.objects.update(needs_attention=sentence, attention_values=values, resting_reason=sentence)
    others = Attempt.objects.exclude(call__story=story)
    others.update(body="")
    Parse.objects.filter(attempt__in=others).update(values={"a": 1})
    assert set(words_kept("goldfinch")) == {
        *("Attempt.body", "Attempt.reason", "Call.reason", "Endpoint.needs_attention", "Endpoint.resting_reason"),
        *("Endpoint.attention_values", "Run.note_values", "Text.content"),
    }

    erasure.empty_calls([story.pk])

    assert words_kept("goldfinch") == []
    assert Run.objects.get(pk=first.pk).note == f"The last because: {erasure.REASON}"


def test_a_reply_that_comes_after_its_text_was_erased_is_not_kept(standin: StandIn) -> None:
    study = factories.study(comparative=False)
    run = started(study, judge_at(standin))
    story = study.stories.get(code="p1s2")
    call = run.calls.filter(story=story).select_related("assignment__seat", "step", "item").first()
    assert call is not None
    (attempt,) = attempts.begin([call], worker="w", probes=(), shares={}, at=NOON)
    erasure.empty_calls([story.pk])

    settlement.settle([Ended(attempt, Completion("Yes, the goldfinch.", "stop", "The goldfinch."), NOON)])

    attempt.refresh_from_db()
    assert (attempt.outcome, attempt.body) == (Attempt.Outcome.LATE, "")
    assert words_kept("goldfinch") == []


def test_what_a_probe_showed_and_found_is_erased_with_its_story(standin: StandIn) -> None:
    study = factories.study(comparative=False)
    with triggers.lifted():
        Story.objects.filter(study=study, code="p1s2").update(text="Here is the canary. " * 40)
    story = study.stories.get(code="p1s2")
    standin.reply = lambda hit: told.says('{"title": "The canary", "author": "", "continuation": "The canary sang."}')
    judge = judge_at(standin)
    runs.drain(runs.start(sendable(study), judge, by="tests", scope=Scope(probes=True, selection=("p1s2",))))
    assert words_kept("the canary. ") == ["Text.content"]
    assert "Attempt.body" in words_kept("canary sang")

    erasure.empty_calls([story.pk])

    assert words_kept("canary sang") == []
    assert words_kept("the canary. ") == []


@pytest.fixture
def judged(standin: StandIn) -> Study:
    """A text that a person filled in, with “goldfinch” in every blank, judged by a model that repeats the word in its
    reasons, and by a person who quotes it; another text beside it."""
    source = clozes.study()
    for word in ("goldfinch", "sparrow"):
        writer = clozes.assignment(source)
        clozes.fill(writer, {number: f"{word} {said}" for number, said in FILLS.items()})
        submission.submit(writer, at=NOON)
    study = derivation.derive(source, "judged", derivation.derivable_fills(source))
    study.versions.get().steps.update(position=3)
    version = study.versions.get()
    Step.objects.create(version=version, position=1, key="consent", kind="consent", text="May we?")
    marked = factories.instrument("marked", n_items=1, type="spans", rationale="optional", rationale_least=0)
    Step.objects.create(
        version=version, position=2, key="marked", kind="rating", title="Mark", instrument=marked, scope="story"
    )
    Provenance.objects.filter(story__study=study).update(may_send_out=True)
    launches.launch(study, by="tests", at=timezone.now())

    def reply(hit: Hit) -> Reply:
        asked = str(hit.body["messages"])
        word = "goldfinch" if "goldfinch" in asked else "sparrow"
        answer = '"yes"' if '"yes"' in asked else "3"
        return told.says(f'The {word} ends well.\n{{"answer": {answer}}}')

    standin.reply = reply
    judge = judge_at(standin)
    judge.prompt = next(p for p in catalogue.load_prompts() if p.name == "quiet-judge")
    judge.save()
    step = next(s.key for s in version.steps.all() if s.key not in ("consent", "marked"))
    run = runs.drain(runs.start(study, judge, by="tests", scope=Scope(steps=(step,))))
    assert (run.state, set(runs.count_calls(run))) == (Run.State.FINISHED, {"ok"})
    for _reader in range(2):
        read_and_quote(factories.assignment(study), step)
    Study.objects.filter(pk=study.pk).update(state="closed")
    return study


def test_a_whole_withdrawal_leaves_no_word_of_the_text_in_any_table_page_or_export(
    judged: Study, admin_client: Client
) -> None:
    run = Run.objects.get(study=judged)
    story = judged.stories.get(text__contains="goldfinch")
    story_key, writer = story.pk, Fill.objects.get(story=story).assignment.rater
    sent_by_call = {call.pk: call.story_id for call in run.calls.all()}
    package = issued(judged)
    assert "goldfinch" in read_text(package)
    values = dict(Response.objects.filter(story=story).exclude(item__type="spans").values_list("pk", "value"))
    about = f"/studies/judged/runs/{run.pk}/"
    call = next(pk for pk, key in sent_by_call.items() if key == story_key)
    assert "The goldfinch ends well." in admin_client.get(f"{about}calls/{call}/").content.decode()
    assert {"Response.rationale", "Response.quotes", "Response.value", "ResponseEvent.words"} <= columns_with(
        "goldfinch"
    )
    package_keys = set(package.pieces.values_list("pk", flat=True))
    before = verification.verify()
    assert before.faults == []

    withdrawal.withdraw(writer, at=NOON)

    assert columns_with("goldfinch") == set()
    assert package_keys
    assert not package.pieces.exists()
    assert {"Response.rationale", "Response.quotes", "Response.value", "Attempt.body"} <= columns_with("sparrow")
    # What was chosen stays, and so do people's own words.
    assert dict(Response.objects.filter(pk__in=values).values_list("pk", "value")) == values
    of_person = Response.objects.filter(story=story, assignment__rater_kind="person").order_by("item__type")
    assert [(r.item.type, r.value, r.rationale, r.quotes) for r in of_person.select_related("item")] == [
        ("scale", 4, "My own words.", []),
        ("spans", None, "", []),
    ]
    pages = [about, f"{about}calls/", *(f"{about}calls/{pk}/" for pk in sent_by_call)]
    for address in [*pages, "/reports/judged/", "/reports/judged/figures/all/", "/reports/judged/rationales/"]:
        assert "goldfinch" not in admin_client.get(address).content.decode(), address
    page = " ".join(admin_client.get(f"{about}calls/{call}/").content.decode().split())
    assert "The text was erased, since its writer withdrew." in page
    again = read_text(issued(judged))
    assert ("goldfinch" in again, "The sparrow ends well." in again) == (False, True)
    after = verification.verify()
    assert (after.faults, after.n_events) == ([], before.n_events)
    assert after.n_erased > before.n_erased


def read_and_quote(reader: Assignment, key: str) -> None:
    """A passage marked, and a scale with the passage quoted beside the reader's own words."""
    story = reader.study.stories.get(code=reader.seat.order[0])
    word = "goldfinch" if "goldfinch" in story.text else "sparrow"
    paragraph = next(p.number for p in number_paragraphs(story.text) if word in p.words)
    passage = {"paragraph": paragraph, "text": word}
    rows = load_protocol(reader.version)
    for step, answer in (
        (rows.step("marked"), responses.Answer(value=[passage])),
        (rows.step(key), responses.Answer(value=4, rationale="My own words.", quotes=[passage])),
    ):
        assert step is not None
        item = next(i for i in items_of(step) if i.type in ("spans", "scale"))
        responses.record(reader, step=step, item=item, story=story, answer=answer, at=NOON)


def issued(study: Study) -> ExportPackage:
    study.refresh_from_db()
    package = issues.ask(study, by="tests", with_sources=True, reason="All of it.")
    issues.make_and_keep(package)
    assert not package.problem
    return package


def read_text(package: ExportPackage) -> str:
    """Every file of the package, one after another."""
    with zipfile.ZipFile(io.BytesIO(b"".join(issues.read_pieces(package)))) as archive:
        return "\n".join(archive.read(name).decode("utf-8", "replace") for name in archive.namelist())


def columns_with(word: str) -> set[str]:
    return {
        f"{model.__name__}.{field.name}"
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if any(word in str(value) for value in model._default_manager.values_list(field.name, flat=True))
    }
