"""The model of sources: what lme4 and lmerTest say, plain means where designs are balanced, what is not estimable."""

import csv
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

from stats.reasons import Incomputable
from stats.source_model import DRAWN, CrossedAnswers, SourceModel

pytestmark = pytest.mark.embedded

FOLDER = Path(__file__).parent / "fixtures" / "source_model"
LME4 = json.loads((FOLDER / "lme4.json").read_text(encoding="utf-8"))


def read(name: str) -> CrossedAnswers:
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    columns = {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}
    return answers(*columns.values())


def answers(values: Any, source: Any, block: Any, rater: Any, story: Any) -> CrossedAnswers:
    labels = (np.asarray(column, dtype=np.int64) for column in (source, block, rater, story))
    return CrossedAnswers(np.asarray(values, dtype=np.float64), *labels)


def crossed(rng: np.random.Generator, *, effects: tuple[float, ...], n_blocks: int, n_raters: int) -> CrossedAnswers:
    """Every rater reads one story of every source in every block."""
    source, block, rater = (a.ravel() for a in np.indices((len(effects), n_blocks, n_raters)))
    story = source * n_blocks + block
    added = rng.normal(0, 0.5, (n_raters, len(effects)))[rater, source] + rng.normal(0, 0.5, story.max() + 1)[story]
    return answers(np.array(effects)[source] + added + rng.normal(0, 0.7, source.size), source, block, rater, story)


@pytest.mark.parametrize("name", LME4)
def test_numbers_are_those_of_lme4_and_lmertest(name: str) -> None:
    said, model = LME4[name], SourceModel(read(name))
    n = len(said["means"])
    means = [model.mean(source, other_raters=True) for source in range(n)]
    contrasts = [model.contrast(source, 0, other_raters=True) for source in range(1, n)]
    joint = model.test_all()

    assert [model.variances[part] for part in (*DRAWN, "residual")] == pytest.approx(
        [said["variances"][part] for part in (*DRAWN, "residual")], rel=1e-4, abs=1e-5
    )
    assert [mean.value for mean in means] == pytest.approx(said["means"], rel=1e-5)
    assert [mean.error for mean in means] == pytest.approx(said["mean_errors"], rel=1e-4)
    assert [contrast.value for contrast in contrasts] == pytest.approx(said["differences"], abs=1e-5)
    assert [contrast.error for contrast in contrasts] == pytest.approx(said["errors"], rel=1e-4)
    assert [contrast.degrees for contrast in contrasts] == pytest.approx(said["degrees"], rel=2e-3)
    assert [joint.f, joint.numerator, joint.denominator] == pytest.approx(said["joint"], rel=5e-3)


@pytest.mark.slow
@pytest.mark.r
def test_the_kept_numbers_are_those_that_r_gives() -> None:
    if (
        not shutil.which("Rscript")
        or subprocess.run(["Rscript", "-e", "library(lmerTest)"], check=False, capture_output=True).returncode
    ):
        pytest.skip("R with lme4 and lmerTest is not there")
    printed = subprocess.run(["Rscript", FOLDER / "lme4.R", FOLDER], check=True, capture_output=True, text=True).stdout

    for name, said in json.loads(printed).items():
        for key, numbers in said.items():
            assert numbers == pytest.approx(LME4[name][key], rel=1e-4), (name, key)


def test_where_all_raters_read_all_stories_means_are_plain_means() -> None:
    made = crossed(np.random.default_rng(3), effects=(0.0, 0.4, 0.9), n_blocks=7, n_raters=4)
    model = SourceModel(made)

    for source in range(3):
        plain = made.values[made.source == source].mean()
        for other_raters in (False, True):
            assert model.mean(source, other_raters=other_raters).value == pytest.approx(plain, abs=1e-12)


def test_with_these_raters_a_difference_is_as_sure_as_over_the_means_of_stories() -> None:
    """Balanced and on one premise, it is Student's t over story means pooled over sources."""
    made = crossed(np.random.default_rng(5), effects=(0.0, 0.3), n_blocks=9, n_raters=6)
    made = answers(made.values, made.source, np.zeros_like(made.block), made.rater, made.story)
    means = [made.values[made.story == story].mean() for story in range(18)]

    student = scipy_stats.ttest_ind(means[9:], means[:9])
    contrast = SourceModel(made).contrast(1, 0, other_raters=False)

    assert contrast.degrees == pytest.approx(16, rel=1e-3)
    assert (contrast.value / contrast.error, contrast.p) == pytest.approx((student.statistic, student.pvalue), rel=1e-3)


@pytest.mark.parametrize("name", LME4)
def test_other_raters_are_never_surer_than_these(name: str) -> None:
    model = SourceModel(read(name))

    these, others = (model.contrast(1, 0, other_raters=other) for other in (False, True))

    assert these.value == pytest.approx(others.value, abs=1e-9)
    assert these.error < others.error


def test_a_source_alone_in_its_blocks_is_not_compared_with_those_that_share_theirs() -> None:
    """Hard premises hold A and B, easy ones A alone: over all stories A is ahead, within premises B is."""
    rng = np.random.default_rng(1)
    rows = [(-2 + 0.8 * source, source, block) for block in range(8) for source in (0, 1)]
    rows += [(2.0, 0, block) for block in range(8, 15)]
    source, block = (np.repeat([row[n] for row in rows], 3) for n in (1, 2))
    values = np.repeat([row[0] for row in rows], 3) + rng.normal(0, 0.3, source.size)
    made = answers(values, source, block, np.tile([0, 1, 2], len(rows)), np.repeat(np.arange(len(rows)), 3))

    model = SourceModel(made)
    contrast = model.contrast(1, 0, other_raters=True)

    assert contrast.value == pytest.approx(0.8, abs=0.3)
    within = [made.values[(made.source == n) & (made.block < 8)].mean() for n in (0, 1)]
    assert [model.mean(n, other_raters=True).value for n in (0, 1)] == pytest.approx(within, abs=1e-6)
    assert made.values[made.source == 0].mean() > made.values[made.source == 1].mean()


