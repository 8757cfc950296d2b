"""The sentences that rules make of contrasts of sources, and what is corrected together before."""

from dataclasses import replace
from typing import Any

import pytest

from reports.document.phrases import plain
from reports.document.values import Interval, Reason
from reports.figures.sources.contrast_families import correct, with_letters
from reports.figures.sources.contrast_rows import ContrastRow, OutcomeContrasts, SourceLevel
from reports.figures.sources.contrast_table import contrast_table
from reports.figures.sources.contrast_words import contrast_statements

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

ROW = ContrastRow(
    first="Ann",
    second="Bob",
    value=12.0,
    first_value=62.0,
    second_value=50.0,
    interval=Interval(low=5.0, high=19.0, n_resampled=9, method="t"),
    wide=Interval(low=4.0, high=20.0, n_resampled=9, method="crossed"),
    p=0.01,
    p_adjusted=0.03,
    p_same_raters=0.01,
    p_same_raters_adjusted=0.02,
    test="t",
    is_paired=True,
    n=9,
    n_stories=9,
    n_stories_second=9,
    n_raters=3,
)
OUTCOME = OutcomeContrasts(
    key="verdicts",
    kind="verdicts",
    title="",
    is_percent=True,
    is_lower_better=False,
    is_part=False,
    is_primary=False,
    reference="Ann",
    correction="holm",
    margin=None,
    sources=(
        SourceLevel(source="Ann", value=62.0, n_stories=9),
        SourceLevel(source="Bob", value=50.0, n_stories=9),
    ),
    contrasts=(ROW,),
)
CROSSING = Interval(low=-4.0, high=20.0, n_resampled=9, method="t")
CROSSED: dict[str, Any] = {
    "interval": CROSSING,
    "wide": CROSSING,
    "p_adjusted": 0.2,
    "p_same_raters_adjusted": 0.2,
}
LIKELY = replace(ROW, p=0.02, p_same_raters=0.02)


def sentence(outcome: OutcomeContrasts = OUTCOME, **row: Any) -> str:
    (statement,) = contrast_statements(replace(outcome, contrasts=(replace(ROW, **row),)), n_outcomes=1)
    return statement.sentence


def test_what_is_clear_of_0_is_said_with_its_direction() -> None:
    assert sentence() == (
        "Stories by Ann pass the tests 12.0 points more often than those by Bob: 62.0 against 50.0 %. "
        "95 % interval 4.0 to 20.0."
    )


def test_what_crosses_0_cannot_be_told_apart_and_is_never_called_equal() -> None:
    said = sentence(**CROSSED)

    assert said == (
        "Stories by Ann and by Bob are not shown to differ: 62.0 against 50.0 %, a difference of 12.0 points. "
        "95 % interval −4.0 to 20.0."
    )
    assert "equal" not in said


def test_what_the_correction_takes_away_is_said_so() -> None:
    assert "are not shown to differ once all comparisons are counted" in sentence(
        p_adjusted=0.07, p_same_raters_adjusted=0.06
    )


def test_what_holds_for_these_raters_alone_is_said_of_them() -> None:
    said = sentence(wide=CROSSING, p_adjusted=0.2)

    assert said == (
        "These 3 raters put stories by Ann 12.0 points above those by Bob: 62.0 against 50.0 %. "
        "95 % interval 5.0 to 19.0. Whether other raters would is not shown."
    )


def test_a_clear_difference_says_how_many_were_looked_at() -> None:
    assert sentence(n_family=6, n_outcomes=10).endswith("Corrected for 6 pairs on 10 outcomes.")
    assert sentence(n_family=6, n_outcomes=10, is_planned=True).endswith("Corrected for 6 pairs, as planned.")


def test_the_order_of_all_sources_is_said_with_letters_of_those_that_are_not_told_apart() -> None:
    sources = (*OUTCOME.sources, SourceLevel(source="Cid", value=41.0, n_stories=9))
    rows = (ROW, replace(ROW, second="Cid", value=21.0), replace(ROW, first="Bob", second="Cid", **CROSSED))
    outcome = with_letters(replace(OUTCOME, sources=sources, contrasts=rows))

    *_others, order = contrast_statements(outcome, n_outcomes=1)

    assert order.sentence == (
        "In order over all tests: Ann 62.0 (a), Bob 50.0 (b), Cid 41.0 (b). Sources that share a letter are not "
        "shown to differ."
    )
    assert [(claim.better, claim.worse) for claim in order.claims] == [("Ann", "Bob"), ("Ann", "Cid")]


