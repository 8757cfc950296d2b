"""Rankings: Kendall's W on two worked examples, mean ranks and first places by hand."""

import numpy as np
import pytest
from hypothesis import assume, given
from scipy.stats import friedmanchisquare

from stats import rankings
from stats.agreement import Incomputable, TooFewRaters
from stats.arrays import FloatArray
from tests.stats.examples import NAN, repeatable, scores

EXECUTIVES = np.array([[1, 6, 3, 2, 5, 4], [1, 5, 6, 4, 2, 3], [6, 3, 2, 5, 4, 1]], dtype=float)
TIED = np.array(
    [
        [1, 4.5, 2, 4.5, 3, 7.5, 6, 9, 7.5, 10],
        [2.5, 1, 2.5, 4.5, 4.5, 8, 9, 6.5, 10, 6.5],
        [2, 1, 4.5, 4.5, 4.5, 4.5, 8, 8, 8, 10],
    ]
)


def test_kendall_w_of_three_executives_and_six_applicants() -> None:
    w = rankings.kendall_w(EXECUTIVES)

    # Siegel 1956, pp. 229-238: squared deviations 25.5 of at most 157.5.
    assert w.value == pytest.approx(25.5 / 157.5)
    assert round(w.value, 2) == 0.16
    assert (w.n_units, w.n_raters, w.note) == (6, 3, "")


def test_kendall_w_is_corrected_for_ties() -> None:
    # Siegel 1956, pp. 229-238: 591 of 742.5 - 3 x 9.5.
    assert rankings.kendall_w(TIED).value == pytest.approx(591 / 714)
    assert round(rankings.kendall_w(TIED).value, 3) == 0.828


def test_kendall_w_leaves_out_a_rater_with_a_gap_and_says_so() -> None:
    w = rankings.kendall_w(np.vstack([EXECUTIVES, [1, 2, NAN, 3, 4, 5]]))

    assert w.value == rankings.kendall_w(EXECUTIVES).value
    assert w.note == "1 of 4 raters left out, who did not rank every story"


def test_kendall_w_reads_only_the_order() -> None:
    assert rankings.kendall_w(10 * EXECUTIVES**3).value == rankings.kendall_w(EXECUTIVES).value


def test_kendall_w_of_equal_rankings_is_1() -> None:
    assert rankings.kendall_w(np.tile(EXECUTIVES[0], (3, 1))).value == 1


@repeatable
@given(ranks=scores)
def test_kendall_w_is_friedmans_chi_square_rescaled(ranks: FloatArray) -> None:
    assume(len(ranks) > 2)
    assume(not (ranks == ranks[:, :1]).all())

    w = rankings.kendall_w(ranks).value

    chi_square = friedmanchisquare(*ranks.T).statistic
    assert w == pytest.approx(chi_square / (len(ranks) * (ranks.shape[1] - 1)), abs=1e-12)
    assert rankings.kendall_w(ranks[::-1]).value == pytest.approx(w, abs=1e-12)


def test_kendall_w_has_no_value_if_nobody_tells_stories_apart() -> None:
    with pytest.raises(Incomputable, match="0/0"):
        rankings.kendall_w(np.ones((3, 4)))


def test_kendall_w_needs_two_raters() -> None:
    with pytest.raises(TooFewRaters, match="Fewer than two raters"):
        rankings.kendall_w(EXECUTIVES[:1])


def test_mean_ranks_pass_over_gaps() -> None:
    assert rankings.mean_ranks([[1, 2, NAN], [3, 2, NAN]]) == pytest.approx([2, 2, NAN], nan_ok=True)


def test_first_places_divide_a_shared_lead() -> None:
    ranks = [[1, 2, 3], [1.5, 1.5, 3], [NAN, NAN, NAN], [NAN, 2, 1], [1, 2, 3]]

    assert rankings.first_places(ranks) == pytest.approx([2.5 / 4, 0.5 / 4, 1 / 4])


def test_first_places_of_no_rankings_are_incomputable() -> None:
    with pytest.raises(Incomputable, match="no rankings"):
        rankings.first_places([[NAN, NAN]])


@pytest.mark.parametrize(("n_raters", "n_stories"), [(2, 4), (3, 4), (5, 6)])
def test_the_mean_spearman_of_w_is_that_of_all_pairs_of_raters(n_raters: int, n_stories: int) -> None:
    rng = np.random.default_rng(1)
    ranks = np.array([rng.permutation(n_stories) + 1.0 for _ in range(n_raters)])

    rho = rankings.mean_spearman(float(rankings.kendall_w(ranks)), n_raters)

    pairs = np.corrcoef(ranks)[np.triu_indices(n_raters, 1)]
    assert rho == pytest.approx(pairs.mean())


def test_w_of_raters_who_order_at_random_is_one_in_their_number() -> None:
    rng = np.random.default_rng(2)
    ws = [float(rankings.kendall_w([rng.permutation(6) for _ in range(3)])) for _ in range(400)]

    assert np.mean(ws) == pytest.approx(1 / 3, abs=0.03)
    assert rankings.mean_spearman(1 / 3, 3) == pytest.approx(0)
