"""Sources that few of many groups hold together: compared within those groups, whatever one of them got elsewhere."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

from reports import results
from reports.document.model import Head, TextBlock
from studies.models import Provenance, Study
from tests import triggers
from tests.independent.comparison import recomputed
from tests.reports import given
from tests.reports.figures.test_comparisons import comparisons, read, sentences
from tests.reports.test_packages import issued

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

# Of the groups that hold both, three items of the first story and three of the second, which is better.
BOTH = ["nnnynn", "nnnyny", "ynnyyn", "nnnnyn", "nnnnyy", "nnynyy"]
ALONE = "yyy---"  # the first alone, on an easy prompt
N_GROUPS = 16


@pytest.fixture
def study() -> Study:
    return minority_study(BOTH)


def minority_study(both: list[str]) -> Study:
    """Sixteen groups, of which so few hold both sources."""
    study = given.closed_study(n_groups=N_GROUPS, n_items=3)
    letters = "".join(both) + ALONE * (N_GROUPS - len(both))
    given.verdicts(study, {"E01": letters, "E02": letters})
    return study


def changes() -> Any:
    return np.array([100 * (word[:3].count("y") - word[3:].count("y")) / 3 for word in BOTH])


def test_six_of_sixteen_groups_that_hold_both_sources_decide(study: Study) -> None:
    (row,) = comparisons(study)["outcomes"][0]["contrasts"]

    assert (row["n_blocks"], row["n_left_out"]) == (6, 10)
    assert row["value"] == pytest.approx(changes().mean())
    assert row["p"] == pytest.approx(scipy_stats.ttest_1samp(changes(), 0).pvalue)


def test_what_a_source_got_in_groups_of_its_own_puts_it_ahead_in_no_finding(study: Study) -> None:
    assert not any(words.startswith("Stories by Source 1 pass") for words in sentences(study))


def test_so_do_five_of_them() -> None:
    (row,) = comparisons(minority_study(BOTH[:5]))["outcomes"][0]["contrasts"]

    assert (row["n_blocks"], row["n_left_out"]) == (5, 11)
    assert row["value"] == pytest.approx(changes()[:5].mean())


def test_the_page_says_that_groups_with_one_of_the_two_say_nothing(study: Study) -> None:
    figure, result = next(pair for pair in read(study).visible if pair[0].key == "comparisons")

    (section,) = figure.describe(result, Head())

    notes = [note.words for note in section.margin if isinstance(note, TextBlock)]
    assert not [words for words in notes if "each holds stories of both" in words]
    assert [words for words in notes if "in groups of its own says nothing" in words]


def test_two_levels_of_a_property_are_compared_within_the_groups_that_hold_both(study: Study) -> None:
    with triggers.lifted():
        for row in Provenance.objects.filter(story__study=study).select_related("story"):
            row.factors = {"length": "long" if row.story.code.endswith("s1") else "short"}
            row.save()

    (outcome,) = (row for row in results.compute(study)["factors"] if row["key"] == "verdicts")

    (contrast,) = outcome["contrasts"]
    assert contrast["n_blocks"] == 6
    assert contrast["value"] == pytest.approx(changes().mean())


def test_the_script_of_the_package_compares_within_the_same_groups(study: Study, tmp_path: Path) -> None:
    _package, archive = issued(study, with_sources=True, reason="To hold the script against the report")

    script = recomputed(archive, tmp_path)

    (row,) = json.loads(archive.read("report.json"))["comparisons"]["outcomes"][0]["contrasts"]
    assert row["n_blocks"] == 6
    assert script["differences"] == []