def test_four_stories_are_enough_to_be_told_and_their_number_is_said() -> None:
    assert "Of Bob there are only 4 stories." in sentence(n_stories_second=4)


@pytest.mark.parametrize(
    ("n", "n_contrasts", "is_said"),
    [(8, 28, True), (8, 7, True), (8, 6, False), (11, 28, False), (5, 1, True), (6, 1, False)],
)
def test_where_no_difference_could_have_been_told_apart_it_is_said(n: int, n_contrasts: int, is_said: bool) -> None:
    p = 2.0 ** (1 - n)
    signed_rank = replace(ROW, n=n, p=p, p_same_raters=p, test="Wilcoxon signed-rank test")
    rows = (signed_rank,) * n_contrasts

    (outcome,) = correct([replace(OUTCOME, contrasts=rows)])
    first = next(contrast_statements(outcome, n_outcomes=2))

    comparisons = f" and {n_contrasts} comparisons" if n_contrasts > 1 else ""
    words = f"With {n} groups{comparisons} no difference could be shown, however large."
    assert (words in first.sentence) == is_said


def test_a_t_test_reaches_any_p_however_few_the_groups() -> None:
    (outcome,) = correct(
        [replace(OUTCOME, contrasts=(replace(ROW, n=5, p=0.07, p_same_raters=0.07, test="paired t-test"),))]
    )

    assert "however large" not in next(contrast_statements(outcome, n_outcomes=1)).sentence


def test_what_no_test_could_tell_apart_is_not_tested_in_place_of_not_told_apart() -> None:
    row = replace(ROW, n=5, p=0.0625, p_same_raters=0.0625, test="Wilcoxon signed-rank test")

    (outcome,) = correct([replace(OUTCOME, contrasts=(row,))])

    (corrected,) = outcome.contrasts
    assert (corrected.is_not_tested, corrected.is_clear, corrected.p_least) == (True, False, 0.0625)
    said = next(contrast_statements(outcome, n_outcomes=1)).sentence
    assert "was not tested" in said
    assert "shown to differ: " not in said
    assert "It would take 6 groups." in said


def test_a_table_says_not_tested_in_place_of_a_p() -> None:
    (outcome,) = correct([replace(OUTCOME, contrasts=(replace(ROW, n=5, test="Wilcoxon signed-rank test"),))])

    table = contrast_table(outcome.contrasts, 1, about="")

    (row,) = table.rows
    cells = {plain(column.heading): column.cell(row).words for column in table.columns if column.heading}
    assert (cells["p, adjusted"], cells["So they"]) == ("not tested", "were not tested")


@pytest.mark.parametrize(("n", "n_second", "is_said"), [(3, 3, True), (4, 4, False)])
def test_ranks_of_few_stories_are_not_tested(n: int, n_second: int, is_said: bool) -> None:
    row = replace(ROW, n=n, n_second=n_second, is_paired=False, test="Mann-Whitney test")

    (outcome,) = correct([replace(OUTCOME, contrasts=(row,))])

    assert outcome.contrasts[0].is_not_tested is is_said


def test_ten_scales_are_corrected_together_before_any_is_said_to_differ() -> None:
    scales = [
        replace(OUTCOME, key=f"scales/item-{n}", kind="rating", title=f"Scale {n}", contrasts=(LIKELY,))
        for n in range(10)
    ]

    outcomes = list(correct(scales))

    rows = [row for outcome in outcomes for row in outcome.contrasts]
    assert [row.p_adjusted for row in rows] == pytest.approx([0.2] * 10)
    assert {(row.n_family, row.n_outcomes) for row in rows} == {(1, 10)}
    said = [next(contrast_statements(outcome, n_outcomes=10)).sentence for outcome in outcomes]
    assert all("are not shown to differ" in words for words in said)


def test_what_was_planned_is_not_corrected_for_what_was_not() -> None:
    planned = replace(OUTCOME, is_primary=True, contrasts=(replace(LIKELY, is_planned=True),))
    others = [replace(OUTCOME, key=f"scales/item-{n}", contrasts=(LIKELY,)) for n in range(10)]

    first, *_others = correct([planned, *others])

    assert first.contrasts[0].p_adjusted == pytest.approx(0.02)


