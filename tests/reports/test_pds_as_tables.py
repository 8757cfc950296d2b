"""The release of PDS by its reader, and the same stories and ratings as tables by the ordinary imports: one report."""

import csv
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from reports import replications, results
from reports.dataset import Dataset
from reports.replications import Release, ReleasedStory
from reports.replications.replicate import load_release
from studies import lifecycle
from studies.models import Study
from tests.factories import NOON
from tests.reports import pds_generated

pytestmark = [pytest.mark.django_db, pytest.mark.embedded, pytest.mark.usefixtures("few_shuffles")]

FILE = "human_annotations.csv"
FACTORS = ("release_id", "study_id", "strategy")
SETTINGS = """\
slug = "tables"
title = "Psychological depth as tables"
organiser = "Tests"
contact = "tests@example.org"
seats_per_group = 5
order_policy = "fixed"

[[steps]]
key = "consent"
kind = "consent"
title = "Before you agree"
text = "Whom can you ask? {contact}."

[[steps]]
key = "ratings"
kind = "rating"
title = "Psychological depth"
instrument = "pds"
scope = "story"
"""


def read_release(folder: Path) -> Release:
    """The release with words for its stories, which a table of stories must have."""
    spec = replications.load_spec("pds")
    release = replications.load_reader("pds").read_release(folder, folder / "judges", spec)
    stories = [replace(story, text=words_of(n)) for n, story in enumerate(release.stories)]
    return replace(release, stories=tuple(stories))


def words_of(n: int) -> str:
    return " ".join(f"word{n}x{place}" for place in range(40 + 7 * n))


def write_tables(folder: Path, release: Release) -> None:
    """A study's folder with the release's stories: a row a story, with its group and the group's premise."""
    folder.mkdir()
    (folder / "study.toml").write_text(SETTINGS)
    with (folder / "stories.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["story", "group", "text", "source", "source_kind", "premise", *FACTORS])
        for story in release.stories:
            rows.writerow(row_of(story, release))


def row_of(story: ReleasedStory, release: Release) -> list[str]:
    source = release.sources[story.source]
    premise = release.premise_by_group[story.group]
    factors = [story.factors.get(name, "") for name in FACTORS]
    return [story.code, story.group, story.text, source["name"], source["kind"], premise, *factors]


def figures_of(study: Study) -> dict[str, Any]:
    """Every figure of the study's report, but for what its places were."""
    report = results.compute(study)
    return {key: value for key, value in report.items() if key not in ("study", "progress")}


def list_ends(node: Any) -> Iterator[float]:
    """The lower ends of all intervals."""
    if isinstance(node, dict):
        if isinstance(node.get("low"), float):
            yield node["low"]
        node = list(node.values())
    for inner in node if isinstance(node, list) else ():
        yield from list_ends(inner)


def test_the_release_and_its_tables_give_the_same_numbers_and_intervals(tmp_path: Path) -> None:
    pds_generated.at_random(tmp_path / FILE)
    release = read_release(tmp_path)
    write_tables(tmp_path / "tables", release)
    by_reader = load_release(release, replications.load_spec("pds"), slug="released", at=NOON)

    call_command("load_study", tmp_path / "tables", stdout=StringIO())
    mapping = replications.FOLDER / "mappings" / "pds.toml"
    call_command("import_responses", "tables", tmp_path / FILE, map=mapping, stdout=StringIO())
    as_tables = Study.objects.get(slug="tables")
    lifecycle.close(as_tables, at=NOON)

    figures = figures_of(as_tables)
    assert figures == figures_of(by_reader)
    assert len(list(list_ends(figures))) > 300


def test_stories_on_one_premise_are_one_cluster(tmp_path: Path) -> None:
    pds_generated.at_random(tmp_path / FILE)
    with (tmp_path / FILE).open(encoding="utf-8", newline="") as file:
        premise_by_id = {row["story_id"]: row["premise_id"] for row in csv.DictReader(file)}

    load_release(read_release(tmp_path), replications.load_spec("pds"), slug="released", at=NOON)

    dataset = Dataset.of(Study.objects.get())
    premises = [premise_by_id[dataset.story_factor(story, "release_id")] for _group, story in dataset.units]
    clusters = dataset.clusters_of_units(dataset.units).tolist()
    assert len(set(premises)) == len(set(clusters)) == len(set(zip(premises, clusters, strict=True))) == 15
