"""What is said of a judge's biases: one sentence for each that holds after the correction, and none for others."""

from dataclasses import replace

import pytest

from reports.document.values import Interval, IntervalEstimate
from reports.figures.judges import bias_claims
from reports.figures.judges.biases import Bias, correct

ENDS = Interval(low=0.1, high=0.3, n_resampled=12, method="crossed")
FAMILY = Bias(
    judge="Judge <1>",
    bias="own_family",
    kind="verdicts",
    value=0.2,
    people=0.1,
    interval=ENDS,
    n=8,
    n_beside=16,
    at_equal_ratings=IntervalEstimate(value=0.25, interval=ENDS),
    p=0.02,
)
LENGTH = replace(FAMILY, bias="verbosity", kind="scales", value=-0.2, interval=Interval(low=-0.3, high=-0.1), p=0.4)


def sentences(*rows: Bias) -> list[str]:
    return [str(block.words) for block in bias_claims.claims(correct(rows))]


def test_of_length_nothing_is_said_where_more_words_in_the_same_stories_were_tried() -> None:
    length = replace(LENGTH, p=0.001)

    assert sum("twice as long" in sentence for sentence in sentences(length)) == 1
    said = sentences(replace(length, interventions=("padding",)))
    assert not any("twice as long" in sentence for sentence in said)
    assert len(said) == 1, "nor is it counted among what is shown"
    assert said[0] == (
        "Of length nothing is said here of Judge &lt;1&gt; (scales): more words in the same stories were tried, and "
        "what that did stands under <strong>Interventions on the stories</strong>."
    )


def test_what_holds_is_said_with_its_size_its_interval_and_how_many_stories() -> None:
    said = sentences(FAMILY)

    assert said == [
        "On verdicts: <strong>Judge &lt;1&gt;</strong> says Yes 20.0 percentage points more often to its own family’s "
        "stories than to other models’ stories that are worth as much to people (10.0 to 30.0; 8 stories beside 16).",
        "Shown after Holm’s correction over all that were tested: 1 of 1. A bias that is not shown may still be there.",
    ]


def test_a_judge_that_gives_less_for_length_is_said_to_give_less() -> None:
    assert (
        "On scales: <strong>Judge &lt;1&gt;</strong> gives a story twice as long 0.20 less than one worth"
        in sentences(replace(LENGTH, p=0.001))[0]
    )


@pytest.mark.parametrize("others", [[LENGTH] * 2, [LENGTH] * 5])
def test_what_does_not_hold_once_all_judges_are_counted_is_not_said(others: list[Bias]) -> None:
    n = 1 + len(others)

    assert sentences(FAMILY, *others) == [
        f"Shown after Holm’s correction over all that were tested: 0 of {n}. A bias that is not shown may still be "
        "there."
    ]


def test_nothing_is_said_where_nothing_could_be_tested() -> None:
    assert sentences(replace(FAMILY, value=0.0, p=None)) == []
