"""The cumulative-link and the logistic model: what ordinal::clmm and lme4::glmer say, and what has no limit."""

import csv
import json
import shutil
import subprocess
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from stats.cumulative_link import CumulativeLinkModel, LogOdds, _fixed_columns, _Laplace
from stats.reasons import Incomputable, value_or_reason
from stats.source_model import CrossedAnswers, SourceDesign
from tests.stats.test_source_model import answers
from tests.stats.test_source_model_designs import random_answers

pytestmark = pytest.mark.embedded

FOLDER = Path(__file__).parent / "fixtures" / "cumulative_link"
R = json.loads((FOLDER / "ordinal.json").read_text(encoding="utf-8"))


def read(name: str) -> CrossedAnswers:
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    columns = [np.array([float(row[key]) for row in rows]) for key in rows[0]]
    return answers(*columns)


@pytest.mark.parametrize("name", R)
def test_numbers_are_those_of_clmm_and_of_glmer(name: str) -> None:
    expected, model = R[name], CumulativeLinkModel(read(name))
    contrasts = [model.contrast(source, 0) for source in range(1, len(expected["differences"]) + 1)]

    assert [contrast.value for contrast in contrasts] == pytest.approx(expected["differences"], abs=2e-5)
    assert [contrast.error for contrast in contrasts] == pytest.approx(expected["errors"], rel=1e-4)
    assert [model.deviations[part] for part in ("rater", "story")] == pytest.approx(expected["deviations"], abs=2e-4)
    assert model.log_likelihood == pytest.approx(expected["log_likelihood"][0], abs=1e-5)


@pytest.mark.slow
@pytest.mark.r
def test_the_kept_numbers_are_those_that_r_gives() -> None:
    loads = shutil.which("Rscript") and not (
        subprocess.run(
            ["Rscript", "-e", "library(ordinal); library(lme4)"], check=False, capture_output=True
        ).returncode
    )
    if not loads:
        pytest.skip("R with ordinal and lme4 is not there")
    script = ["Rscript", FOLDER / "ordinal.R", FOLDER]
    printed = subprocess.run(script, check=True, capture_output=True, text=True).stdout

    for name, numbers_by_key in json.loads(printed).items():
        for key, numbers in numbers_by_key.items():
            assert numbers == pytest.approx(R[name][key], rel=1e-4, abs=1e-5), (name, key)


def test_p_is_that_of_the_normal_distribution() -> None:
    assert LogOdds(1.959964, 1.0).p == pytest.approx(0.05, abs=1e-6)
    assert LogOdds(-0.6744898, 1.0).p == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("name", R)
def test_the_gradient_is_that_of_the_likelihood(name: str) -> None:
    made = read(name)
    laplace = _Laplace(made, _fixed_columns(SourceDesign(made)))
    place = laplace.start + np.random.default_rng(0).normal(0, 0.2, len(laplace.start))

    steps = 1e-5 * np.eye(len(place))
    differences = [laplace.at(place + step)[0] - laplace.at(place - step)[0] for step in steps]

    assert laplace.at(place)[1] == pytest.approx(np.array(differences) / 2e-5, abs=1e-5)


def test_of_two_answers_the_model_is_the_same_whatever_they_are_called_and_turned_its_sign_turns() -> None:
    made = read("yes_no")
    as_shares = CumulativeLinkModel(replace(made, values=made.values / 100))
    turned = CumulativeLinkModel(replace(made, values=100 - made.values))
    model = CumulativeLinkModel(made)

    assert as_shares.contrast(2, 0) == model.contrast(2, 0)
    assert turned.contrast(2, 0).value == pytest.approx(-model.contrast(2, 0).value, abs=1e-6)
    assert model.contrast(0, 2).value == -model.contrast(2, 0).value


def test_a_premise_on_which_all_say_yes_says_nothing_of_sources() -> None:
    made = read("yes_no")
    source, rater = (labels.ravel() for labels in np.indices((3, 6)))
    with_one = answers(
        np.concatenate([made.values, np.full(18, 100.0)]),
        np.concatenate([made.source, source]),
        np.concatenate([made.block, np.full(18, 99)]),
        np.concatenate([made.rater, rater]),
        np.concatenate([made.story, 1000 + source]),
    )

    assert CumulativeLinkModel(with_one).contrast(1, 0) == CumulativeLinkModel(made).contrast(1, 0)


def test_a_source_that_always_gets_yes_has_no_log_odds() -> None:
    made = read("yes_no_one_premise")

    with pytest.raises(Incomputable, match="no log odds are large enough"):
        CumulativeLinkModel(replace(made, values=np.where(made.source == 1, 100.0, made.values)))


def test_sources_that_no_rater_joins_are_not_compared() -> None:
    made = read("scale_one_premise")
    model = CumulativeLinkModel(replace(made, rater=made.rater + 10 * (made.source == 2)))

    with pytest.raises(Incomputable, match="No rater read both"):
        model.contrast(2, 0)
    assert model.contrast(1, 0).error > 0


@pytest.mark.filterwarnings("error")
def test_whatever_the_design_numbers_make_sense_or_there_is_a_reason() -> None:
    n_fitted = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        made = random_answers(rng)
        values = made.values + np.std(made.values) * rng.normal(size=made.values.size)
        made = replace(
            made, values=np.digitize(values, np.quantile(values, [0.2, 0.4, 0.6, 0.8][: rng.integers(1, 5)]))
        )
        model = value_or_reason(partial(CumulativeLinkModel, made))
        if isinstance(model, Incomputable):
            continue
        n_fitted += 1
        for other in np.unique(made.source)[1:].tolist():
            contrast = value_or_reason(partial(model.contrast, other, int(made.source.min())))
            if isinstance(contrast, LogOdds):
                assert np.isfinite([contrast.value, contrast.error]).all()
                assert contrast.error > 0
                assert 0 <= contrast.p <= 1

    assert n_fitted > 10
