"""A closed study whose figures can be counted by hand."""

from functools import partial

import pytest

from stats import agreement
from studies.models import Study
from tests.replay import replayed
from tests.reports import given
from tests.reports.packed import pack

__all__ = ["pack"]

# Stories p1s1, p1s2, p2s1, p2s2; the first of each plot by a person, the other by a model.
FOUR = {"E01": "yn--", "E02": "yn--", "E03": "--yy", "E04": "--ny"}


@pytest.fixture
@replayed
def study() -> Study:
    made = given.closed_study()
    given.verdicts(made, FOUR)
    return made


@pytest.fixture
def few_shuffles(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chance floor from fifty shuffles, for tests of something else: a thousand are most of a replication."""
    monkeypatch.setattr(agreement, "chance_floor", partial(agreement.chance_floor, n_shuffles=50))
