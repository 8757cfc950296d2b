"""Published worked examples, and ratings as hypothesis draws them."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

NAN = np.nan

# The same examples every time, so that a failure can be had again; no deadline, since the first call imports libraries.
repeatable = settings(deadline=None, derandomize=True, max_examples=60)

# Krippendorff 2011, Computing Krippendorff's Alpha-Reliability: sections A, B, and C with D.
KRIPPENDORFF_A = np.array([[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]], dtype=float)
KRIPPENDORFF_B = np.array([[1, 1, 2, 2, 4, 3, 3, 3, 5, 4, 4, 1], [2, 1, 2, 2, 2, 3, 3, 3, 5, 4, 4, 4]], dtype=float)
KRIPPENDORFF_C = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
)

# Fleiss 1971, Psychological Bulletin 76(5), table 1: 30 patients, six diagnoses each.
FLEISS_1971 = np.array(
    [
        *([4, 4, 4, 4, 4, 4], [2, 2, 2, 5, 5, 5], [2, 3, 3, 3, 3, 5], [5, 5, 5, 5, 5, 5], [2, 2, 2, 4, 4, 4]),
        *([1, 1, 3, 3, 3, 3], [3, 3, 3, 3, 5, 5], [1, 1, 3, 3, 3, 4], [1, 1, 4, 4, 4, 4], [5, 5, 5, 5, 5, 5]),
        *([1, 4, 4, 4, 4, 4], [1, 2, 4, 4, 4, 4], [2, 2, 2, 3, 3, 3], [1, 4, 4, 4, 4, 4], [2, 2, 4, 4, 4, 5]),
        *([3, 3, 3, 3, 3, 5], [1, 1, 1, 4, 5, 5], [1, 1, 1, 1, 1, 2], [2, 2, 4, 4, 4, 4], [1, 3, 3, 5, 5, 5]),
        *([5, 5, 5, 5, 5, 5], [2, 4, 4, 4, 4, 4], [2, 2, 4, 5, 5, 5], [1, 1, 4, 4, 4, 4], [1, 4, 4, 4, 4, 5]),
        *([2, 2, 2, 2, 2, 4], [1, 1, 1, 1, 5, 5], [2, 2, 4, 4, 4, 4], [1, 3, 3, 3, 3, 3], [5, 5, 5, 5, 5, 5]),
    ],
    dtype=float,
).T

# Wikipedia, "Fleiss' kappa": ten subjects, fourteen raters, how many gave each of five categories.
WIKIPEDIA_COUNTS = [
    *([0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1]),
    *([7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7]),
]
WIKIPEDIA = np.array([np.repeat(np.arange(5), row) for row in WIKIPEDIA_COUNTS], dtype=float).T

shapes = st.tuples(st.integers(2, 5), st.integers(4, 15))
scores = arrays(np.float64, shapes, elements=st.sampled_from([1.0, 2.0, 3.0, 4.0, 5.0]))
scores_with_gaps = arrays(np.float64, shapes, elements=st.sampled_from([1.0, 2.0, 3.0, 4.0, 5.0, NAN]))
