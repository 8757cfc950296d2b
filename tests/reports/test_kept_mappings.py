"""Releases read by `import_responses` and kept mappings give what `replicate` gives by readers of its own."""

from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotation.models import AnswerImport, Response
from reports import replications
from reports.replications import comparison
from reports.replications.replicate import collect_evidence, load_release
from studies.models import Study
from tests.factories import NOON
from tests.reports import pds_generated

pytestmark = [pytest.mark.django_db, pytest.mark.embedded, pytest.mark.usefixtures("few_shuffles")]

MAPPINGS = replications.FOLDER / "mappings"


def figures_by(name: str, folder: Path, *, answers: str = "") -> list[tuple[Any, ...]]:
    """Every figure of people after the release came in by its reader; or, from the file `answers`, by the mapping."""
    spec = replications.load_spec(name)
    reader = replications.load_reader(spec["reader"])
    release = replace(reader.read_release(folder, folder / spec["files"]["judges"], spec), judges=())
    slug = f"{name}-mapped" if answers else name
    study = load_release(replace(release, rows=()) if answers else release, spec, slug=slug, at=NOON)
    if answers:
        assert not Response.objects.filter(assignment__study=study).exists()
        out = StringIO()
        call_command("import_responses", slug, folder / answers, map=MAPPINGS / f"{name}.toml", stdout=out)
        assert "came in from" in out.getvalue()
    blocks = comparison.compare(collect_evidence(study, spec, judges=[]), spec)
    return [(figure.key, figure.at, figure.value, figure.mark) for block in blocks for figure in block.figures]


def answers_of(study: str) -> list[tuple[Any, ...]]:
    rows = Response.objects.filter(assignment__study__slug=study)
    names = ("assignment__rater__code", "assignment__group__code", "story__code", "item__key", "value", "rationale")
    return sorted(rows.values_list(*names))


@pytest.mark.data
def test_the_mapping_of_ttcw_gives_every_figure_of_its_experts(release: Path) -> None:
    by_reader = figures_by("ttcw", release / "ttcw")
    by_mapping = figures_by("ttcw", release / "ttcw", answers="ttcw_annotations.json")

    assert by_mapping == by_reader
    assert len(answers_of("ttcw")) == 2016
    assert answers_of("ttcw-mapped") == answers_of("ttcw")
    record = AnswerImport.objects.get()
    assert (record.n_rows, record.n_raters, record.n_responses, record.file_name) == (
        2016,
        11,
        2016,
        "ttcw_annotations.json",
    )


def test_the_mapping_of_pds_gives_every_figure_of_its_participants(tmp_path: Path) -> None:
    pds_generated.at_random(tmp_path / "human_annotations.csv", n_by_author={"GPT-4": 3, "Human-Novice": 3})

    by_reader = figures_by("pds", tmp_path)
    by_mapping = figures_by("pds", tmp_path, answers="human_annotations.csv")

    assert by_mapping == by_reader
    assert answers_of("pds-mapped") == answers_of("pds")
    assert len(answers_of("pds")) == 6 * (5 * 4 + 3 * 2)
    assert Study.objects.count() == 2
