"""Judges against votes, gold labels and published verdicts: what was planted comes out, with and without people."""

from math import sqrt
from pathlib import Path
from typing import Any

import pytest
from scipy import stats as scipy_stats

from annotation.responses import Answer
from reports import results
from reports.dataset import Dataset
from reports.figures import all_figures
from reports.figures.judges.on_standard import StandardResult
from reports.methods.compared_judges import judge_sentences
from studies.models import Provenance, Study
from tests import triggers
from tests.replay import replayed
from tests.reports import given, planted
from tests.reports.given import Row
from tests.reports.labelled import plan_anew, study_of_published, study_with_properties

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

VOTES = {"standard": "the votes", "standard_labels": [["better/item-1", "upvotes"]]}
GOLD = {"standard": "the gold labels", "standard_labels": [["tests/item-1", "gold"]]}
GROUPS = range(1, planted.N_GROUPS + 1)


@pytest.fixture
@replayed
def study() -> Study:
    """A judge without people: it names the story with more votes in nine pairs of twelve, and gives the gold label of
    eighteen stories of twenty-four."""
    made = planted.empty_study()
    rows = []
    for g in GROUPS:
        chosen = f"p{g:02}s{1 + (g > 9)}"
        rows.append(Row("test", "alpha", f"plot{g:02}", "", "better", "item-1", Answer(value=chosen), "model"))
        for n in (1, 2):
            is_yes = (n == 1) ^ (g % 2 == 0 and n == 2)
            answer = given.ANSWERS["y" if is_yes else "n"]
            rows.append(Row("test", "alpha", f"plot{g:02}", f"p{g:02}s{n}", "tests", "item-1", answer, "model"))
    given.bring(made, rows)
    label({f"p{g:02}s{n}": {"upvotes": 30 - n, "gold": "yes" if n == 1 else "no"} for g in GROUPS for n in (1, 2)})
    return made


def label(factors_by_story: dict[str, dict[str, Any]]) -> None:
    with triggers.lifted():
        for code, factors in factors_by_story.items():
            Provenance.objects.filter(story__code=code).update(factors=factors)


def result_of(study: Study) -> StandardResult | None:
    figure = all_figures()["judges_on_standard"]
    return figure.compute(Dataset.of(study))  # type: ignore[no-any-return]


def test_accuracy_against_votes_is_as_planted_with_its_interval(study: Study) -> None:
    result = result_of(plan_anew(study, **VOTES))

    assert result is not None
    (of_pairs,) = result.pairs
    (alpha,) = of_pairs.judges
    (score,) = alpha.scores
    half = scipy_stats.t.ppf(0.975, 11) * sqrt(0.75 * 0.25 * 12 / 11) / sqrt(12)
    assert (score.statistic, score.whole.value, score.whole.n) == ("accuracy", 75.0, 12)
    assert score.whole.interval.low == pytest.approx(100 * (0.75 - half))
    assert score.whole.interval.high == pytest.approx(min(100, 100 * (0.75 + half)))
    assert [(label.kind, label.factor, label.n, label.n_missing) for label in result.labels] == [
        ("pairs", "upvotes", 12, 0)
    ]


def test_agreement_with_gold_labels_is_as_planted(study: Study) -> None:
    result = result_of(plan_anew(study, **GOLD))

    assert result is not None
    (alpha,) = result.verdicts
    assert {score.statistic: score.whole.value for score in alpha.scores} == {
        "percent_agreement": 75.0,
        "balanced_accuracy": 0.75,
        "kappa": 0.5,
    }
    assert (result.labels[0].n, result.labels[0].yes_percent) == (24, 50)


def test_even_votes_and_votes_that_are_missing_prefer_no_story(study: Study) -> None:
    label({"p01s1": {"upvotes": 28}, "p02s1": {}, "p03s2": {"upvotes": "many"}})

    result = result_of(plan_anew(study, **VOTES))

    assert result is not None
    assert [(row.n, row.n_missing, row.n_unreadable) for row in result.labels] == [(9, 3, 1)]
    assert result.pairs[0].judges[0].scores[0].whole.n == 9


