"""Generated files in the shape of the PDS release: ratings at random, and ratings that add up to what was printed."""

import csv
import random
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

from tests.reports.pds_by_hand import COLUMN_BY_ITEM, COMPONENTS, weighted_fleiss

PARTICIPANTS = ("2", "3", "4", "6", "7")
HEADER = [
    "participant_id",
    "study_id",
    *COLUMN_BY_ITEM.values(),
    "story_id",
    "premise_id",
    "model_short",
    "strategy",
]

# Stories, and for each item the sum and the sum of squares of their five ratings each, by author: of 97 stories.
SUMS_97 = {
    "GPT-4": (18, [(350, 1470), (331, 1353), (355, 1503), (318, 1238), (342, 1408), (352, 1528)]),
    "Human-Advanced": (4, [(72, 282), (59, 207), (78, 328), (73, 291), (59, 197), (84, 372)]),
    "Human-Intermediate": (3, [(53, 205), (44, 150), (57, 233), (49, 179), (45, 159), (66, 304)]),
    "Human-Novice": (3, [(41, 133), (31, 83), (49, 187), (40, 128), (33, 97), (59, 257)]),
    "Llama-2-13B": (18, [(266, 928), (246, 806), (226, 722), (228, 736), (219, 645), (216, 740)]),
    "Llama-2-70B": (18, [(278, 1000), (269, 939), (271, 983), (265, 921), (246, 818), (242, 868)]),
    "Llama-2-7B": (18, [(264, 908), (238, 776), (250, 840), (237, 773), (222, 698), (260, 968)]),
    "Vicuna-33B": (15, [(212, 736), (203, 695), (201, 707), (195, 651), (195, 627), (175, 585)]),
}
# And of the 100 whose means and deviations Table 3 prints.
SUMS_100 = SUMS_97 | {
    "Llama-2-7B": (19, [(277, 949), (249, 807), (263, 879), (251, 817), (236, 746), (273, 1015)]),
    "Vicuna-33B": (17, [(235, 807), (220, 736), (222, 774), (220, 738), (217, 701), (207, 711)]),
}
WEIGHTED_FLEISS_97 = dict(zip(COMPONENTS, [0.71, 0.74, 0.70, 0.71, 0.74], strict=True))
WEIGHTED_FLEISS_100 = WEIGHTED_FLEISS_97 | {"empathy": 0.75, "engagement": 0.71}

Sums = dict[str, tuple[int, list[tuple[int, int]]]]


def at_random(path: Path, *, seed: int = 5, n_by_author: dict[str, int] | None = None) -> Path:
    """A file of ratings that lean on the story a little, with every participant on every story but the last two."""
    rng = random.Random(seed)
    authors = n_by_author or {"GPT-4": 7, "Llama-2-7B": 6, "Human-Novice": 3, "Human-Advanced": 4}
    stories = [author for author, n in authors.items() for _ in range(n)]
    lean = [[rng.choice((-1, 0, 0, 1)) for _ in COLUMN_BY_ITEM] for _ in stories]
    rows = [
        (who, story, author, [min(5, max(1, rng.randint(1, 5) + each)) for each in lean[story]])
        for story, author in enumerate(stories)
        for who in (PARTICIPANTS if story < len(stories) - 2 else PARTICIPANTS[:3])
    ]
    return write(path, rows)


def as_published(path: Path, sums: Sums, coefficients: dict[str, float], *, seed: int = 5) -> Path:
    """A file whose authors' ratings have these sums, and whose items have these coefficients to three decimals.

    Table 3, Figure 9 and the authorship figures depend on the sums alone; Table 1 on who gave which rating to what.
    """
    rng = random.Random(seed)
    columns = []
    for place, item in enumerate(COLUMN_BY_ITEM):
        parts = [list(_ratings(5 * n, *of_items[place])) for n, of_items in sums.values()]
        for part in parts:
            rng.shuffle(part)
        ratings = [rating for part in parts for rating in part]
        columns.append(
            _exchanged(ratings, [len(p) for p in parts], coefficients[item], rng) if item in coefficients else ratings
        )
    authors = [author for author, (n, _) in sums.items() for _ in range(n)]
    return write(
        path,
        [
            (who, story, author, [column[5 * story + place] for column in columns])
            for story, author in enumerate(authors)
            for place, who in enumerate(PARTICIPANTS)
        ],
    )


def write(path: Path, rows: list[tuple[str, int, str, list[int]]]) -> Path:
    """The file, with rows of participant, number of the story, author and scores."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        for who, story, author, scores in rows:
            is_human = author.startswith("Human-")
            name = f"j{story}xq" if is_human else str(story)
            strategy = "" if is_human else ("plan_write", "writer_profile")[story % 2]
            writer.writerow([who, story, *scores, name, story % 15, author, strategy])
    return path


def _ratings(n: int, total: int, squares: int) -> Iterator[int]:
    """n ratings from 1 to 5 with that sum and sum of squares; of several ways the one with the most 5s and then 4s."""
    for n_5 in range(n, -1, -1):
        for n_4 in range(n - n_5, -1, -1):
            rest, s, q = n - n_5 - n_4, total - 5 * n_5 - 4 * n_4, squares - 25 * n_5 - 16 * n_4
            twice_n_3 = (q - rest) - 3 * (s - rest)
            n_3, n_2 = twice_n_3 // 2, (s - rest) - twice_n_3
            if twice_n_3 % 2 == 0 and min(n_3, n_2, rest - n_3 - n_2) >= 0:
                yield from [5] * n_5 + [4] * n_4 + [3] * n_3 + [2] * n_2 + [1] * (rest - n_3 - n_2)
                return
    raise ValueError(f"No {n} ratings have the sum {total} and the sum of squares {squares}.")


def _exchanged(ratings: list[int], sizes: list[int], wanted: float, rng: random.Random) -> list[int]:
    """The ratings with those of one author exchanged among the author's stories until the coefficient is as wanted.

    An exchange leaves chance agreement as it is, so the coefficient moves with the agreement within the two stories.
    """
    n = len(ratings) // 5
    now = weighted_fleiss([ratings[5 * i : 5 * i + 5] for i in range(n)])
    step = 1 / n / (1 - sum((ratings.count(value) / len(ratings)) ** 2 for value in range(1, 6)))
    places = [(sum(sizes[:part]), size) for part, size in enumerate(sizes)]
    while abs(now - wanted) > 0.0005:
        start, size = rng.choices(places, weights=sizes)[0]
        one, other = start + rng.randrange(size), start + rng.randrange(size)
        before = _agreement(ratings, one) + _agreement(ratings, other)
        ratings[one], ratings[other] = ratings[other], ratings[one]
        then = now + step * (_agreement(ratings, one) + _agreement(ratings, other) - before)
        if one // 5 != other // 5 and abs(then - wanted) <= abs(now - wanted):
            now = then
        else:
            ratings[one], ratings[other] = ratings[other], ratings[one]
    return ratings


def _agreement(ratings: list[int], place: int) -> float:
    """The mean weight of the pairs of ratings of the story that has this rating."""
    story = ratings[place // 5 * 5 : place // 5 * 5 + 5]
    return sum((1.0, 0.9, 0.7, 0.4, 0.0)[abs(a - b)] for a, b in combinations(story, 2)) / 10
