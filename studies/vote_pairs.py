"""A study of pairs from stories with votes: LitBench's filters, counted and left out in turn, into a folder of files.

The file of stories is read twice, first for its numbers, then for the texts that stand in pairs, so that a large one
needs little memory.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from studies.documents.pair_folders import check_new, new_folder, write_study_file
from studies.documents.rated_stories import RatedStory, read_rated_stories
from studies.documents.reader import LARGEST_FILE
from studies.documents.stories import MOST_ROWS
from studies.typography.prompts import fold_prompt

if TYPE_CHECKING:
    import numpy as np

    from stats.vote_pairs import RatedStories, VoteFilters, VotePairs

TRAINING, TEST = "training", "test"
PARTS = (TRAINING, TEST)
TOKENIZER = "words-and-marks-1"
# A token is a run of letters and digits, or a single mark. What a language model's own tokenizer counts is more.
TOKEN = re.compile(r"\w+|[^\w\s]")
LENGTH_UNIT = "words"
SHARE_OF_TEST = 0.2
MOST_BYTES = LARGEST_FILE - 5_000_000  # of the texts of a study's file, which holds other columns as well
PAIR_COLUMNS = ("pair", "part", "chosen", "rejected", "chosen_upvotes", "rejected_upvotes", "chosen_words")
COLUMNS = (*PAIR_COLUMNS, "rejected_words", "chosen_posted", "rejected_posted")
STORY_COLUMNS = ("story", "group", "text", "source", "source_kind", "premise", "url", "licence", "upvotes", "posted")
BASED_ON = (
    "Fein, D., Russo, S., Xiang, V., Jolly, K., Rafailov, R., & Haber, N. (2025). LitBench: A Benchmark and Dataset "
    "for Reliable Evaluation of Creative Writing. arXiv:2507.00769. Section 3.2."
)


class NoPairs(ValueError):
    """No pair passes the filters; the message says how many were left after each."""


@dataclass(frozen=True)
class BuiltPairs:
    """What was written. card : as `card.json` says it"""

    folder: Path
    card: Mapping[str, Any]


@dataclass
class _Index:
    """The numbers of all stories of a file, and what names them. A column of 100,000 numbers takes less than 1 MB."""

    keys: list[str] = field(default_factory=list)
    number_by_prompt: dict[str, int] = field(default_factory=dict)
    prompts: array[int] = field(default_factory=lambda: array("q"))
    upvotes: array[int] = field(default_factory=lambda: array("q"))
    posted: array[float] = field(default_factory=lambda: array("d"))
    n_words: array[int] = field(default_factory=lambda: array("q"))
    n_tokens: array[int] = field(default_factory=lambda: array("q"))
    n_bytes: array[int] = field(default_factory=lambda: array("q"))

    def add(self, story: RatedStory) -> None:
        self.keys.append(story.story)
        self.prompts.append(self.number_by_prompt.setdefault(fold_prompt(story.prompt), len(self.number_by_prompt)))
        self.upvotes.append(story.upvotes)
        self.posted.append(story.posted)
        self.n_words.append(len(story.text.split()))
        self.n_tokens.append(len(TOKEN.findall(story.text)))
        self.n_bytes.append(len(story.text.encode()))

    def select(self, members: np.ndarray[Any, Any]) -> RatedStories:
        """The numbers of these stories as arrays."""
        import numpy as np

        from stats.vote_pairs import RatedStories

        names = ("prompts", "upvotes", "posted", "n_words", "n_tokens")
        columns = {name: np.asarray(getattr(self, name))[members] for name in names}
        return RatedStories(**columns)


@dataclass(frozen=True)
class _Part:
    """The pairs of one side of the date, as indices into the whole file."""

    name: str
    chosen: list[int]
    rejected: list[int]
    card: Mapping[str, Any]


def build_pairs(
    path: Path, folder: Path, *, filters: VoteFilters, seed: int, test_from: float | None = None, most_in_study: int = 0
) -> BuiltPairs:
    """Pairs of the stories in the file, and a study of those of the test part, in a new folder: all of it, or nothing.

    test_from : seconds; stories posted from then on are for testing. None: such that they are the last fifth
    most_in_study : pairs that people are to read, drawn; 0 for all that a study can hold
    Raises DocumentError if the file cannot be used, NoPairs if nothing passes, FileExistsError.
    """
    check_new(folder)
    index = _Index()
    for story in read_rated_stories(path):
        index.add(story)
    border = _find_border(index) if test_from is None else test_from
    parts = _make_parts(index, filters=filters, seed=seed, border=border)
    in_study = _draw_study(index, parts, seed=seed, most=most_in_study)
    with new_folder(folder) as draft:
        _write_pairs(draft / "pairs.csv", index, parts)
        _write_texts(path, draft, index, parts, in_study)
        (draft / "study.toml").write_text(write_study_file(folder.name, seed=seed), encoding="utf-8")
        card = _card(path, index, parts, filters=filters, seed=seed, border=border, in_study=in_study)
        card["files"] = {name: _sha256(draft / name) for name in ("pairs.csv", "stories.csv", "texts.jsonl")}
        (draft / "card.json").write_text(json.dumps(card, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return BuiltPairs(folder, card)


def _find_border(index: _Index) -> float:
    """From when on the last fifth of the stories was posted."""
    posted = sorted(index.posted)
    return posted[int(len(posted) * (1 - SHARE_OF_TEST))]


def _make_parts(index: _Index, *, filters: VoteFilters, seed: int, border: float) -> list[_Part]:
    """Both parts, each filtered and balanced separately. No prompt with a pair in the test part is in the training."""
    import numpy as np

    is_test = np.asarray(index.posted) >= border
    test = _make_part(TEST, index, np.flatnonzero(is_test), filters=filters, seed=seed)
    prompts = np.asarray(index.prompts)
    is_of_test = np.isin(prompts, prompts[test.chosen]) if test.chosen else np.zeros(len(prompts), dtype=bool)
    members = np.flatnonzero(~is_test & ~is_of_test)
    training = _make_part(TRAINING, index, members, filters=filters, seed=seed)
    n_left_out = {"stories_on_prompts_of_the_test": int((~is_test & is_of_test).sum())}
    training = _Part(training.name, training.chosen, training.rejected, {**n_left_out, **training.card})
    if not test.chosen and not training.chosen:
        counts = "; ".join(f"{part.name}: {_list_counts(part.card['counts'])}" for part in (training, test))
        raise NoPairs(f"no pair passes the filters ({counts}); set lower limits, or bring more stories on one prompt")
    return [training, test]


def _list_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {n:,}" for name, n in counts.items())


def _make_part(name: str, index: _Index, members: np.ndarray[Any, Any], *, filters: VoteFilters, seed: int) -> _Part:
    from stats import vote_pairs

    stories = index.select(members)
    pairs = _find(stories, filters, name, seed)
    card: dict[str, Any] = {
        "counts": dict(pairs.counts),
        "pairs": len(pairs.chosen),
        "stories_in_pairs": len(set(pairs.chosen.tolist()) | set(pairs.rejected.tolist())),
        "prompts": len(set(stories.prompts[pairs.chosen].tolist())),
        "lengths": _lengths(stories, pairs),
        "without": {
            left_out: _ablation(stories, _find(stories, filters.without(left_out), name, seed))
            for left_out in vote_pairs.FILTERS
        },
    }
    if pairs.balance:
        balance = asdict(pairs.balance)
        card["histogram"] = {key: balance[key].tolist() for key in ("edges", "before", "after")}
    return _Part(name, members[pairs.chosen].tolist(), members[pairs.rejected].tolist(), card)


def _find(stories: RatedStories, filters: VoteFilters, name: str, seed: int) -> VotePairs:
    import numpy as np

    from stats import vote_pairs

    return vote_pairs.find_pairs(stories, filters, rng=np.random.default_rng([seed, PARTS.index(name)]))


def _lengths(stories: RatedStories, pairs: VotePairs) -> dict[str, float | int | None]:
    """Of the chosen stories, how many are longer and shorter than the other one, before the balance and after."""
    differences = stories.n_words[pairs.chosen] - stories.n_words[pairs.rejected]
    n_longer, n_shorter = int((differences > 0).sum()), int((differences < 0).sum())
    return {
        "longer_before": pairs.n_longer,
        "shorter_before": pairs.n_shorter,
        "share_longer_before": _share(pairs.n_longer, pairs.n_shorter),
        "longer": n_longer,
        "shorter": n_shorter,
        "share_longer": _share(n_longer, n_shorter),
    }


def _share(n_longer: int, n_shorter: int) -> float | None:
    return n_longer / (n_longer + n_shorter) if n_longer + n_shorter else None


def _ablation(stories: RatedStories, pairs: VotePairs) -> dict[str, Any]:
    """What there would be without a filter: pairs, and how often the chosen story is the longer one."""
    lengths = _lengths(stories, pairs)
    shares = {name: lengths[name] for name in ("share_longer_before", "share_longer")}
    return {"counts": dict(pairs.counts), "pairs": len(pairs.chosen), **shares}


def _draw_study(index: _Index, parts: Iterable[_Part], *, seed: int, most: int) -> list[tuple[str, int, int]]:
    """The pairs that people read: of the test part, else of the training, as many as a study's file holds.

    Code, chosen and rejected story of each, in the order of their codes.
    """
    import numpy as np

    part = max(parts, key=lambda part: (bool(part.chosen), part.name == TEST))
    codes = _codes(part)
    order = np.random.default_rng([seed, len(PARTS)]).permutation(len(codes))
    n_pairs = min(most or len(codes), MOST_ROWS // 2)
    drawn: list[int] = []
    n_bytes = 0
    for position in order[:n_pairs].tolist():
        n_bytes += index.n_bytes[part.chosen[position]] + index.n_bytes[part.rejected[position]]
        if n_bytes > MOST_BYTES:
            break
        drawn.append(position)
    return [(codes[position], part.chosen[position], part.rejected[position]) for position in sorted(drawn)]


def _codes(part: _Part) -> list[str]:
    """What names its pairs."""
    return [f"{part.name}-{n:06}" for n in range(1, len(part.chosen) + 1)]


def _write_pairs(path: Path, index: _Index, parts: Iterable[_Part]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(COLUMNS)
        for part in parts:
            for code, chosen, rejected in zip(_codes(part), part.chosen, part.rejected, strict=True):
                stories = (chosen, rejected)
                rows.writerow(
                    [
                        *(code, part.name),
                        *(index.keys[n] for n in stories),
                        *(index.upvotes[n] for n in stories),
                        *(index.n_words[n] for n in stories),
                        *(_write_moment(index.posted[n]) for n in stories),
                    ]
                )


def _write_moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def _write_texts(
    path: Path, folder: Path, index: _Index, parts: Iterable[_Part], in_study: Iterable[tuple[str, int, int]]
) -> None:
    """`texts.jsonl` with every story that stands in a pair, and `stories.csv` with those that people read."""
    in_pairs = {n for part in parts for n in (*part.chosen, *part.rejected)}
    groups_by_story: dict[int, list[str]] = {}
    for code, chosen, rejected in in_study:
        groups_by_story.setdefault(chosen, []).append(code)
        groups_by_story.setdefault(rejected, []).append(code)
    with (
        (folder / "texts.jsonl").open("w", encoding="utf-8") as texts,
        (folder / "stories.csv").open("w", encoding="utf-8", newline="") as file,
    ):
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(STORY_COLUMNS)
        for n, story in enumerate(read_rated_stories(path)):
            if n in in_pairs:
                line = {"story": story.story, "prompt": story.prompt, "text": story.text}
                texts.write(json.dumps(line, ensure_ascii=False) + "\n")
            rows.writerows(_study_rows(story, groups_by_story.get(n, [])))


def _study_rows(story: RatedStory, groups: Iterable[str]) -> Iterator[list[Any]]:
    """A row for each pair that the story stands in; its text once."""
    first = [story.text, story.source, story.source_kind]
    last = [story.url, story.licence, story.upvotes, _write_moment(story.posted)]
    for place, group in enumerate(groups):
        text, ends = (["", "", ""], [""] * 4) if place else (first, last)
        yield [story.story, group, *text, story.prompt, *ends]


def _card(
    path: Path,
    index: _Index,
    parts: Iterable[_Part],
    *,
    filters: VoteFilters,
    seed: int,
    border: float,
    in_study: list[tuple[str, int, int]],
) -> dict[str, Any]:
    """All that decides the pairs, and all that came of it."""
    limits = asdict(filters)
    return {
        "based_on": BASED_ON,
        "file": {"name": path.name, "sha256": _sha256(path), "stories": len(index.keys)},
        "prompts": len(index.number_by_prompt),
        "filters": {name: limits[name] for name in ("least_upvotes", "most_tokens", "least_words", "margin")},
        "tokenizer": {"name": TOKENIZER, "pattern": TOKEN.pattern},
        "length_unit": LENGTH_UNIT,
        "seed": seed,
        "test_from": _write_moment(border),
        "parts": {part.name: dict(part.card) for part in parts},
        "study": {"pairs": len(in_study), "of": in_study[0][0].partition("-")[0]},
    }


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
