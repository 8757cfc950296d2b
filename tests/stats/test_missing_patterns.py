"""With what missing answers go: exact where a few permutations are all, silent by chance, and found where planted."""

from typing import Any

import numpy as np
import pytest

from stats import missing_patterns as patterns
from stats.contrasts import adjust
from stats.missing_patterns import ASPECTS, AnswerCounts, MissingPattern, missing_patterns

N_STUDIES = 200
N_GROUPS, N_STORIES, N_SOURCES, N_ITEMS, N_READ = 12, 4, 4, 5, 4  # of a rater


def readings(**columns: Any) -> AnswerCounts:
    """Of one rater and one group, with unknown sources and places, all ended, unless said."""
    n = len(columns["n_missing"])
    usual = {"n_asked": [1] * n, "rater": [0] * n, "group": [0] * n, "story": range(n), "source": [-1] * n}
    whole = {name: np.array(values, dtype=np.int64) for name, values in (usual | columns).items() if name != "place"}
    place = np.array(columns.get("place", [np.nan] * n), dtype=np.float64)
    return AnswerCounts(**whole, place=place, is_ended=np.ones(n, dtype=np.bool_))


def draw(
    seed: int, *, rate: float = 0.05, n_raters: int = 10, raters_differ: float = 0.0, late: float = 0.0, by: int = 1
) -> AnswerCounts:
    """Each rater reads four of twelve groups in a drawn order, and the four stories of each in a drawn order.

    raters_differ : standard deviation of the logarithm of raters' rates; late : how much its logarithm is higher at the
    end than in the middle; by : how many times as often answers are missing for the first source
    """
    rng = np.random.default_rng(seed)
    n = N_READ * N_STORIES
    groups = np.stack([rng.permutation(N_GROUPS)[:N_READ] for _rater in range(n_raters)])
    story = (N_STORIES * groups[..., None] + rng.permuted(np.tile(np.arange(4), (n_raters, N_READ, 1)), axis=2)).ravel()
    rater, place = np.repeat(np.arange(n_raters), n), np.tile(np.arange(n), n_raters)
    own = np.exp(raters_differ * rng.normal(size=n_raters))[rater] * np.exp(late * (2 * place / (n - 1) - 1))
    share = np.minimum(rate * own * np.where(story % N_SOURCES == 0, by, 1), 0.95)
    return AnswerCounts(
        n_missing=rng.binomial(N_ITEMS, share).astype(np.int64),
        n_asked=np.full(rater.size, N_ITEMS),
        rater=rater,
        group=rater * N_GROUPS + story // N_STORIES,
        story=story,
        source=story % N_SOURCES,
        place=place.astype(np.float64),
        is_ended=np.ones(rater.size, dtype=np.bool_),
    )


def patterns_of(read: AnswerCounts) -> dict[str, MissingPattern]:
    return missing_patterns(read, rng=np.random.default_rng(1))


def rates(**design: float) -> dict[str, float]:
    """In how many percent of studies each aspect has a p below .05, and any one after Holm's correction."""
    counts = dict.fromkeys((*ASPECTS, "any"), 0)
    for seed in range(N_STUDIES):
        ps = {name: pattern.p for name, pattern in patterns_of(draw(seed, **design)).items()}  # type: ignore[arg-type]
        for name, p in ps.items():
            counts[name] += p < 0.05
        counts["any"] += min(p for p in adjust(list(ps.values()), "holm") if p is not None) < 0.05
    return {name: 100 * n / N_STUDIES for name, n in counts.items()}


def test_where_nothing_is_missing_nothing_is_said() -> None:
    assert patterns_of(readings(n_missing=[0, 0, 0], source=[0, 1, 1])) == {}


def test_by_hand_one_of_three_stories() -> None:
    """The missing answer is the first source's in one of three permutations: p is a third; of the other's 1."""
    of_first = patterns_of(readings(n_missing=[1, 0, 0], source=[0, 1, 1]))["source"]
    of_second = patterns_of(readings(n_missing=[0, 1, 0], source=[0, 1, 1]))["source"]

    assert of_first.p == pytest.approx(1 / 3, abs=0.05)
    assert (of_first.label, of_first.share, of_first.others) == (0, 1.0, 0.0)
    assert of_second.p == 1.0
    assert (of_second.label, of_second.share, of_second.others) == (1, 0.5, 0.0)


def test_by_hand_the_last_of_four_places() -> None:
    """First and last are as far from the middle, so p is a half; the middle story of three is in neither half."""
    late = patterns_of(readings(n_missing=[0, 0, 0, 1], place=[1, 2, 3, 4]))["place"]

    assert late.p == pytest.approx(1 / 2, abs=0.05)
    assert (late.label, late.share, late.others) == (1, 0.5, 0.0)
    assert "place" not in patterns_of(readings(n_missing=[0, 1], place=[np.nan, np.nan]))


def test_a_group_that_was_left_is_one_event_and_not_as_many_as_it_has_stories() -> None:
    """Of two groups of one rater one is left, all of whose stories are by one source: that is one case in two."""
    left = readings(n_missing=[1] * 5 + [0] * 5, group=[0] * 5 + [1] * 5, source=[0] * 5 + [1] * 5, place=range(10))

    assert patterns_of(left)["source"].p == 1.0  # whichever is left
    assert patterns_of(left)["place"].p == 1.0


def test_raters_are_compared_by_what_they_ended() -> None:
    read = readings(
        n_missing=[1] * 6 + [0] * 6, rater=[0] * 6 + [1] * 6, group=[0] * 6 + [1] * 6, story=[*range(6)] * 2
    )
    ended = AnswerCounts(**{**vars(read), "is_ended": read.rater == 1})

    assert patterns_of(read)["rater"].p < 0.01
    assert "rater" not in patterns_of(ended)


def test_names_do_not_matter() -> None:
    read = draw(3, by=4)
    renamed = AnswerCounts(
        **{**vars(read), "source": N_SOURCES - 1 - read.source, "story": read.story.max() - read.story}
    )

    results, others = patterns_of(read), patterns_of(renamed)

    assert {name: pattern.p for name, pattern in results.items()} == {name: row.p for name, row in others.items()}
    assert results["source"].label == N_SOURCES - 1 - others["source"].label == 0


def test_many_readings_go_round_and_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    read = draw(5, rate=0.04, late=0.4)
    one_by_one = patterns_of(read)
    monkeypatch.setattr(patterns, "MOST_SORTED", 0)

    for name, pattern in patterns_of(read).items():
        assert pattern.p == pytest.approx(one_by_one[name].p, abs=0.06)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("design", "found"),
    [
        ({}, set()),
        ({"raters_differ": 1.0}, {"rater"}),
        ({"late": 1.0}, {"place"}),
        ({"by": 4}, {"source", "story"}),
    ],
)
def test_of_studies_only_what_was_planted_is_found_more_often_than_in_one_of_twenty(
    design: dict[str, float], found: set[str]
) -> None:
    """Of 200 studies more than 10 % would hold what is false in 5 % once in a thousand times; seeds are fixed."""
    percent = rates(**design)

    assert {name for name in ASPECTS if percent[name] > 10} == found
    assert (percent["any"] > 10) == bool(found)
    assert all(percent[name] > 50 for name in found)
