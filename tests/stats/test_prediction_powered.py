"""People's means, sharpened by a judge: as the authors' package computes them, and honest about how sure they are."""

import math

import numpy as np
import pytest

from stats import prediction_powered
from stats.reasons import Incomputable
from tests.stats.examples import NAN
from tools.intervals import prediction_powered as coverage

# (n, N, noise, slope of the judge on the truth): value, low and high of ppi_py 0.2.3, ppi_mean_pointestimate and
# ppi_mean_ci with alpha .05.
BY_THE_AUTHORS = {
    (36, 60, 0.2, 0.8): (3.01535477613789, 2.867312236455027, 3.1633973158207525),
    (100, 400, 1.0, 0.8): (3.007599102523823, 2.8923053611355503, 3.122892843912096),
    (30, 30, 0.0, 0.8): (2.9980951634233683, 2.8205477796310987, 3.175642547215638),
    (30, 300, 0.0, 0.8): (2.9993000000000003, 2.9178794257978145, 3.080720574202186),  # the weight stops at 1
    (40, 200, 0.2, -0.8): (3.0172499999999998, 2.8003837408920447, 3.234116259107955),  # and at 0
}


def source_of(n: int, n_judged: int, noise: float, slope: float) -> prediction_powered.Ratings:
    i = np.arange(n + n_judged)
    truth = np.round(3 + np.sin(1.7 * i), 2)
    judge = np.round(2.5 + slope * np.sin(1.7 * i) + noise * np.sin(5.3 * i), 2)
    return prediction_powered.as_source(truth[:n], judge[:n], judge[n:])


@pytest.mark.parametrize("case", BY_THE_AUTHORS)
def test_from_thirty_stories_on_it_is_what_the_authors_package_gives(case: tuple[int, int, float, float]) -> None:
    (found,) = prediction_powered.estimate_means([source_of(*case)])

    assert (found.together.value, found.together.low, found.together.high) == pytest.approx(BY_THE_AUTHORS[case])
    assert {(30, 300, 0.0, 0.8): found.weight == 1, (40, 200, 0.2, -0.8): found.weight == 0}.get(case, True)


def test_few_stories_take_the_weight_that_all_sources_have_together() -> None:
    first = prediction_powered.as_source([1, 2, 3], [1, 2, 3], [2, 4])
    second = prediction_powered.as_source([4, 4], [1, 3], [1, 3])

    found = prediction_powered.estimate_means([first, second])

    # Within sources: covariance (2 + 0) / (2 + 1), variance (5.2 + 4) / (4 + 3).
    ratio = (2 / 3) / (9.2 / 7)
    assert [mean.weight for mean in found] == pytest.approx([ratio / (1 + 3 / 2), ratio / (1 + 2 / 2)])
    assert found[0].together.value == pytest.approx(2 + found[0].weight * (3 - 2))
    variance = (1 - found[0].weight) ** 2 / 3 + found[0].weight ** 2 * 2 / 2
    t = 4.302652729911275  # 97.5 % of t with 2 degrees of freedom
    assert found[0].together.high - found[0].together.value == pytest.approx(t * math.sqrt(variance))
    assert found[0].people.high - found[0].people.value == pytest.approx(t * math.sqrt(1 / 3))


def test_a_judge_who_always_says_the_same_adds_nothing() -> None:
    (found,) = prediction_powered.estimate_means([prediction_powered.as_source([1, 2, 4], [3, 3, 3], [3, 3, 3, 3])])

    assert (found.weight, found.width_gained) == (0, 0)
    assert found.together == found.people


@pytest.mark.slow
@pytest.mark.parametrize("n", [12, 36, 100])
@pytest.mark.parametrize("judge", ["good", "useless", "biased"])
def test_95_of_100_intervals_hold_the_mean(n: int, judge: str) -> None:
    """Coverage over 2,000 simulated studies of four sources; docs/intervals.md has the numbers."""
    assert 0.93 <= coverage.simulate(n, judge, n_studies=2000).together <= 0.97


def test_what_cannot_be_estimated_says_why() -> None:
    with pytest.raises(Incomputable) as refusal:
        prediction_powered.as_source([1], [1], [1, 2])
    assert refusal.value.code == "fewer_than_two_rated_stories"
    with pytest.raises(Incomputable) as refusal:
        prediction_powered.as_source([1, 2], [1, 2], [])
    assert refusal.value.code == "no_story_for_the_judge_alone"
    with pytest.raises(ValueError, match="set beforehand"):
        prediction_powered.as_source([1, 2], [1, NAN], [1, 2])
    with pytest.raises(ValueError, match="the same stories"):
        prediction_powered.as_source([1, 2], [1], [1, 2])