@pytest.mark.parametrize(
    ("key", "values", "n", "n_unreadable"),
    [
        ("tests/item-1", ["yes", "No", True, 0, "1", 2, "perhaps"], 5, 2),
        ("scales/item-1", [1, 4.5, "5", 6, "high", "nan"], 3, 3),
        ("author/item-1", ["expert", "AI", "nobody"], 2, 1),
    ],
)
def test_a_label_is_an_answer_to_its_item(study: Study, key: str, values: list[Any], n: int, n_unreadable: int) -> None:
    codes = study.stories.order_by("code").values_list("code", flat=True)
    label({code: {} for code in codes})
    label({code: {"gold": value} for code, value in zip(codes, values, strict=False)})

    result = result_of(plan_anew(study, standard="the gold labels", standard_labels=[[key, "gold"]]))

    assert result is not None
    assert (result.labels[0].n, result.labels[0].n_unreadable) == (n, n_unreadable)


def test_a_report_without_people_names_the_standard_and_has_accuracies(study: Study) -> None:
    planned = plan_anew(study, **VOTES)

    read = results.read_results(results.compute(planned))

    figure, result = next(pair for pair in read.visible if pair[0].key == "judges_on_standard")
    text = "\n".join(figure.lines(result))
    assert "Judges against the votes" in text
    assert "75.0" in text
    assert "no alternative annotator test" in text
    assert {row["judge"] for row in figure.rows(result)["judges-on-standard"]} == {"alpha"}
    sentences = list(judge_sentences({figure.key: result for figure, result in read.visible}))
    assert [sentence for sentence in sentences if "compared" in sentence] == [
        "Judges were compared with the votes, which the analysis plan names as a standard."
    ]


def test_a_study_without_a_standard_says_nothing_of_one(study: Study) -> None:
    assert result_of(study) is None


def test_published_verdicts_count_neither_among_judges_nor_among_people() -> None:
    study = study_of_published()
    dataset = Dataset.of(study)

    document = results.compute(study)

    assert "release" in set(dataset.answers["rater"])
    assert set(dataset.judges["rater"]) == {"alpha", "beta"}
    assert [row["judge"] for row in document["judges"]["compared"]] == ["alpha", "beta"]
    assert [row["judge"] for row in document["judges_on_pairs"]] == ["alpha"]
    assert [row["judge"] for row in document["judges_on_standard"]["verdicts"]] == ["alpha", "beta"]


def test_people_are_no_standard(study: Study) -> None:
    given.bring(study, [Row("test", "E01", "plot01", "p01s1", "tests", "item-1", given.ANSWERS["y"])])

    result = result_of(plan_anew(study, standard="the expert", standard_rater="E01"))

    assert result is not None
    assert result.why is not None
    assert (result.why.code, result.labels) == ("no_labels", ())
    assert set(Dataset.of(study).people["rater"]) == {"E01"}


def test_people_and_metrics_stand_beside_judges_on_pairs(tmp_path: Path) -> None:
    result = result_of(study_with_properties(tmp_path))

    assert result is not None
    assert [(row.who, row.name) for row in result.pairs[0].others] == [
        ("person", ""),
        ("metric", "reward-1"),
        ("longer", ""),
    ]
    assert {kind for kind in ("verdicts", "choices", "scales") if getattr(result, kind)} == {
        "verdicts",
        "choices",
        "scales",
    }


def test_what_is_said_of_judges_beside_people_does_not_change_with_a_standard(study: Study) -> None:
    given.verdicts(study, {"E01": "yn" * 24, "E02": "yy" * 24})
    figures = [all_figures()[key] for key in ("judges", "judges_on_pairs", "agreement", "pass_rates", "human_line")]
    before = [figure.compute(Dataset.of(study)) for figure in figures]

    planned = plan_anew(study, **GOLD)

    assert [figure.compute(Dataset.of(planned)) for figure in figures] == before
