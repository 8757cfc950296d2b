"""What `build_pairs` takes for 100,000 stories with votes: seconds, CPU and memory of one process."""

import json
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from stats.vote_pairs import VoteFilters
from studies import vote_pairs

N_STORIES = 100_000
A_PROMPT = 20
WORDS = np.array([f"w{n}" for n in range(5000)])


def run(n_stories: int = N_STORIES) -> dict[str, float]:
    """Stories of 550 words on average, the longer ones with more votes, twenty on a prompt."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "stories.jsonl")
        write_stories(path, n_stories)
        Path("/proc/self/clear_refs").write_text("5")  # forgets the peak of writing the file; Linux only
        began, cpu = time.perf_counter(), time.process_time()
        card = vote_pairs.build_pairs(path, Path(name, "pairs"), filters=VoteFilters(), seed=1).card
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        megabytes = path.stat().st_size / 1e6
    parts = card["parts"].values()
    return {
        "stories": n_stories,
        "file MB": megabytes,
        "pairs on one prompt, all filters of stories passed": sum(part["counts"]["pairs"] for part in parts),
        "pairs built": sum(part["pairs"] for part in parts),
        "chosen the longer, before the balance %": _percent_longer(card, "longer_before", "shorter_before"),
        "chosen the longer %": _percent_longer(card, "longer", "shorter"),
        "build_pairs s": seconds,
        "build_pairs, CPU s": cpu,
        "build_pairs, peak memory MB": _peak_mb(),
    }


def write_stories(path: Path, n_stories: int) -> None:
    rng = np.random.default_rng(4)
    start = datetime(2014, 1, 1, tzinfo=UTC)
    with path.open("w", encoding="utf-8") as file:
        for n in range(n_stories):
            n_words = int(np.clip(rng.lognormal(6.0, 0.75), 20, 3000))
            story = {
                "story": f"s{n}",
                "prompt": f"[WP] Prompt {rng.integers(0, max(1, n_stories // A_PROMPT))}",
                "text": " ".join(rng.choice(WORDS, n_words)),
                "upvotes": 1 + int((rng.pareto(1.0) + 1) * (3 + n_words / 60)),
                "date": (start + timedelta(days=float(rng.uniform(0, 3600)))).isoformat(),
            }
            file.write(json.dumps(story) + "\n")


def _percent_longer(card: dict, longer: str, shorter: str) -> float:
    n_longer, n_shorter = (sum(part["lengths"][name] for part in card["parts"].values()) for name in (longer, shorter))
    return 100 * n_longer / (n_longer + n_shorter)


def _peak_mb() -> float:
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024
