"""Where answers are missing is named with a caution where it is more than chance, and nothing else is."""

from typing import Any

import numpy as np
import pytest

from reports import results
from reports.page.statements import statement_lines
from studies.models import Study
from tests.reports import given

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

RATERS = [f"E0{n}" for n in range(1, 7)]


def answered(study: Study, share_by_source: tuple[float, float]) -> Any:
    """The report of six raters who leave out so much of the stories of the first source, and of the second."""
    rng, shares = np.random.default_rng(4), np.tile(share_by_source, study.stories.count() // 2)
    letters = {r: np.where(rng.random(shares.size) < shares, "-", rng.choice(["y", "n"], shares.size)) for r in RATERS}
    given.verdicts(study, {rater: "".join(row) for rater, row in letters.items()})
    return results.compute(study)


def cautions(document: Any) -> list[str]:
    lines = statement_lines(results.read_results(document))
    return [line.statement.sentence for line in lines if line.key == "missing_answers"]


def test_the_source_whose_answers_are_missing_is_named_and_no_cause() -> None:
    study = given.closed_study(n_groups=12)

    document = answered(study, (0.02, 0.3))

    rows = {row["aspect"]: row for row in document["missing_answers"]["parts"]}
    missing = [row for row in document["missing_answers"]["bounds"] if row["outcome"] == "tests/item-1"]
    n = {row["source"]: row["n_missing"] for row in missing}
    assert rows["source"]["label"] == "Source 2"
    n_begun = document["missing_answers"]["n_readings"] // 2  # of a source
    for name, source in (("percent", "Source 2"), ("others", "Source 1")):
        assert rows["source"][name] == pytest.approx(100 * n[source] / n_begun)
    assert rows["source"]["p_adjusted"] < 0.05 < rows["rater"]["p_adjusted"]
    (sentence,) = cautions(document)
    assert "Source 2" in sentence
    assert not {"because", "due to", "cause"} & set(sentence.split())


def test_of_answers_missing_by_chance_nothing_is_named() -> None:
    document = answered(given.closed_study(n_groups=12), (0.1, 0.1))

    assert {row["aspect"] for row in document["missing_answers"]["parts"]} == {"source", "story", "rater"}
    assert cautions(document) == []


def test_where_nothing_is_missing_nothing_is_said() -> None:
    document = answered(given.closed_study(n_groups=4), (0.0, 0.0))

    assert document["missing_answers"] == {"bounds": [], "n_readings": 48, "parts": []}
    assert cautions(document) == []
