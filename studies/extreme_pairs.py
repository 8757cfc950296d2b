"""The best and the worst of n stories on each prompt, by any score, as pairs for people to choose from.

As LitBench held its reward model against people (Fein et al. 2025, section 5.5). In the study the two are sources of
their own, so that the report's figure of preferences says how often people take the best, with its interval over pairs.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studies.documents.pair_folders import check_new, new_folder, write_study_file
from studies.documents.rated_stories import ScoredStory, read_scored_stories
from studies.documents.stories import MOST_ROWS
from studies.vocabulary import SourceKind

BEST, WORST = "best", "worst"
COLUMNS = ("story", "group", "text", "source", "source_kind", "premise", "url", "licence", "score", "writer")


class NoExtremes(ValueError):
    """No prompt has two stories of different scores; the message says what would do."""


@dataclass(frozen=True)
class ExtremePairs:
    """What was written. card : as `card.json` says it"""

    folder: Path
    card: Mapping[str, Any]


@dataclass
class _Extremes:
    """Of one prompt, the best and the worst story so far; of equal ones the first."""

    best: ScoredStory
    worst: ScoredStory
    n: int = 1

    def add(self, story: ScoredStory) -> None:
        self.n += 1
        if story.score > self.best.score:
            self.best = story
        if story.score < self.worst.score:
            self.worst = story


def build_extreme_pairs(path: Path, folder: Path, *, name: str, seed: int) -> ExtremePairs:
    """A study of one pair a prompt in a new folder: all of it, or nothing. Raises DocumentError, NoExtremes,
    FileExistsError.

    name : of the score, as the sources in the study are called after it
    """
    check_new(folder)
    by_prompt: dict[str, _Extremes] = {}
    for story in read_scored_stories(path):
        if story.prompt in by_prompt:
            by_prompt[story.prompt].add(story)
        else:
            by_prompt[story.prompt] = _Extremes(story, story)
    pairs = [extremes for extremes in by_prompt.values() if extremes.best.score > extremes.worst.score]
    if not pairs:
        raise NoExtremes("no prompt has two stories of different scores; bring several stories a prompt")
    if 2 * len(pairs) > MOST_ROWS:
        raise NoExtremes(f"there are {len(pairs):,} prompts; a study holds {MOST_ROWS // 2:,} pairs, so split the file")
    card = {
        "file": path.name,
        "score": name,
        "seed": seed,
        "stories": sum(extremes.n for extremes in by_prompt.values()),
        "prompts": len(by_prompt),
        "pairs": len(pairs),
        "prompts_without_a_pair": len(by_prompt) - len(pairs),
        "least_stories_a_prompt": min(extremes.n for extremes in pairs),
        "most_stories_a_prompt": max(extremes.n for extremes in pairs),
    }
    with new_folder(folder) as draft:
        _write_stories(draft / "stories.csv", pairs, name)
        (draft / "study.toml").write_text(write_study_file(folder.name, seed=seed), encoding="utf-8")
        (draft / "card.json").write_text(json.dumps(card, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return ExtremePairs(folder, card)


def _write_stories(path: Path, pairs: list[_Extremes], name: str) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(COLUMNS)
        for n, extremes in enumerate(pairs, start=1):
            for place, story in ((BEST, extremes.best), (WORST, extremes.worst)):
                source = (f"{name}: {place}", SourceKind.OTHER.value)
                ends = (story.url, story.licence, f"{story.score:g}", story.source)
                rows.writerow([story.story, f"prompt-{n:06}", story.text, *source, story.prompt, *ends])
