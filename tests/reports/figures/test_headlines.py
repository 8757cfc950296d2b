"""Which source is ahead, as a report is headed with it."""

from dataclasses import replace

import pytest

from reports.document.values import Interval
from reports.figures.sources.contrast_rows import ContrastRow, OutcomeContrasts, SourceLevel
from reports.figures.sources.headline_words import headline
from reports.page import context
from studies.documents.analysis_plan import AnalysisPlan
from tests.reports.figures.test_comparisons import planned_study, read


def of_kind(kind: str, *values: float, title: str = "Depth", is_primary: bool = False) -> OutcomeContrasts:
    """An outcome on which A, B, C and so on have these values."""
    return OutcomeContrasts(
        key=title,
        kind=kind,
        title=title,
        is_percent=kind in ("preference", "verdict"),
        is_lower_better=kind == "rank",
        is_part=False,
        is_primary=is_primary,
        reference="A",
        correction="holm",
        margin=None,
        sources=tuple(SourceLevel(source=name, value=v, n_stories=9) for name, v in zip("ABC", values, strict=False)),
        contrasts=(),
    )


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [
        (
            [of_kind("rating", 3.2, 4.126)],
            "Stories by B are rated highest on “Depth”, 4.13 on average; next are those by A with 3.20",
        ),
        ([of_kind("rating", 4.126, 4.1301, 2)], "B and A are level on “Depth”: each 4.13"),
        (
            [of_kind("preference", 30, 70.4)],
            "Stories by B are chosen most often, 70\xa0%; next are those by A with 30\xa0%",
        ),
        (
            [of_kind("rank", 2.5, 1.5, 2)],
            "Stories by B are ranked best, with a mean rank of 1.50; next are those by C with 2.00",
        ),
        (
            [of_kind("verdict", 25, 50)],
            "Stories by B pass “Depth” most often, 50\xa0%; next are those by A with 25\xa0%",
        ),
        ([of_kind("rating", 3, 4), of_kind("rating", 1, 2)], "Stories by B are rated highest on both scales"),
        (
            [of_kind("rating", 3, 4), of_kind("rating", 1, 2), of_kind("rating", 2, 1), of_kind("rank", 1, 2)],
            "Stories by B are rated highest on 2 of 3 scales",
        ),
        (
            [of_kind("rating", 3, 4), of_kind("rating", 2, 1), of_kind("rating", 1, 1)],
            "A and B each have the highest mean on 2 of 3 scales",
        ),
        (
            [of_kind("rating", 3, 4, is_primary=True), of_kind("rating", 2, 1)],
            "Stories by B are rated highest on “Depth”, 4.00 on average; next are those by A with 3.00",
        ),
    ],
)
def test_a_report_without_tests_is_headed_with_the_source_that_is_ahead(
    outcomes: list[OutcomeContrasts], said: str
) -> None:
    assert headline(outcomes) == said


def told_apart(outcome: OutcomeContrasts) -> OutcomeContrasts:
    """The same with its first two sources clearly apart for other raters."""
    first, second = (level.source for level in outcome.ranked[:2])
    row = ContrastRow(
        first=first,
        second=second,
        value=1.0,
        interval=Interval(low=0.6, high=1.4),
        wide=Interval(low=0.5, high=1.5),
        p_adjusted=0.01,
        p_same_raters_adjusted=0.01,
        n_stories=9,
        n_stories_second=9,
    )
    return replace(outcome, contrasts=(row,))


def test_a_report_on_scales_says_on_how_many_the_first_two_are_told_apart() -> None:
    scales = [of_kind("rating", 3, 4), of_kind("rating", 1, 2), of_kind("rating", 2, 4)]

    some, none = headline([told_apart(scales[0]), *scales[1:]]), headline(scales)

    assert some == "Stories by B are rated highest on all 3 scales; the first two are shown to differ on 1 of them"
    assert none == "Stories by B are rated highest on all 3 scales"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        ("verdicts", "Stories by Source 1 pass 88\xa0% of the tests"),
        ("tests/item-2", "Stories by Source 1 pass “Item 2” most often"),
    ],
)
def test_a_report_is_headed_with_what_the_plan_calls_primary(outcome: str, said: str) -> None:
    study = planned_study(AnalysisPlan(outcome=outcome, reference="Source 1"))

    assert context.headline(read(study)).startswith(said)
