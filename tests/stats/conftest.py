"""The public TTCW release as arrays, and memory as a server has it."""

import gc
import json
import re
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from stats import garbage_collection
from stats.arrays import FloatArray, IntArray

SOURCES = ("GPT3.5", "GPT4", "Claude", "NewYorker")
YES_NO = {"Yes": 1.0, "No": 0.0}


@dataclass(frozen=True)
class Ttcw:
    """The public TTCW release as arrays.

    verdicts : shape (14 tests, 11 experts, 48 stories), nan where an expert did not judge a story
    group, source : of each story; source is an index into SOURCES
    """

    folder: Path
    stories: tuple[str, ...]
    verdicts: FloatArray
    group: IntArray
    source: IntArray

    def judge(self, name: str) -> tuple[FloatArray, list[str], int]:
        """A model's verdicts by first word, shape (14, 48), its unreadable answers, and how many are missing."""
        given = np.full((14, len(self.stories)), np.nan)
        unreadable, n_answers = [], 0
        for line in (self.folder / "judges" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            answer = json.loads(line)
            story, test = answer["id"].removeprefix("story_").split("_test")
            n_answers += 1
            first_word = re.match(r"\w*", answer["response"].strip()).group()  # type: ignore[union-attr]
            if first_word in YES_NO:
                given[int(test) - 1, self.stories.index(story)] = YES_NO[first_word]
            else:
                unreadable.append(answer["response"])
        return given, unreadable, given.size - n_answers


@pytest.fixture(scope="session")
def ttcw(release: Path) -> Ttcw:
    folder = release / "ttcw"
    rows = json.loads((folder / "ttcw_annotations.json").read_text(encoding="utf-8"))
    group_by_story = {row["story_id"]: row["story_idx"] for row in rows}
    stories = tuple(sorted(group_by_story, key=lambda story: (group_by_story[story], story)))
    verdicts = np.full((14, 1 + max(row["expert_idx"] for row in rows), len(stories)), np.nan)
    for row in rows:
        place = row["ttcw_idx"] - 1, row["expert_idx"], stories.index(row["story_id"])
        verdicts[place] = YES_NO[row["binary_verdict"]]
    return Ttcw(
        folder=folder,
        stories=stories,
        verdicts=verdicts,
        group=np.array([group_by_story[story] for story in stories]),
        source=np.array([SOURCES.index(story.split("_", 1)[1]) for story in stories]),
    )


@pytest.fixture
def nothing_frozen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What the tests hold counts as permanent (tests/conftest.py); not in a process of the product."""
    gc.unfreeze()
    monkeypatch.setattr(garbage_collection, "_is_within", ContextVar("_is_within", default=False))
    yield
    gc.freeze()
