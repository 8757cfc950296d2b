"""Files that would never end, and numbers that nothing can keep."""

import os
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from studies.documents import reader
from studies.documents.errors import DocumentError, InvalidValue
from tests import factories


@pytest.mark.django_db
@pytest.mark.parametrize("command", ["load_study", "load_instrument"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, command: str) -> None:
    pipe = tmp_path / "study.toml"
    os.mkfifo(pipe)

    with pytest.raises(CommandError, match=r"no ordinary file|no such file"):
        call_command(command, str(pipe))


def test_a_pipe_in_place_of_a_text_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "one.txt")

    with pytest.raises(InvalidValue, match="no ordinary file"):
        reader.read_text(tmp_path / "one.txt", largest=10)


@pytest.mark.parametrize("number", ["1e999", "-1e999", "inf", "nan"])
def test_a_number_that_cannot_be_kept_is_refused(number: str) -> None:
    with pytest.raises(DocumentError, match="no number that can be kept"):
        reader.parse_toml(f"factor = {number}", "study.toml", guide="docs")


def test_json_refuses_numbers_that_cannot_be_kept() -> None:
    with pytest.raises(InvalidValue, match="no number that can be kept"):
        reader.parse_json('{"factor": 1e999}')
    with pytest.raises(InvalidValue, match="not JSON"):
        reader.parse_json('{"factor": Infinity}')
    assert reader.parse_json("1.5e3") == 1500


@pytest.mark.django_db
@pytest.mark.parametrize(
    "command",
    [
        ["import_responses", "plums", "{pipe}"],
        ["import_responses", "plums", "{file}", "--map", "{pipe}"],
        ["import_scores", "plums", "{pipe}", "--metric", "m", "--by", "us"],
        ["generate", "plums", "--recipe", "pds-writer-profile", "--endpoint", "stub", "--premises", "{pipe}"],
        ["train_preference", "--pairs", "{folder}", "--name", "m"],
    ],
    ids=lambda command: command[0],
)
def test_no_command_waits_for_a_pipe(tmp_path: Path, command: list[str]) -> None:
    factories.study(planned=False, state="draft")
    (tmp_path / "answers.csv").write_text("rater,story\nE01,s1\n")
    os.mkfifo(tmp_path / "texts.jsonl")
    paths = {"pipe": tmp_path / "texts.jsonl", "file": tmp_path / "answers.csv", "folder": tmp_path}

    with pytest.raises((CommandError, SystemExit)) as error:
        call_command(*[part.format(**paths) for part in command])

    assert "no ordinary file" in str(error.value)
