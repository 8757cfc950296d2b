"""How a judge's answers to what it reads again vary, as computed by hand."""

import numpy as np
import pytest

from stats import judge_biases
from stats.reasons import Incomputable


def test_repeats_vary_as_computed_by_hand() -> None:
    # Of 1 and 2, and of 4 and 4; what was read once has no variance.
    variances = judge_biases.repeat_variances(np.array([[1, 4, 2], [2, 4, np.nan]]))

    assert variances[:2].tolist() == [0.5, 0]
    assert np.isnan(variances[2])
    with pytest.raises(Incomputable):
        judge_biases.repeat_variances([[1.0, 2.0]])