# Two stories of the source that people read, of one cluster, one of another, and two that only the judge read.
PEOPLE = np.array([2, 4, 5, np.nan, np.nan, 1])
JUDGE = np.array([1, 3, 4, 2, 6, 5.0])
CLUSTERS = np.array([0, 0, 1, 2, 3, 4])
IS_OF_SOURCE = np.array([True, True, True, True, True, False])
DRAWN = ["yes", "yes", "yes", "no", "no", ""]


def test_stories_of_a_source_that_share_a_cluster_are_one() -> None:
    source = prediction_powered.read_source(PEOPLE, JUDGE, CLUSTERS, IS_OF_SOURCE, DRAWN)

    assert [source.people.tolist(), source.judge.tolist(), source.judge_alone.tolist()] == [[3, 5], [2, 4], [2, 6]]


@pytest.mark.parametrize(
    ("drawn", "reason"),
    [(["yes", "yes", "", "no", "no", ""], "not_drawn_at_random"), (["yes", "no", *DRAWN[2:]], "not_read_as_drawn")],
)
def test_people_must_have_read_the_stories_that_were_drawn_for_them(drawn: list[str], reason: str) -> None:
    with pytest.raises(Incomputable) as error:
        prediction_powered.read_source(PEOPLE, JUDGE, CLUSTERS, IS_OF_SOURCE, drawn)

    assert error.value.code == reason


def drawn(rng: np.random.Generator, n: int, n_alone: int, *, noise: float) -> prediction_powered.Ratings:
    """A source of which the judge follows people's means with this much noise."""
    people = rng.normal(60, 20, n + n_alone)
    judge = people + rng.normal(5, noise, n + n_alone)
    return prediction_powered.as_source(people[:n], judge[:n], judge[n:])


def plan(source: prediction_powered.Ratings, half_width: float) -> prediction_powered.NeededStories | None:
    return prediction_powered.plan_reading([source], half_width)[0]


@pytest.mark.parametrize(("half_width", "noise"), [(4.0, 10.0), (3.0, 20.0), (10.0, 10.0), (4.0, 1000.0)])
def test_with_as_many_stories_as_planned_the_interval_is_as_wide_as_wanted(half_width: float, noise: float) -> None:
    rng, n_all = np.random.default_rng(5), 1000
    needed = plan(drawn(rng, 400, n_all - 400, noise=noise), half_width)
    assert needed is not None
    assert needed.together <= needed.alone

    for n, name in ((needed.alone, "people"), (needed.together, "together")):
        sources = [drawn(rng, n, n_all - n, noise=noise) for _ in range(100)]
        means = [getattr(prediction_powered.estimate_means([source])[0], name) for source in sources]
        widths = [(mean.high - mean.low) / 2 for mean in means]
        assert np.mean(widths) == pytest.approx(half_width, rel=0.1)
    if noise == 10:
        assert needed.together < 0.5 * needed.alone
    if noise == 1000:
        assert needed.together >= 0.97 * needed.alone


def test_nothing_is_planned_from_few_stories_or_from_stories_that_are_alike() -> None:
    rng = np.random.default_rng(5)
    alike = prediction_powered.as_source([50.0] * 20, rng.normal(size=20), rng.normal(size=20))

    assert plan(drawn(rng, 9, 30, noise=10), 5) is None
    assert plan(alike, 5) is None


def test_where_the_judges_stories_do_not_do_it_saves_none() -> None:
    needed = plan(drawn(np.random.default_rng(5), 30, 30, noise=1), 1)

    assert needed is not None
    assert needed.together == needed.alone > 60


def test_few_stories_are_planned_with_the_weight_of_all_sources_and_say_how_far_that_can_be_off() -> None:
    rng = np.random.default_rng(5)
    few, against = drawn(rng, 12, 400, noise=5), drawn(rng, 29, 400, noise=5)
    against = prediction_powered.as_source(against.people, -against.judge, -against.judge_alone)

    alone, both = plan(few, 5), prediction_powered.plan_reading([few, against], 5)[0]

    assert alone is not None
    assert both is not None
    assert alone.together < alone.alone
    assert both.together == both.alone == alone.alone, "over both sources the judge does not follow people"
    low, high = 11 / 21.920049, 11 / 3.815748  # of chi-square with 11 degrees of freedom, 97.5 % and 2.5 %
    variance = np.var(few.people, ddof=1)
    assert both.alone_ends[1] == math.ceil(high * variance * (1.959964 / 5) ** 2)
    assert both.alone_ends[0] < both.alone < both.alone_ends[1]
    assert both.alone_ends[0] >= low * variance * (1.959964 / 5) ** 2
