"""A folder of pairs from a file of stories with votes: every count, the study in it, and what is refused."""

import csv
import json
import re
from collections import Counter
from collections.abc import Mapping
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from stats.vote_pairs import FILTERS
from studies import loader, vote_pairs
from studies.models import Provenance

N_STORIES = 500
BORDER = "2023-01-01"


def stories(n: int = N_STORIES) -> list[dict[str, Any]]:
    """Stories around every limit, the longer ones with more votes, every prompt in some of the years."""
    rng = np.random.default_rng(11)
    rows = []
    for number in range(n):
        n_words = int(rng.choice([30, 49, 50, 120, 300, 600, 1600], p=[0.05, 0.05, 0.1, 0.2, 0.3, 0.2, 0.1]))
        n_words += int(rng.integers(0, 40)) if n_words > 100 else 0
        year, prompt = int(rng.integers(2018, 2025)), int(rng.integers(0, n // 20))
        rows.append(
            {
                "story": f"t{number}",
                "prompt": f"Write about door {prompt + (1000 if year >= 2023 and prompt % 2 else 0)}.",
                "text": " ".join(f"word{number}," for _word in range(n_words)),
                "upvotes": int(rng.integers(6, 30)) + n_words // 60,
                "date": f"{year}-{int(rng.integers(1, 13)):02}-{int(rng.integers(1, 28)):02}",
            }
        )
    return rows


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    return path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("votes")
    path = write(folder / "stories.csv", stories())
    call_command("build_pairs", str(path), to=folder / "doors", test_from=BORDER, seed=3, in_study=12, verbosity=0)
    return folder / "doors"


def pairs_of(folder: Path) -> list[dict[str, str]]:
    return list(csv.DictReader((folder / "pairs.csv").read_text().splitlines()))


def counted_plainly(rows: list[dict[str, Any]], left_out: str = "") -> dict[str, int]:
    """What is left after each filter but the balance, counted row by row."""
    counts = {"stories": len(rows)}
    for name, passes in {
        "upvotes": lambda row: row["upvotes"] >= 10,
        "tokens": lambda row: len(re.findall(r"\w+|[^\w\s]", row["text"])) <= 2048,
        "words": lambda row: len(row["text"].split()) >= 50,
    }.items():
        if name != left_out:
            rows = [row for row in rows if passes(row)]
            counts[name] = len(rows)
    pairs = [(c, r) for c, r in permutations(rows, 2) if c["prompt"] == r["prompt"] and c["upvotes"] > r["upvotes"]]
    counts["pairs"] = len(pairs)
    for name, passes in {
        "margin": lambda c, r: (c["upvotes"] - r["upvotes"]) / c["upvotes"] >= 0.25,
        "later": lambda c, r: c["date"] > r["date"],
    }.items():
        if name != left_out:
            pairs = [pair for pair in pairs if passes(*pair)]
            counts[name] = len(pairs)
    return counts


def without_balance(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: n for name, n in counts.items() if name != "balance"}


def test_the_card_has_every_count_and_every_ablation(built: Path) -> None:
    card = json.loads((built / "card.json").read_text())
    pairs = pairs_of(built)
    story_by_key = {row["story"]: row for row in stories()}
    test = [row for row in stories() if row["date"] >= BORDER]
    of_test = {story_by_key[pair["chosen"]]["prompt"] for pair in pairs if pair["part"] == "test"}
    training = [row for row in stories() if row["date"] < BORDER and row["prompt"] not in of_test]

    for name, rows in {"test": test, "training": training}.items():
        part = card["parts"][name]
        assert without_balance(part["counts"]) == counted_plainly(rows)
        assert part["pairs"] == part["counts"]["balance"] == sum(pair["part"] == name for pair in pairs) > 20
        assert set(part["without"]) == set(FILTERS)
        for left_out, ablation in part["without"].items():
            assert without_balance(ablation["counts"]) == counted_plainly(rows, left_out)
        assert part["lengths"]["share_longer"] == 0.5 < part["lengths"]["share_longer_before"]
        unbalanced = part["without"]["balance"]
        assert unbalanced["share_longer"] == part["lengths"]["share_longer_before"]
        assert part["histogram"]["after"] == part["histogram"]["after"][::-1]
        assert len(part["histogram"]["edges"]) == 101
    n_before = sum(row["date"] < BORDER for row in stories())
    assert card["parts"]["training"]["stories_on_prompts_of_the_test"] == n_before - len(training) > 0
    assert (card["seed"], card["tokenizer"]["name"], card["length_unit"]) == (3, vote_pairs.TOKENIZER, "words")
    assert card["test_from"] == "2023-01-01T00:00:00+00:00"


def test_every_pair_is_what_it_says(built: Path) -> None:
    story_by_key = {row["story"]: row for row in stories()}
    texts = {row["story"]: row for row in map(json.loads, (built / "texts.jsonl").read_text().splitlines())}
    sides: dict[str, set[str]] = {"training": set(), "test": set()}
    n_longer = Counter[str]()

    for pair in pairs_of(built):
        chosen, rejected = story_by_key[pair["chosen"]], story_by_key[pair["rejected"]]
        assert chosen["prompt"] == rejected["prompt"]
        assert int(pair["chosen_upvotes"]) == chosen["upvotes"]
        assert chosen["upvotes"] - rejected["upvotes"] >= 0.25 * chosen["upvotes"]
        assert chosen["date"] > rejected["date"]
        assert (chosen["date"] >= BORDER) == (rejected["date"] >= BORDER) == (pair["part"] == "test")
        assert texts[pair["chosen"]]["text"] == chosen["text"]
        sides[pair["part"]].add(chosen["prompt"])
        difference = int(pair["chosen_words"]) - int(pair["rejected_words"])
        assert difference == len(chosen["text"].split()) - len(rejected["text"].split())
        n_longer[f"{pair['part']} {(difference > 0) - (difference < 0)}"] += 1

    assert not sides["training"] & sides["test"]
    for part in sides:
        assert n_longer[f"{part} 1"] == n_longer[f"{part} -1"] > 0


@pytest.mark.django_db
def test_the_folder_is_a_study_of_drawn_test_pairs(built: Path) -> None:
    study = loader.load_study(built)

    pairs = {row["pair"]: row for row in pairs_of(built)}
    groups = list(study.groups.prefetch_related("stories"))
    assert (study.slug, len(groups)) == ("doors", 12)
    for group in groups:
        pair = pairs[group.code]
        assert pair["part"] == "test"
        assert {story.code for story in group.stories.all()} == {pair["chosen"], pair["rejected"]}
        assert group.premise.startswith("Write about door")
    votes = {p.story.code: p.factors["upvotes"] for p in Provenance.objects.filter(story__study=study)}
    assert {str(votes[pairs[group.code]["chosen"]]) for group in groups} == {
        pairs[group.code]["chosen_upvotes"] for group in groups
    }


def test_json_lines_give_the_same_pairs_and_the_seed_decides(built: Path, tmp_path: Path) -> None:
    path = tmp_path / "stories.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in stories()))

    for seed in (3, 4):
        call_command("build_pairs", str(path), to=tmp_path / str(seed), test_from=BORDER, seed=seed, verbosity=0)

    assert (tmp_path / "3" / "pairs.csv").read_bytes() == (built / "pairs.csv").read_bytes()
    assert (tmp_path / "4" / "pairs.csv").read_bytes() != (built / "pairs.csv").read_bytes()
    card = json.loads((tmp_path / "3" / "card.json").read_text())
    assert card["study"]["pairs"] == card["parts"]["test"]["pairs"]


GOOD = {"prompt": "A door.", "text": "Once.", "upvotes": 12, "date": "2021-03-14"}
CSV = "prompt,text,upvotes,date\nA door.,Once.,12,2021-03-14\n"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("s.csv", CSV + "A door.,Twice.,many,2021\n", "s.csv: row 3, upvotes: “many” is no whole number; write digits"),
        ("s.csv", CSV + "A door.,Twice.,12,soon\n", "s.csv: row 3, date: “soon” is no date; write a date such as"),
        ("s.csv", CSV + "A door.,,12,2021-03-14\n", "s.csv: row 3, text: is missing; fill it, or leave the row out"),
        ("s.csv", CSV + "A door.,Twice.,12\n", "s.csv: row 3: has 3 cells under 4 columns; put a cell that holds a"),
        ("s.csv", "prompt,text,date\n", "s.csv: row 1, upvotes: this column is missing; there must be prompt, text,"),
        ("s.csv", "prompt;text;upvotes;date\n", "the file seems to use semicolons, save it with commas"),
        ("s.csv", "prompt,text,upvotes,date\n", "s.csv: file: holds no stories; add a row for each"),
        ("s.csv", b"prompt,text,upvotes,date\n\xff,b,1,2021-03-14\n", "is not UTF-8; save the file as UTF-8"),
        ("s.jsonl", "{", "s.jsonl: row 1: is not JSON"),
        ("s.jsonl", "[1]\n", "s.jsonl: row 1: must be an object, {…}, not a list"),
        ("s.jsonl", json.dumps(GOOD | {"upvotes": 1.5}), "s.jsonl: row 1, upvotes: “1.5” is no whole number"),
        ("s.jsonl", json.dumps(GOOD | {"date": float("nan")}), "s.jsonl: row 1, date: “nan” is no date"),
        ("s.jsonl", 2 * (json.dumps(GOOD | {"story": "a"}) + "\n"), "row 2, story: “a” names row 1 already; give"),
        ("s.xlsx", "x", "s.xlsx: name: does not end in .csv or .jsonl; save it as one of these"),
        ("s.csv", CSV, "no pair passes the filters (training: stories 0"),
    ],
)
def test_a_bad_file_is_refused_with_its_row_and_leaves_nothing(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())

    with pytest.raises(CommandError) as error:
        call_command("build_pairs", str(tmp_path / name), to=tmp_path / "out", verbosity=0)

    assert message in str(error.value)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_folder_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()

    with pytest.raises(CommandError, match="out is there already; name a new folder"):
        call_command("build_pairs", str(write(tmp_path / "s.csv", [GOOD])), to=tmp_path / "out", verbosity=0)
