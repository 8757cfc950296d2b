"""The values of `replicate litbench`, computed a second time and otherwise: with csv, json, math, re and statistics.

    python tests/reports/litbench_by_hand.py rehydrated_test_data.csv [judges/NAME.jsonl ...]

prints them as JSON. It shares no line with what it checks, and follows the definitions as they stand, not for speed.
"""

import csv
import json
import math
import re
import statistics
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

FIRST_OF_2023 = 1_672_531_200  # seconds


def computed(path: Path, judges: list[Path]) -> dict[str, dict[str, float]]:
    """Every value by the key of its block, and within it by its own keys joined with "/"."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    stories: dict[str, dict[str, Any]] = {}
    for row in rows:
        for side in ("chosen", "rejected"):
            text = row[f"{side}_story"]
            n_words = None if text in ("", "[deleted]", "[removed]") else len(text.split())
            votes, time = (float(row[f"{side}_{name}"] or "nan") for name in ("comment_score", "timestamp"))
            stories[row[f"{side}_comment_id"]] = {"n": n_words, "votes": votes, "time": time, "text": text}
    pairs = [(stories[row["chosen_comment_id"]], stories[row["rejected_comment_id"]]) for row in rows]
    lengths = [(a["n"], b["n"]) for a, b in pairs if a["n"] and b["n"] and a["n"] != b["n"]]
    known = [story for story in stories.values() if story["n"]]
    values: dict[str, dict[str, float]] = {
        "n_pairs": {"": len(rows)},
        "n_stories": {"": len(stories)},
        "n_texts": {"": len(known)},
        "n_prompts": {"": len({row["prompt"] for row in rows} - {""})},
        "story_length": {"": statistics.mean(story["n"] for story in known) / 100},
        "longer_chosen": {"": sum(a > b for a, b in lengths) / len(lengths)},
        "least_upvotes": {
            "chosen": min(a["votes"] for a, _ in pairs if not math.isnan(a["votes"])),
            "rejected": min(b["votes"] for _, b in pairs if not math.isnan(b["votes"])),
        },
        "stories_before_2023": {"": sum(story["time"] < FIRST_OF_2023 for story in stories.values())},
        "outside_filters": {
            "upvotes": sum(a["votes"] < 10 or b["votes"] < 10 for a, b in pairs),
            "tokens": sum(any(tokens(s) > 2048 for s in pair) for pair in pairs),
            "words": sum(any(s["n"] and s["n"] < 50 for s in pair) for pair in pairs),
            "margin": sum((a["votes"] - b["votes"]) / a["votes"] < 0.25 for a, b in pairs),
            "later": sum(a["time"] <= b["time"] for a, b in pairs),
        },
    }
    for judge in judges:
        for key, of_judge in judged(judge, rows).items():
            values.setdefault(key, {})[judge.stem] = of_judge
    return values


def tokens(story: dict[str, Any]) -> int:
    return len(re.findall(r"\w+|[^\w\s]", story["text"])) if story["n"] else 0


def judged(path: Path, rows: list[dict[str, str]]) -> dict[str, float]:
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    if "reward" in lines[0]:
        reward = {line["comment_id"]: line["reward"] for line in lines}
        both = [(reward[row["chosen_comment_id"]], reward[row["rejected_comment_id"]]) for row in rows]
        right = [a > b for a, b in both if a != b]
        n_lost = sum(a == b for a, b in both)
        return {"accuracy": statistics.mean(right), "judge_pairs_chosen": len(right), "judge_answers_lost": n_lost}
    chosen_by_pair: dict[tuple[str, str], list[tuple[str, bool]]] = defaultdict(list)
    n_lost = 0
    for line in lines:
        match = re.search(r"Preferred:\W*([AB])", line["response"])
        if not match:
            n_lost += 1
            continue
        is_first = match[1] == "A"
        story = line["first"] if is_first else line["second"]
        chosen_by_pair[tuple(sorted((line["first"], line["second"])))].append((story, is_first))  # type: ignore[index]
    better = {tuple(sorted((r["chosen_comment_id"], r["rejected_comment_id"]))): r["chosen_comment_id"] for r in rows}
    both = [[story for story, _ in choices] for choices in chosen_by_pair.values() if len(choices) == 2]
    return {
        "accuracy": statistics.mean(
            statistics.mean(story == better[pair] for story, _ in choices) for pair, choices in chosen_by_pair.items()
        ),
        "judge_flip_rate": statistics.mean(one != other for one, other in both),
        "judge_first_rate": statistics.mean(
            statistics.mean(is_first for _, is_first in choices) for choices in chosen_by_pair.values()
        ),
        "judge_pairs_chosen": len(chosen_by_pair),
        "judge_answers_lost": n_lost,
    }


if __name__ == "__main__":
    print(json.dumps(computed(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]]), indent=1))
