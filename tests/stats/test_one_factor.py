"""One factor and McDonald's omega: what lavaan says, what is refused, and that resamples and shuffles are as said."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from stats import item_analysis
from stats.arrays import FloatArray
from stats.one_factor import fit_one_factor, omega_floor, omegas
from stats.reasons import Incomputable

pytestmark = pytest.mark.embedded

FOLDER = Path(__file__).parent / "fixtures" / "one_factor"
R = json.loads((FOLDER / "one_factor.json").read_text(encoding="utf-8"))


def read(name: str) -> FloatArray:
    rows = np.loadtxt(FOLDER / f"{name}.csv", delimiter=",", skiprows=1)
    return np.asarray(np.cov(rows.T), dtype=np.float64)


def simulated(
    loadings: list[float], *, n_raters: int = 3, n_stories: int = 24, seed: int = 0
) -> item_analysis.ItemMaterial:
    """Readings of stories, each with one factor behind its items, whose own deviations are .7."""
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(n_raters, n_stories))
    noise = 0.7 * rng.normal(size=(len(loadings), n_raters, n_stories))
    return item_analysis.read_rows(np.array(loadings)[:, np.newaxis, np.newaxis] * factor + noise, np.arange(n_stories))


@pytest.mark.parametrize("name", R)
def test_numbers_are_those_of_lavaan(name: str) -> None:
    factor = fit_one_factor(read(name))

    assert factor.omega == pytest.approx(R[name]["omega"], abs=1e-6)
    assert factor.loadings == pytest.approx(np.array(R[name]["loadings"]), abs=1e-5)
    assert factor.unique == pytest.approx(np.array(R[name]["unique"]), abs=1e-5)


@pytest.mark.slow
@pytest.mark.r
def test_the_kept_numbers_are_those_that_r_gives() -> None:
    loads = shutil.which("Rscript") and not (
        subprocess.run(["Rscript", "-e", "library(lavaan)"], check=False, capture_output=True).returncode
    )
    if not loads:
        pytest.skip("R with lavaan is not there")
    script = ["Rscript", FOLDER / "one_factor.R", FOLDER]
    printed = subprocess.run(script, check=True, capture_output=True, text=True).stdout

    for name, numbers_by_key in json.loads(printed).items():
        for key, numbers in numbers_by_key.items():
            assert numbers == pytest.approx(R[name][key], rel=1e-4, abs=1e-5), (name, key)


def test_of_items_with_one_loading_omega_is_cronbachs_alpha_and_of_other_units_the_same() -> None:
    parallel = 0.4 * np.ones((5, 5)) + 0.6 * np.eye(5)

    assert fit_one_factor(parallel).omega == pytest.approx(float(item_analysis.cronbach_alpha(parallel)), abs=1e-6)
    assert fit_one_factor(100 * parallel).omega == pytest.approx(fit_one_factor(parallel).omega, abs=1e-9)


@pytest.mark.parametrize(
    ("covariance", "sentence"),
    [
        ([[1, 0.5], [0.5, 1]], "three items or more"),
        ([[1, 0.7, 0.7], [0.7, 1, 0.2], [0.7, 0.2, 1]], "Heywood"),
        ([[1, 1, 0.5], [1, 1, 0.5], [0.5, 0.5, 1]], "exactly what others say"),
        ([[1, 0, 0.5], [0, 0, 0], [0.5, 0, 1]], "are the same"),
    ],
)
def test_what_no_factor_can_be_fitted_to_is_refused(covariance: list[list[float]], sentence: str) -> None:
    with pytest.raises(Incomputable, match=sentence):
        fit_one_factor(np.array(covariance, dtype=np.float64))


def test_each_resample_has_the_omega_of_its_own_factor() -> None:
    material = simulated([0.9, 0.8, 0.7, 0.6])
    weights = np.random.default_rng(1).multinomial(24, np.ones(24) / 24, size=20).astype(float)
    covariances = item_analysis.covariance_resamples(material, weights)

    values = omegas(covariances, fit_one_factor(item_analysis.covariance_of(material)))

    assert values == pytest.approx([fit_one_factor(covariance).omega for covariance in covariances], abs=1e-4)


def test_the_floor_is_what_items_without_a_factor_reach() -> None:
    rng = np.random.default_rng(3)
    floor = omega_floor(simulated([0.9, 0.8, 0.7, 0.6]), rng=np.random.default_rng(4))
    of_noise = [
        omegas(item_analysis.covariance_of(material)[np.newaxis], fit_one_factor(read("five")[:4, :4]))[0]
        for material in (simulated([0.0] * 4, seed=int(seed)) for seed in rng.integers(0, 10**6, 200))
    ]

    assert floor.mean == pytest.approx(np.mean(of_noise), abs=0.05)
    assert floor.upper == pytest.approx(np.percentile(of_noise, 97.5), abs=0.08)
