"""Ideas as a panel rated them."""

import numpy as np

from reports.dataset.ideas import mean_ratings


def test_ideas_that_were_rated_alike_are_level_however_their_sums_are_rounded() -> None:
    first, second = [0.1, 0.2, 0.3], [0.3, 0.3, 0.0]
    assert np.mean(first) != np.mean(second)

    level = mean_ratings(np.array([first, second]).T)

    assert level[0] == level[1] == 0.2


def test_an_idea_that_nobody_rated_has_no_mean() -> None:
    assert np.isnan(mean_ratings(np.array([[np.nan, 2.0], [np.nan, 4.0]]))).tolist() == [True, False]