def test_sources_whose_raters_or_blocks_nothing_joins_are_not_compared() -> None:
    made = crossed(np.random.default_rng(2), effects=(0.0, 0.0), n_blocks=6, n_raters=4)
    of_two_panels = answers(made.values, made.source, made.block * 0, made.rater + 10 * made.source, made.story)
    in_two_sets = answers(
        np.tile(made.values, 2),
        np.concatenate([made.source, made.source + 2]),
        np.concatenate([made.block, made.block + 6]),
        np.tile(made.rater, 2),
        np.concatenate([made.story, made.story + 12]),
    )

    for model, pair, why in (
        (SourceModel(of_two_panels), (0, 1), "No rater read both"),
        (SourceModel(in_two_sets), (0, 2), "No prompt has stories by both"),
    ):
        assert not model.is_estimable(*pair)
        with pytest.raises(Incomputable, match=why):
            model.contrast(*pair, other_raters=True)
        with pytest.raises(Incomputable):
            model.test_all()
    assert SourceModel(in_two_sets).is_estimable(2, 3)


def test_premises_of_their_own_join_no_sources() -> None:
    """A and B share five premises; A, and C, wrote alone to three each."""
    pairs = [(source, block) for block in range(5) for source in (0, 1)]
    pairs += [(0, block) for block in range(5, 8)] + [(2, block) for block in range(8, 11)]
    source, block = (np.repeat([pair[n] for pair in pairs], 6) for n in (0, 1))
    story = np.repeat(np.arange(len(pairs) * 2), 3)
    values = np.random.default_rng(7).normal(0, 0.5, source.size)
    model = SourceModel(answers(values, source, block, np.tile([0, 1, 2], source.size // 3), story))

    assert [model.is_estimable(*pair) for pair in ((0, 1), (0, 2), (1, 2))] == [True, False, False]
    with pytest.raises(Incomputable, match="No prompt has stories by both"):
        model.mean(2, other_raters=True)


def test_a_chain_of_sources_joins_two_that_nobody_read_together() -> None:
    source = np.repeat([0, 1, 1, 2], 12)
    rater = np.repeat([0, 0, 1, 1], 12) * 3 + np.tile([0, 1, 2], 16)
    story = np.repeat(np.arange(16), 3)
    values = source + np.random.default_rng(4).normal(0, 0.4, source.size)

    assert SourceModel(answers(values, source, source * 0, rater, story)).is_estimable(0, 2)


def test_stories_that_one_rater_each_has_read_are_not_told_from_the_rest() -> None:
    rng = np.random.default_rng(6)
    source = np.tile([0, 1], 30)
    model = SourceModel(answers(rng.normal(size=60), source, source * 0, np.arange(60) % 5, np.arange(60)))

    assert model.not_told == ("story",)
    assert model.variances["story"] == 0


@pytest.mark.parametrize(
    ("n_stories", "step", "why"), [(12, 1.0, "vary"), (12, 0.7, "vary"), (2, 1.0, "no more stories")]
)
def test_answers_that_cannot_tell_how_sure_they_are_are_refused(n_stories: int, step: float, why: str) -> None:
    """Twelve raters who say the same of all stories of a source; or on one story of each."""
    story = np.arange(24) % n_stories
    source = story % 2

    with pytest.raises(Incomputable, match=why):
        SourceModel(answers(3 + step * source, source, source * 0, np.arange(24) // 2, story))


@pytest.mark.parametrize("of_both", [0, 1])
def test_answers_that_raters_alone_explain_are_refused(of_both: int) -> None:
    """Each rater says the same of all stories of a source."""
    source, story, rater = (labels.ravel() for labels in np.indices((2, 4, 3)))
    values = 50 + 25 * source + 20 * rater + of_both * 10 * (rater == 1) * source

    with pytest.raises(Incomputable, match="vary"):
        SourceModel(answers(values, source, source * 0, rater, 4 * source + story))


def test_raters_who_agree_wholly_leave_stories_to_tell_how_sure_it_is() -> None:
    source, story, rater = (labels.ravel() for labels in np.indices((2, 6, 3)))
    means = np.random.default_rng(0).normal(size=12)
    contrast = SourceModel(answers(means[6 * source + story], source, source * 0, rater, 6 * source + story)).contrast(
        1, 0, other_raters=True
    )

    student = scipy_stats.ttest_ind(means[6:], means[:6])
    assert (contrast.p, contrast.degrees) == pytest.approx((student.pvalue, 10), rel=1e-3)


def test_answers_that_are_all_alike_are_refused() -> None:
    source = np.arange(24) % 2

    with pytest.raises(Incomputable, match="vary"):
        SourceModel(answers(source * 0 + 3.1, source, source * 0, np.arange(24) // 8, np.arange(24) // 2))


def test_null_studies_with_raters_who_differ_by_source_find_a_difference_in_one_of_twenty() -> None:
    """With raters held fixed it would be in a third."""
    rng = np.random.default_rng(8)
    models = [SourceModel(crossed(rng, effects=(0.0, 0.0), n_blocks=15, n_raters=6)) for _ in range(150)]

    levels = {
        other: np.mean([model.contrast(1, 0, other_raters=other).p < 0.05 for model in models])
        for other in (True, False)
    }

    assert levels[True] < 0.1
    assert levels[False] > 0.25
