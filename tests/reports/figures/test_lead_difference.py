"""How far the source that a report is headed with is ahead, and whether that is shown."""

from dataclasses import replace

import pytest

from reports.document.values import Interval, Reason
from reports.figures.sources.contrast_rows import ContrastRow, OutcomeContrasts
from reports.figures.sources.headline_words import headline
from reports.figures.sources.lead_difference import lead_difference
from tests.reports.figures.test_headlines import of_kind

SHOWN = ContrastRow(
    first="A",
    second="B",
    value=1.0,
    interval=Interval(low=0.6, high=1.4),
    wide=Interval(low=0.5, high=1.5),
    p_adjusted=0.01,
    p_same_raters_adjusted=0.01,
    n_stories=9,
    n_stories_second=9,
)
NOT_SHOWN = replace(SHOWN, wide=Interval(low=-0.5, high=2.5), p_adjusted=0.4, p_same_raters_adjusted=0.3)
DIFFERENCE = "Stories by A are 1.00 points of the scale ahead of those by B on “Depth”: 95 % interval "


def compared(row: ContrastRow, *values: float) -> OutcomeContrasts:
    return replace(of_kind("rating", *(values or (4, 3))), contrasts=(row,))


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (SHOWN, DIFFERENCE + "0.50 to 1.50. The two are shown to differ."),
        (SHOWN.turned(), DIFFERENCE + "0.50 to 1.50. The two are shown to differ."),
        (NOT_SHOWN, DIFFERENCE + "−0.50 to 2.50. The two are not shown to differ."),
        (replace(SHOWN, n_stories=3), DIFFERENCE + "0.50 to 1.50. Stories are too few to show it."),
        (
            replace(SHOWN, p_adjusted=0.4),
            DIFFERENCE + "0.60 to 1.40. That is shown for these raters alone.",
        ),
        (
            replace(NOT_SHOWN, p_least=0.2),
            DIFFERENCE + "−0.50 to 2.50. With so few groups or stories no difference could be shown, however large.",
        ),
        (replace(NOT_SHOWN, value=0.0), ""),
    ],
)
def test_the_difference_stands_with_its_interval_and_whether_it_is_shown(row: ContrastRow, words: str) -> None:
    assert lead_difference([compared(row)]) == words


def test_of_ranks_the_lower_one_is_ahead() -> None:
    row = replace(SHOWN, first="B", second="A")
    outcome = replace(of_kind("rank", 1.5, 2.5, title="Order"), contrasts=(row,))

    assert lead_difference([outcome]).startswith("Stories by A are 1.00 ranks ahead of those by B on “Order”")


def test_two_that_are_not_compared_leave_the_reason_and_the_head_says_so() -> None:
    row = ContrastRow(first="A", second="B", why=Reason(code="too_few_stories", values={}))
    outcome = compared(row)

    assert lead_difference([outcome])
    assert headline([outcome]).endswith("; whether the two differ could not be tested")


def test_a_head_names_too_few_stories() -> None:
    assert headline([compared(replace(SHOWN, n_stories=3))]).endswith(
        "; stories are too few to show whether the two differ"
    )


def test_a_head_over_several_scales_has_no_difference_on_the_first_of_them() -> None:
    outcomes = [
        replace(compared(SHOWN), title="Depth"),
        *(of_kind("rating", 3, 4, title=title) for title in ("Plot", "Style", "Voice")),
    ]

    assert headline(outcomes).startswith("Stories by B are rated highest on 3 of 4 scales")
    assert lead_difference(outcomes) == ""
    assert lead_difference([replace(outcomes[0], is_primary=True), *outcomes[1:]]).startswith(DIFFERENCE)
