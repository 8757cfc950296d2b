"""Expected half widths: by hand, by a published formula, and by simulation."""

import numpy as np
import pytest

from stats import agreement, expected_widths


def test_a_share_of_one_test_over_five_stories_read_by_three_by_hand() -> None:
    # 1.96 · √((.10 + .15 / 3) / 5) = 1.96 · √.03
    assert expected_widths.of_mean([5, 20], 3, between=0.10, within=0.15) == pytest.approx([0.33948, 0.16974], abs=1e-5)
    assert expected_widths.of_difference(5, 3, between=0.10, within=0.15) == pytest.approx(0.48009, abs=1e-5)


def test_more_stories_help_more_than_more_raters() -> None:
    once = expected_widths.of_mean(5, 3, between=0.10, within=0.15)

    assert expected_widths.of_mean(10, 3, between=0.10, within=0.15) == pytest.approx(once / np.sqrt(2))
    assert expected_widths.of_mean(5, 10**6, between=0.10, within=0.15) > 0.8 * once


@pytest.mark.parametrize("share", [0.5, 0.3])
@pytest.mark.parametrize("kappa", [0.2, 0.4, 0.7])
def test_of_two_raters_kappa_is_as_exact_as_bloch_and_kraemer_say(kappa: float, share: float) -> None:
    # Biometrics 45, 1989: the variance of the maximum-likelihood estimator under the common correlation model.
    variance = (1 - kappa) / 80 * ((1 - kappa) * (1 - 2 * kappa) + kappa * (2 - kappa) / (2 * share * (1 - share)))

    assert expected_widths.of_kappa(80, 2, kappa=kappa, share=share) == pytest.approx(1.95996 * variance**0.5, rel=1e-5)


@pytest.mark.parametrize(("k", "share"), [(3, 0.5), (5, 0.3)])
def test_a_simulation_of_kappas_spreads_as_expected(k: int, share: float) -> None:
    rng = np.random.default_rng(1)
    total = 1 / 0.4 - 1
    kappas = []
    for _ in range(600):
        chances = rng.beta(share * total, (1 - share) * total, 120)
        kappas.append(agreement.fleiss_kappa((rng.random((k, 120)) < chances).astype(float)).value)

    expected = expected_widths.of_kappa(120, k, kappa=0.4, share=share)
    assert expected_widths.Z * np.std(kappas) == pytest.approx(expected, rel=0.08)


def test_a_simulation_of_means_and_differences_spreads_as_expected() -> None:
    rng = np.random.default_rng(2)
    truth = rng.normal(0, 0.3, (4000, 2, 8))
    means = (truth + rng.normal(0, 0.5, (4, 4000, 2, 8)).mean(axis=0)).mean(axis=2)

    widths = expected_widths.Z * np.array([np.std(means[:, 0]), np.std(means[:, 0] - means[:, 1])])
    assert widths[0] == pytest.approx(expected_widths.of_mean(8, 4, between=0.09, within=0.25), rel=0.05)
    assert widths[1] == pytest.approx(expected_widths.of_difference(8, 4, between=0.09, within=0.25), rel=0.05)
