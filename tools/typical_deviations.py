"""`python -m tools.typical_deviations`: how much raters, stories and the rest vary in public releases.

Reads `ttcw` and `pds` in the folder QUIRE_DATA and prints what `annotation/design/typical_deviations.toml` holds,
before rounding. A release that is not there is left out. Items are fitted one by one; the mean variance counts.
"""

import csv
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

from stats.source_model import CrossedAnswers, SourceModel

PERCENT = 100.0
Reading = tuple[str, str, str, str]  # source, block, rater, story
COMPONENTS = ("authenticity", "empathy", "engagement", "emotion_provoking", "narrative_complexity")


def read_ttcw(folder: Path) -> dict[str, dict[Reading, float]]:
    """Verdicts by test, in percent."""
    answers: dict[str, dict[Reading, float]] = defaultdict(dict)
    for row in json.loads((folder / "ttcw_annotations.json").read_text()):
        plot, story = str(row["story_idx"]), str(row["story_id"])
        reading = (story.split("_", 1)[1], plot, str(row["expert_idx"]), story)
        answers[str(row["ttcw_idx"])][reading] = PERCENT * (row["binary_verdict"] == "Yes")
    return answers


def read_pds(folder: Path) -> dict[str, dict[Reading, float]]:
    """Ratings from 1 to 5 by component of psychological depth; all stories are of one block."""
    answers: dict[str, dict[Reading, float]] = defaultdict(dict)
    with (folder / "human_annotations.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            reading = (row["model_short"], "", row["participant_id"], row["study_id"])
            for name in COMPONENTS:
                answers[name][reading] = float(row[f"{name}_score"])
    return answers


def mean_of(answers: Mapping[str, Mapping[Reading, float]]) -> dict[Reading, float]:
    """The mean of all items for each reading that answers all of them."""
    readings = set.intersection(*map(set, answers.values()))
    return {reading: float(np.mean([item[reading] for item in answers.values()])) for reading in sorted(readings)}


def fit(answers: Mapping[Reading, float]) -> dict[str, float]:
    """The variances of one item, with the mean of its answers."""
    columns = [np.unique(np.array(labels), return_inverse=True)[1] for labels in zip(*answers, strict=True)]
    source, block, rater, story = (column.astype(np.int64) for column in columns)
    values = np.array(list(answers.values()))
    model = SourceModel(CrossedAnswers(values=values, source=source, block=block, rater=rater, story=story))
    return model.variances | {"mean": float(values.mean())}


def describe(title: str, items: Iterable[Mapping[Reading, float]]) -> Iterator[str]:
    """A table of standard deviations, of which each is the root of the mean variance."""
    fits = [fit(item) for item in items]
    yield f"[{title}]  # {len(fits)} items"
    yield f"mean = {np.mean([one['mean'] for one in fits]):.3f}"
    for part in ("rater", "rater_source", "story", "residual"):
        yield f"{part} = {np.mean([one[part] for one in fits]) ** 0.5:.3f}"


def main() -> None:
    folder = Path(os.environ.get("QUIRE_DATA", "data"))
    for name, read in {"ttcw": read_ttcw, "pds": read_pds}.items():
        if not (folder / name).is_dir():
            print(f"# {name}: not in {folder}")
            continue
        answers = read(folder / name)
        print("\n".join([*describe(f"{name}.item", answers.values()), *describe(f"{name}.mean", [mean_of(answers)])]))


if __name__ == "__main__":
    main()
