"""docs/study-files.md says what the readers know, and its examples load."""

import re
import shlex
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from studies import loader
from studies.documents import analysis_plan, reader, stories, study
from studies.layouts import cloze
from studies.models import Source, Step, Study
from tests.studies.documents import test_study_refusals as refusals

ROOT = Path(__file__).parents[2]
DOC = (ROOT / "docs" / "study-files.md").read_text()
DEMO = ROOT / "studies" / "demo"


def keys(heading: str) -> list[str]:
    """The first column of the table under a heading."""
    part = DOC.split(f"\n{heading}\n")[1].split("\n#")[0]
    return re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE)


def examples(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", DOC, re.MULTILINE | re.DOTALL)


def test_every_key_of_a_study_is_documented_and_no_other() -> None:
    assert keys("## `study.toml`") == [*study.STUDY_KEYS, "steps", "analysis_plan"]


def test_every_key_of_a_step_is_documented_and_no_other() -> None:
    assert keys("### Steps") == list(study.STEP_KEYS)


def test_every_key_of_an_analysis_plan_is_documented_and_no_other() -> None:
    assert keys("### The analysis plan") == list(analysis_plan.READERS)


def test_every_option_of_a_cloze_is_documented_and_no_other() -> None:
    assert keys("### Filling a cloze") == list(cloze.NAMES)


def test_every_column_is_documented_and_no_other() -> None:
    assert keys("## The file of stories") == list(stories.COLUMNS)


@pytest.mark.parametrize(
    "values",
    [Study.OrderPolicy.values, study.STEP_KINDS, Step.Scope.values, Step.Background.values, Source.Kind.values],
    ids=["order policies", "kinds of steps", "scopes", "backgrounds", "kinds of sources"],
)
def test_the_choices_of_a_key_are_documented(values: Sequence[str]) -> None:
    assert ", ".join(f"`{value}`" for value in values) in DOC


def test_the_sizes_are_documented() -> None:
    assert (
        f"larger than {reader.LARGEST_FILE // 10**6} MB (`study.toml` and each text: {reader.LARGEST_TEXT // 10**6} MB)"
        in DOC
    )
    assert f"more than {stories.MOST_ROWS:,}\nrows; more than {stories.MOST_IN_GROUP} stories" in DOC


@pytest.mark.django_db
def test_the_example_of_a_study_loads_with_the_example_of_its_stories(tmp_path: Path) -> None:
    (toml,), (csv,) = examples("toml"), examples("csv")
    (tmp_path / "study.toml").write_text(toml)
    (tmp_path / "stories.csv").write_text(csv)
    (tmp_path / "texts").mkdir()
    for name in ("h1a.txt", "h1b.txt"):
        (tmp_path / "texts" / name).write_text((DEMO / "harbour" / "texts" / name).read_text())

    made = loader.load_study(tmp_path)

    assert [s.code for s in made.groups.get().stories.all()] == ["h1a", "h1b"]


def test_the_examples_are_the_demonstrations_own() -> None:
    (csv,) = examples("csv")

    assert (DEMO / "harbour" / "stories.csv").read_text().startswith(csv)
    (practice,) = re.findall(r'^```\n(\[\[steps\]\]\nkey = "practice"\n.*?)```', DOC, re.MULTILINE | re.DOTALL)
    assert practice in (DEMO / "depth" / "study.toml").read_text()


@pytest.mark.django_db
def test_the_commands_of_the_page_work() -> None:
    commands = re.findall(r"^manage\.py (.+)$", DOC, re.MULTILINE)

    for command in commands:
        name, *arguments = shlex.split(command)
        call_command(name, *[str(ROOT / a) if "/" in a else a for a in arguments], stdout=StringIO())

    assert len(commands) == 3
    assert Study.objects.get().seats.count() == 9


def test_the_messages_of_the_page_are_those_that_are_given() -> None:
    bad = refusals.BAD_CSV | refusals.BAD_STUDY
    given = {said for _, said in bad.values()}

    shown = re.findall(r"^((?:stories\.csv|study\.toml): .+)$", DOC, re.MULTILINE)

    assert len(shown) == 3
    assert set(shown) <= given
