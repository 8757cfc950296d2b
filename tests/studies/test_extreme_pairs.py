"""Best and worst of n as a study of pairs, and how often people take the best, with its interval over pairs."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.responses import Answer, imports
from reports import results
from studies import loader, protocol
from studies.models import Provenance, Study
from tests import factories
from tests.factories import NOON

STORIES = [
    {"story": f"d{door}n{n}", "prompt": f"Door {door}", "text": f"Story {n} of {door}.", "score": score}
    for door, scores in enumerate([(0.2, 0.9, 0.5), (1, -3, 1), (7, 7), (4,)])
    for n, score in enumerate(scores)
]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.django_db
def test_the_best_and_the_worst_of_each_prompt_are_a_pair_whose_report_tells_them_apart(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", STORIES)

    call_command("build_extreme_pairs", path, to=tmp_path / "doors", score="taste", verbosity=0)

    study = loader.load_study(tmp_path / "doors")
    sources = Provenance.objects.filter(story__study=study).values_list("story__code", "source__name")
    assert dict(sources) == {
        "d0n1": "taste: best",
        "d0n0": "taste: worst",
        "d1n0": "taste: best",
        "d1n1": "taste: worst",
    }
    card = json.loads((tmp_path / "doors" / "card.json").read_text())
    assert (card["pairs"], card["prompts_without_a_pair"], card["stories"]) == (2, 2, 9)
    factories.plan(study)
    choose(study, {"prompt-000001": ["d0n1", "d0n1", "d0n0"], "prompt-000002": ["d1n0", "d1n0", "d1n0"]})
    Study.objects.filter(pk=study.pk).update(state=Study.State.CLOSED)
    row = results.compute(Study.objects.get(pk=study.pk))["preferences"][0]
    best = next(share for share in row["by_source"] if share["source"] == "taste: best")
    assert (best["n_so"], best["n"], best["n_clusters"]) == (5, 6, 2)


def choose(study: Study, story_by_rater_by_group: dict[str, list[str]]) -> None:
    rows = [
        imports.Row("test", f"E{n}", group, "", "preference", "better", Answer(value=story))
        for group, stories in story_by_rater_by_group.items()
        for n, story in enumerate(stories)
    ]
    imports.import_rows(study, rows, version=protocol.current(study), at=NOON)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([STORIES[0] | {"score": "high"}], "s.jsonl: row 1, score: “high” is no number; write one such as .73"),
        ([{"prompt": "p", "text": "t"}], "s.jsonl: row 1, score: is missing; fill it, or leave the row out"),
        (STORIES[-3:], "no prompt has two stories of different scores; bring several stories a prompt"),
    ],
)
def test_what_makes_no_pair_is_refused_and_leaves_nothing(
    tmp_path: Path, rows: list[dict[str, Any]], message: str
) -> None:
    path = write(tmp_path / "s.jsonl", rows)

    with pytest.raises(CommandError) as error:
        call_command("build_extreme_pairs", path, to=tmp_path / "out")

    assert message in str(error.value)
    assert list(tmp_path.iterdir()) == [path]