def test_parts_are_corrected_apart_from_the_whole() -> None:
    parts = [replace(OUTCOME, key=f"part-{n}", is_part=True, contrasts=(LIKELY,)) for n in range(10)]

    whole, part, *_others = correct([replace(OUTCOME, contrasts=(LIKELY,)), *parts])

    assert whole.contrasts[0].p_adjusted == pytest.approx(0.02)
    assert part.contrasts[0].p_adjusted == pytest.approx(0.2)


def test_only_a_planned_margin_makes_sources_equally_good() -> None:
    planned = replace(OUTCOME, margin=25.0, is_primary=True)

    words = sentence(planned, **CROSSED, is_planned=True, is_equivalent=True)

    assert "are equally good within the planned margin of 25.0" in words


def test_under_five_stories_the_sentence_names_their_number() -> None:
    words = sentence(**CROSSED, n_stories_second=3)

    assert words.startswith(
        "There are only 3 stories by Bob, too few to show whether Ann and Bob differ: 62.0 against 50.0 %, a "
        "difference of 12.0 points."
    )


def test_the_interval_is_said_beside_the_difference_that_it_is_of() -> None:
    three = replace(OUTCOME, sources=(*OUTCOME.sources, SourceLevel(source="Cid", value=20.0, n_stories=9)))

    first, *_others = contrast_statements(three, n_outcomes=2)

    assert first.sentence.endswith("62.0 against 50.0 %. 95 % interval 4.0 to 20.0. Bob comes nearest of the 2 others.")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("rating", "on “All”: 62.00 against 50.00, a difference of 12.00 points of the scale."),
        ("rank", "on “All”: mean rank 62.00 against 50.00, a difference of 12.00 ranks."),
    ],
)
def test_values_that_are_not_told_apart_are_said_in_what_they_are_counted(kind: str, words: str) -> None:
    outcome = replace(OUTCOME, kind=kind, title="All", is_percent=False)

    assert words in sentence(outcome, **CROSSED)


def test_an_interval_without_0_over_few_stories_is_not_left_to_contradict_the_sentence() -> None:
    beside, crossing = sentence(p_adjusted=0.2, n_stories_second=3), sentence(**CROSSED, n_stories_second=3)

    assert beside.endswith("95 % interval 4.0 to 20.0. With so few, an interval without 0 is no proof of a difference.")
    assert "no proof" not in crossing


def test_a_smaller_place_is_the_better_one() -> None:
    sources = (
        SourceLevel(source="Ann", value=2.5, n_stories=9),
        SourceLevel(source="Bob", value=1.25, n_stories=9),
    )
    outcome = replace(OUTCOME, kind="rank", title="Order", is_percent=False, is_lower_better=True, sources=sources)

    ends = Interval(low=0.5, high=2.0, n_resampled=9, method="t")
    words = sentence(outcome, value=1.25, first_value=2.5, second_value=1.25, interval=ends, wide=ends)

    assert words == (
        "Stories by Bob are 1.25 ranks above those by Ann: mean rank 1.25 against 2.50. 95 % interval 0.50 to 2.00."
    )


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({}, "the interval is for other stories and other raters; for the same raters it is 5.0 to 19.0"),
        (
            {"wide": CROSSING, "p_adjusted": 0.2},
            "the interval is for other stories read by the same raters; generalising to other raters, it is −4.0 to "
            "20.0",
        ),
        ({"wide": None}, "the interval is for other stories read by the same raters"),
    ],
)
def test_what_an_interval_is_for_stands_below_the_sentence(row: dict[str, Any], said: str) -> None:
    outcome = replace(OUTCOME, contrasts=(replace(ROW, **row),))

    (statement,) = contrast_statements(outcome, n_outcomes=1)

    assert statement.basis == f"9 stories each, in 9 groups; {said}"


@pytest.mark.parametrize(("is_first", "is_planned", "n"), [(True, False, 1), (False, False, 0), (False, True, 1)])
def test_a_contrast_without_a_value_is_told_of_what_is_planned_or_heads_the_report(
    *, is_first: bool, is_planned: bool, n: int
) -> None:
    row = ContrastRow(first="Ann", second="Bob", why=Reason(code="group_too_small", values={}), is_planned=is_planned)

    statements = list(contrast_statements(replace(OUTCOME, contrasts=(row,)), n_outcomes=2, is_first=is_first))

    assert len(statements) == n
