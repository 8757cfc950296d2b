"""The summary figures of PDS in an ordinary report of 97 generated stories, against values computed here by hand."""

import csv
import io
import math
import statistics
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from scipy import stats as scipy_stats

from reports.dataset import Dataset
from reports.figures import all_figures
from reports.figures.codec import encode
from studies.models import Provenance, Study
from tests import triggers
from tests.reports import pds_generated
from tests.reports.pds_by_hand import COLUMN_BY_ITEM

pytestmark = [*(pytest.mark.django_db, pytest.mark.embedded), pytest.mark.usefixtures("few_shuffles")]

N_BY_AUTHOR = {author: n for author, (n, _sums) in pds_generated.SUMS_97.items()}
SIZES = {"Llama-2-7B": "7B", "Llama-2-13B": "13B", "Vicuna-33B": "33B", "Llama-2-70B": "70B"}
Rows = list[dict[str, str]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pds97")
    pds_generated.at_random(path / "human_annotations.csv", n_by_author=N_BY_AUTHOR)
    return path


@pytest.fixture
def rows(folder: Path) -> Rows:
    with (folder / "human_annotations.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def report(folder: Path) -> dict[str, Any]:
    """Figures of the ordinary report; stories of the four open models say their size."""
    with suppress(CommandError):  # random ratings are not as published
        call_command("replicate", "pds", data=folder, stdout=io.StringIO(), stderr=io.StringIO())
    with triggers.lifted():
        for provenance in Provenance.objects.select_related("source"):
            if size := SIZES.get(provenance.source.name):
                provenance.factors["size"] = size
                provenance.save()
    dataset = Dataset.of(Study.objects.get())
    keys = ("distributions", "story_ratings", "human_likeness", "trends", "factors")
    return {key: encode(all_figures()[key].compute(dataset)) for key in keys}


def scores(rows: Rows, item: str) -> list[int]:
    return [int(row[COLUMN_BY_ITEM[item]]) for row in rows]


def by_story(rows: Rows, item: str) -> dict[str, list[int]]:
    ratings = defaultdict(list)
    for row in sorted(rows, key=lambda row: row["participant_id"]):
        ratings[row["story_id"]].append(int(row[COLUMN_BY_ITEM[item]]))
    return dict(ratings)


def outcome_by_story(rows: Rows, key: str) -> dict[str, list[float]]:
    """Ratings on one scale, or each rater's mean of the five components, of which human-likeness is none."""
    if not key.endswith("/scores/depth"):
        return {story: list(map(float, ratings)) for story, ratings in by_story(rows, key.split("/")[1]).items()}
    components = [by_story(rows, item) for item in COLUMN_BY_ITEM if item != "human-likeness"]
    assert len(components) == 5
    return {
        story: [statistics.mean(each) for each in zip(*(component[story] for component in components), strict=True)]
        for story in components[0]
    }


def of(rows: Rows, author: str) -> Rows:
    return [row for row in rows if not author or row["model_short"] == author]


def item_name(row: dict[str, Any]) -> str:
    return next(name for name in COLUMN_BY_ITEM if name == row["item"])


def t_interval(rows: Rows, value_by_story: dict[str, float]) -> tuple[float, float]:
    """Of the mean over stories, which vary with their premises: of each its stories' sum less as many means."""
    premise_by_story = {row["story_id"]: row["premise_id"] for row in rows}
    mean, off_by_premise = statistics.mean(value_by_story.values()), defaultdict(float)
    for story, value in value_by_story.items():
        off_by_premise[premise_by_story[story]] += (value - mean) / len(value_by_story)
    n = len(off_by_premise)
    error = math.sqrt(n / (n - 1) * sum(off**2 for off in off_by_premise.values()))
    margin = scipy_stats.t.ppf(0.975, n - 1) * error
    return mean - margin, mean + margin


def check_distributions(report: dict[str, Any], rows: Rows) -> None:
    assert len(report["distributions"]) == 6
    for row in report["distributions"]:
        for part in (row["overall"], *row["by_source"]):
            own = scores(of(rows, part.get("source", "")), item_name(row))
            assert part["n"] == len(own)
            assert [point["n"] for point in part["points"]] == [own.count(n) for n in range(1, 6)]
            below = [100 * sum(score <= n for score in own) / len(own) for n in range(1, 6)]
            assert [point["value"] for point in part["points"]] == pytest.approx(below)
            assert part["points"][-1]["interval"] is None
    of_llama = next(p for p in report["distributions"][0]["by_source"] if p["source"] == "Llama-2-70B")
    ratings = by_story(of(rows, "Llama-2-70B"), "authenticity")
    assert {len(of_story) for of_story in ratings.values()} == {5}
    shares = {story: 100 * statistics.mean(score <= 3 for score in of_story) for story, of_story in ratings.items()}
    low, high = t_interval(rows, shares)
    assert (of_llama["points"][2]["interval"]["low"], of_llama["points"][2]["interval"]["high"]) == (
        pytest.approx(low),
        pytest.approx(high),
    )


def check_stories(report: dict[str, Any], rows: Rows) -> None:
    depth, *of_items = report["story_ratings"]
    assert [depth["item"], len(of_items)] == ["scores/depth", 6]
    by_hand = sorted(statistics.mean(ratings) for ratings in outcome_by_story(rows, "steps/scores/depth").values())
    assert sorted(story["mean"] for story in depth["stories"]) == pytest.approx(by_hand)
    for row in of_items:
        ratings = by_story(rows, item_name(row)).values()
        own = sorted((story["mean"], story["sd"], len(story["ratings"])) for story in row["stories"])
        expected = sorted((statistics.mean(s), statistics.stdev(s), len(s)) for s in ratings)
        assert [mean for mean, _, _ in own] == pytest.approx([mean for mean, _, _ in expected])
        assert sorted(sd for _, sd, _ in own) == pytest.approx(sorted(sd for _, sd, _ in expected))
        assert row["spread"]["value"] == pytest.approx(statistics.mean(sd for _, sd, _ in expected))
        widest = sorted((sd for _, sd, _ in expected), reverse=True)[:8]
        disputed = [story for story in row["stories"] if story.get("is_disputed")]
        assert sorted((story["sd"] for story in disputed), reverse=True) == pytest.approx(widest)
        assert sorted(r for story in row["stories"] for r in story["ratings"]) == sorted(scores(rows, item_name(row)))


def check_likeness(report: dict[str, Any], rows: Rows) -> None:
    (row,) = report["human_likeness"]
    pairs = [(int(r["human_likeness_score"]), r["model_short"].startswith("Human-")) for r in rows]
    right = [(score > 3) if is_human else (score < 3) for score, is_human in pairs]
    near = [1 - abs(score - (5 if is_human else 1)) / 4 for score, is_human in pairs]
    recalls = [
        statistics.mean(is_right for is_right, (_, is_human) in zip(right, pairs, strict=True) if is_human == kind)
        for kind in (True, False)
    ]
    of_models = 100 * statistics.mean(not is_human for _, is_human in pairs)
    by_measure = {accuracy["measure"]: accuracy for accuracy in row["accuracies"]}

    assert (row["n"], row["n_undecided"]) == (len(rows), sum(score == 3 for score, _ in pairs))
    assert by_measure["right"]["value"] == pytest.approx(100 * statistics.mean(right))
    assert by_measure["near"]["value"] == pytest.approx(100 * statistics.mean(near))
    assert by_measure["balanced"]["value"] == pytest.approx(100 * statistics.mean(recalls))
    assert by_measure["right"]["always_model"] == pytest.approx(of_models)
    assert by_measure["near"]["always_person"] == pytest.approx(100 - of_models)
    assert all(a["interval"]["low"] < a["value"] < a["interval"]["high"] for a in row["accuracies"])
    for part in row["by_source"]:
        own = [n for n, r in enumerate(rows) if r["model_short"] == part["source"]]
        assert part["right"] == pytest.approx(100 * statistics.mean(right[n] for n in own))
        assert part["near"] == pytest.approx(100 * statistics.mean(near[n] for n in own))


def check_trends(report: dict[str, Any], rows: Rows) -> None:
    number_by_author = {"Llama-2-7B": 7e9, "Llama-2-13B": 13e9, "Vicuna-33B": 33e9, "Llama-2-70B": 70e9}
    of_size = [row for row in report["trends"] if row["factor"] == "size"]
    assert len(of_size) == len(report["trends"]) == 2, "ids are numbers that say nothing of more or less"
    for row in of_size:
        author_by_story = {r["story_id"]: r["model_short"] for r in rows if r["model_short"] in number_by_author}
        of_stories = outcome_by_story(rows, row["key"]).items()
        means = {
            story: round(statistics.mean(ratings), 10) for story, ratings in of_stories if story in author_by_story
        }
        numbers = [number_by_author[author_by_story[story]] for story in means]
        rho = scipy_stats.spearmanr(numbers, list(means.values())).statistic
        assert row["value"] == pytest.approx(rho)
        assert row["n_stories"] == len(means) == 69
        assert row["interval"]["low"] < rho < row["interval"]["high"]
        for mean in row["means"]:
            own = {s: m for s, m in means.items() if number_by_author[author_by_story[s]] == mean["number"]}
            assert mean["value"] == pytest.approx(statistics.mean(own.values()))
            low, high = t_interval(rows, own)
            assert (mean["interval"]["low"], mean["interval"]["high"]) == (pytest.approx(low), pytest.approx(high))


def check_strategy(report: dict[str, Any], rows: Rows) -> None:
    of_strategy = [row for row in report["factors"] if row["factor"] == "strategy"]
    assert [row["key"].split("/", 1)[1] for row in of_strategy] == ["scores/depth", "human-likeness"]
    for row in of_strategy:
        strategy_by_story = {r["story_id"]: r["strategy"] for r in rows}
        for mean in [mean for mean in row["means"] if not mean["source"]]:
            own = [
                statistics.mean(ratings)
                for story, ratings in outcome_by_story(rows, row["key"]).items()
                if strategy_by_story[story] == mean["level"]
            ]
            assert mean["value"] == pytest.approx(statistics.mean(own))
            assert mean["n_stories"] == len(own)


@pytest.mark.slow
def test_every_summary_figure_of_97_stories_is_as_by_hand(report: dict[str, Any], rows: Rows) -> None:
    assert len({row["story_id"] for row in rows}) == 97

    check_distributions(report, rows)
    check_stories(report, rows)
    check_likeness(report, rows)
    check_trends(report, rows)
    check_strategy(report, rows)
