"""Why a call has no answer: kept in English, shown in the reader's language, whatever the age of the row."""

import ast
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import translation

from judges import reasons, runs
from judges.models import Call, Endpoint, Run
from judges.models.notes import write_note
from judges.parsing import Failure, parse_reply
from judges.parsing.values import Allowed
from judges.settlement import rereads
from studies import items
from studies.items import StoryLabel
from studies.models import Study
from tests.judges import standin as told
from tests.judges.attacks import CHOICE, PAIR, SCALE, YES_NO
from tests.judges.conftest import judge_at, probed, started
from tests.judges.questions import Asking
from tests.judges.standin import StandIn


@pytest.fixture(autouse=True)
def _in_capitals(monkeypatch: pytest.MonkeyPatch) -> None:
    """A language in which every sentence is in capitals, its places as they are."""

    def shout(sentence: str) -> str:
        return "".join(p if n % 2 else p.upper() for n, p in enumerate(reasons.PLACE.split(sentence)))

    monkeypatch.setattr(reasons, "gettext", shout)


@pytest.mark.parametrize(
    ("kept", "shown"),
    [
        ("the reply is empty", "THE REPLY IS EMPTY"),
        ("there is no answer in “Well, it is so”", "THERE IS NO ANSWER IN “Well, it is so”"),
        ("the reply gives two verdicts: “yes” and “no”", "THE REPLY GIVES TWO VERDICTS: “yes” AND “no”"),
        ("q1: the reply gives two verdicts, “1” and “2”", "q1: THE REPLY GIVES TWO VERDICTS, “1” AND “2”"),
        ("mood: Please choose a whole number from 1 to 5.", "mood: PLEASE CHOOSE A WHOLE NUMBER FROM 1 TO 5."),
        ("blank 3: is left empty", "BLANK 3: IS LEFT EMPTY"),
        ("the provider could not be reached (ConnectError)", "THE PROVIDER COULD NOT BE REACHED (ConnectError)"),
        (
            "the provider did not take the batch on: No model “x”.",
            "THE PROVIDER DID NOT TAKE THE BATCH ON: No model “x”.",
        ),
        ("HTTP 429: slow down", "HTTP 429: slow down"),
        ("I cannot judge this.", "I cannot judge this."),
        ("", ""),
    ],
)
def test_a_reason_is_told_in_the_readers_language_and_others_words_stay(kept: str, shown: str) -> None:
    assert reasons.translate(kept) == shown


@pytest.mark.parametrize(
    ("item", "reply"),
    [
        (item, reply)
        for item in (YES_NO, SCALE, CHOICE, PAIR)
        for reply in ("", "Well.", '{"answer": "purple"}', '{"answer": ""}', "The text says: “Answer: 7”", "Answer: 77")
    ],
)
def test_whatever_the_parser_says_is_translated(item: Any, reply: str) -> None:
    stories = [StoryLabel("A"), StoryLabel("B")]

    outcome = parse_reply(
        reply, finish_reason="stop", protocol="reasoning_first", items=[item], stories=stories, canary=""
    )

    if isinstance(outcome, Failure) and outcome.state != "refused":
        assert reasons.translate(outcome.reason) != outcome.reason


@pytest.mark.parametrize("kind", ["binary", "choice", "multi", "number", "pair", "ranking", "scale"])
def test_what_an_item_says_of_an_answer_that_it_does_not_allow_is_translated(kind: str) -> None:
    example = items.find_type(kind).example
    asked = Asking(type=kind, options=example["item"].get("options", []), settings=example["item"].get("settings", {}))
    allowed = Allowed(asked, [StoryLabel("A"), StoryLabel("B")])

    refusals = {allowed.refusal(raw).removesuffix(" Write decimals with a point.") for raw in example["invalid"]} - {""}

    assert refusals
    assert [refusal for refusal in refusals if reasons.translate(refusal) == refusal] == []


def test_no_reason_is_written_where_it_is_used() -> None:
    """Sentences stand in `judges.reasons`, or nobody could read them in another language."""
    literal = {}
    for path in sorted(Path(settings.BASE_DIR, "judges").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            place = {"Failure": 1, "CallFailed": 0, "Contradiction": 0, "NoValue": 0}.get(node.func.id)
            if (
                place is not None
                and len(node.args) > place
                and isinstance(node.args[place], (ast.JoinedStr, ast.Constant))
            ):
                literal[f"{path.name}:{node.lineno}"] = ast.unparse(node.args[place])

    assert literal == {}


@pytest.mark.django_db
def test_reasons_are_kept_in_english_whatever_language_a_worker_runs_in(study: Study, standin: StandIn) -> None:
    standin.script = [told.PROSE, told.PROSE, told.OUT_OF_RANGE, told.OUT_OF_RANGE]

    with translation.override("pt-br"):
        run = runs.drain(probed(started(study, judge_at(standin, n_at_once=1))))
        rereads.read_again(run, at=run.finished_at)

    kept = set(run.calls.exclude(reason="").values_list("reason", flat=True))
    assert "there is no answer in “There is much to be said for it.”" in kept
    assert all("Please " in reason or "there is no answer" in reason for reason in kept)


@pytest.mark.django_db
def test_pages_tell_reasons_of_calls_of_rests_and_of_runs_in_the_readers_language(
    study: Study, standin: StandIn, admin_client: Client
) -> None:
    run = started(study, judge_at(standin))
    lost = run.calls.all()[0]
    Call.objects.filter(pk=lost.pk).update(state=Call.State.UNREADABLE, reason=reasons.EMPTY)
    page = reverse("judges:run", args=[study.slug, run.pk])

    pages = [admin_client.get(reverse("judges:call", args=[study.slug, run.pk, lost.pk])), admin_client.get(page)]
    Endpoint.objects.update(resting_until="2100-01-01T00:00Z", resting_reason=reasons.LATE)
    resting = admin_client.get(page)
    note = write_note("%(what)s %(way_out)s (%(reason)s)", {"kind": "timeout", "reason": reasons.LATE})

    assert all("THE REPLY IS EMPTY" in found.content.decode() for found in pages)
    assert "THE PROVIDER DID NOT ANSWER IN TIME" in resting.content.decode()
    assert note.endswith("(THE PROVIDER DID NOT ANSWER IN TIME)")
    assert Run.objects.get(pk=run.pk).calls.get(pk=lost.pk).reason == "the reply is empty"
