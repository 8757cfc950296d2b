"""Generated files in the form of LitBench's test set after its stories were fetched, and of judges' answers to it."""

import csv
import json
import random
from pathlib import Path

FILE = "rehydrated_test_data.csv"
HEADER = [
    *("prompt", "chosen_story", "rejected_story", "chosen_comment_id", "rejected_comment_id"),
    *("chosen_comment_score", "rejected_comment_score", "chosen_username", "rejected_username"),
    *("chosen_timestamp", "rejected_timestamp"),
]
PROMPTS = ("A well speaks.", "The last train, again", "Nobody remembers the queen.", "Rain for a year.")
USER = "u_somebody"
IN_2023 = 1_690_000_000  # seconds


def write_pairs(path: Path, *, seed: int = 3, n_stories: int = 6) -> list[dict[str, str]]:
    """A file with all pairs of the stories on each prompt whose votes differ by a quarter.

    One text was deleted, and one comment could not be fetched.
    """
    rng = random.Random(seed)
    rows = []
    for place, prompt in enumerate(PROMPTS):
        stories = [
            {
                "comment_id": f"k{place}{n}{rng.randrange(36**3):05}",
                "story": " ".join(f"w{rng.randrange(400)}" for _ in range(rng.randrange(50, 90))),
                "comment_score": str(rng.randrange(10, 80)),
                "username": f"{USER}_{place}_{n}",
                "timestamp": f"{IN_2023 + 1000 * n}.0",
            }
            for n in range(n_stories)
        ]
        stories[0]["story"] = "[deleted]" if place == 0 else stories[0]["story"]
        for chosen in stories:
            for rejected in stories:
                votes, less = int(chosen["comment_score"]), int(rejected["comment_score"])
                if votes - less >= 0.25 * votes and votes > less:
                    sides = {f"chosen_{k}": v for k, v in chosen.items()}
                    rows.append({"prompt": prompt, **sides, **{f"rejected_{k}": v for k, v in rejected.items()}})
    gone = rows[-1]["chosen_comment_id"]
    for row in rows:
        for side in ("chosen", "rejected"):
            if row[f"{side}_comment_id"] == gone:
                row |= {f"{side}_{name}": "" for name in ("story", "comment_score", "username", "timestamp")}
            elif row[f"{side}_comment_score"].endswith("1"):
                row[f"{side}_comment_score"] += ".0"  # as where a column has a gap
    rng.shuffle(rows)
    write_rows(path, rows)
    return rows


def write_rows(path: Path, rows: list[dict[str, str]], *, header: list[str] | None = None) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, header or HEADER, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


def write_verdicts(path: Path, rows: list[dict[str, str]], *, seed: int = 7) -> None:
    """A judge that is right in two thirds, leans to the first story, and says nothing readable now and then."""
    rng = random.Random(seed)
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            ids = [row["chosen_comment_id"], row["rejected_comment_id"]]
            for first, second in (ids, ids[::-1]):
                better = "A" if rng.random() < 0.2 or (first == ids[0]) == (rng.random() < 0.66) else "B"
                reply = f"Reasoning: A is lively, B is not.\n**Preferred:** [{better}]"
                reply = "Both have their merits." if rng.random() < 0.1 else reply
                file.write(json.dumps({"first": first, "second": second, "response": reply}) + "\n")


def write_rewards(path: Path, rows: list[dict[str, str]], *, seed: int = 9) -> None:
    """A reward model that follows votes a little, and gives two stories of the first prompt the same."""
    rng = random.Random(seed)
    votes = {row[f"{side}_comment_id"]: row[f"{side}_comment_score"] for row in rows for side in ("chosen", "rejected")}
    with path.open("w", encoding="utf-8") as file:
        for n, (name, score) in enumerate(sorted(votes.items())):
            reward = 0.5 if n < 3 else float(score or 0) / 40 + rng.gauss(0, 1)
            file.write(json.dumps({"comment_id": name, "reward": reward}) + "\n")
