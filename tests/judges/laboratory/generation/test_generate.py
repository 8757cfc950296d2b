"""`generate`: the same functions as the pages, from the command line."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from judges.models import GeneratedText, Generation, Run
from studies.models import Study
from tests.judges import standin as told
from tests.judges.laboratory.generation.stories import draft_study, endpoint_at, words
from tests.judges.standin import StandIn
from tests.replay import replayed

pytestmark = pytest.mark.django_db


@pytest.fixture
@replayed
def study() -> Study:
    return draft_study()


def generate(*arguments: str) -> None:
    call_command("generate", "plums", *arguments)


def test_a_generation_from_the_first_call_to_the_last_story(
    study: Study, standin: StandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    endpoint_at(standin)
    standin.script = [words(20), words(500, "Here's the story:\n\n"), words(450)]
    model = ["--recipe", "pds-writer-profile", "--endpoint", "lab", "--model", "standin", "--yes", "--wait"]

    generate(*model, "--groups", "plot1", "plot2")
    run = Run.objects.get()
    generate("--accept", str(run.pk), "--cleaned", "--licence", "CC0", "--place", "alone")

    said = capsys.readouterr().out
    assert "2 texts: 2 calls to be sent" in said
    assert "20 calls at most" in said
    assert f"run {run.pk}: 2 of 2 texts written, 3 replies, 1 discarded." in said
    assert f"run {run.pk}: 2 stories are in plums now." in said
    assert study.stories.count() == 4
    assert not GeneratedText.objects.filter(story=None).exists()


def test_premises_come_from_a_file_too(study: Study, standin: StandIn, tmp_path: Path) -> None:
    endpoint_at(standin)
    file = tmp_path / "premises.txt"
    file.write_text("A well\nruns dry.\n\nA dog waits.\n")
    standin.reply = lambda hit: told.says("An idea.")

    generate(
        *["--recipe", "nsv-generation", "--endpoint", "lab", "--model", "standin", "--yes", "--wait"],
        *["--premises", str(file), "--sizes", "50", "150", "--temperatures", "0.2", "1.0", "--texts", "2"],
    )

    drafts = Generation.objects.get().drafts
    assert drafts.count() == 2 * 2 * 2 * 2
    assert set(drafts.values_list("premise", flat=True)) == {"A well\nruns dry.", "A dog waits."}
    assert {hit.body["temperature"] for hit in standin.hits} == {0.2, 1.0}
    assert json.loads(Run.objects.get().document)["prompts"]["nsv-idea-generation"]["source"] == "own"


def test_a_dry_run_writes_nothing(study: Study, standin: StandIn, capsys: pytest.CaptureFixture[str]) -> None:
    generate("--recipe", "ttcw-expansion", "--endpoint", "stub", "--groups", "plot1", "--dry-run")

    assert "1 texts: 1 calls to be sent" in capsys.readouterr().out
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (["--recipe", "haiku", "--endpoint", "stub"], 1, "is not a recipe; there are: nsv-extraction"),
        (["--recipe", "pds-writer-profile"], 1, "Name an endpoint"),
        (["--recipe", "pds-writer-profile", "--endpoint", "stub"], 1, "no writing prompt to write about"),
        (["--recipe", "pds-writer-profile", "--endpoint", "stub", "--premises", "no.txt"], 1, "no.txt: cannot be read"),
        (["--recipe", "ttcw-measures", "--endpoint", "stub", "--instrument", "a@1"], 1, "no instrument a@1"),
        (["--accept", "77"], 1, "has no run 77"),
    ],
)
def test_bad_options_are_refused_with_what_would_do(study: Study, arguments: list[str], code: int, reason: str) -> None:
    with pytest.raises(CommandError, match=reason) as error:
        generate(*arguments)

    assert error.value.returncode == code


def test_texts_that_are_missing_are_said(study: Study, standin: StandIn, capsys: Any) -> None:
    endpoint_at(standin)
    standin.reply = lambda hit: words(5)

    with pytest.raises(CommandError, match="Not written: 1") as error:
        generate(
            *["--recipe", "pds-writer-profile", "--endpoint", "lab", "--model", "standin", "--yes", "--wait"],
            *["--groups", "plot1", "--rounds", "2"],
        )

    assert error.value.returncode == 3
    assert "none of the replies (2) had 400 to 600 words" in capsys.readouterr().out
