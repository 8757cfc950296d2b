"""Over simulated studies: judges without a bias are said to have one in no more than 5 %, and planted ones come out at
their size, also where people themselves prefer their family's stories, or long ones."""

from typing import Any

import pytest

from tools.intervals.planted_judges import JUDGES, PANELS, PREFERENCE, SIZES, tally

pytestmark = pytest.mark.slow

N_STUDIES = 60
FAIR = [(kind, name) for kind, judges in JUDGES.items() for name in judges if not name.startswith("planted")]
PLANTED = [(kind, name) for kind, judges in JUDGES.items() for name in judges if name.startswith("planted")]


@pytest.mark.parametrize("trait", ["family", "length"])
@pytest.mark.parametrize(("kind", "name"), FAIR)
def test_a_judge_without_a_bias_shows_none(kind: str, name: str, trait: str) -> None:
    row = tally(name, kind=kind, trait=trait, panel=PANELS[0], preference=PREFERENCE, n_studies=N_STUDIES)

    # Of 60 studies 3 are expected at 5 %, and 9 come of chance in three of a thousand.
    assert row.claimed <= 8 / N_STUDIES
    if name.startswith("always"):
        assert (row.size, row.claimed, row.at_equal_ratings) == (0, 0, 0)
    else:
        assert row.size == pytest.approx(0, abs=0.1)
        assert row.covered >= 51 / 60


@pytest.mark.parametrize("preference", [0.0, PREFERENCE])
@pytest.mark.parametrize(("kind", "name"), PLANTED)
def test_a_planted_preference_for_its_own_family_comes_out_at_its_size(kind: str, name: str, preference: float) -> None:
    row = tally(name, kind=kind, trait="family", panel=PANELS[1], preference=preference, n_studies=N_STUDIES)

    assert row.size == pytest.approx(SIZES[kind], abs=0.2 * SIZES[kind])
    assert row.covered >= 51 / 60
    assert row.claimed > 0.1


def test_a_planted_slope_on_length_comes_out_at_its_size() -> None:
    options: dict[str, Any] = {"panel": PANELS[1], "preference": PREFERENCE, "n_studies": N_STUDIES}
    row = tally("planted, .5", kind="scales", trait="length", **options)

    assert row.size == pytest.approx(SIZES["scales"], abs=0.1)
    assert row.claimed > 0.2


def test_holding_observed_ratings_equal_alone_would_accuse_a_fair_judge() -> None:
    row = tally("fair", kind="scales", trait="family", panel=PANELS[0], preference=PREFERENCE, n_studies=N_STUDIES)

    assert row.at_equal_ratings > 0.2
    assert row.claimed < 0.1
