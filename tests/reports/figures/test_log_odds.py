"""The check of contrasts by log odds: of what it is, that it finds nothing alone, and what is said where it doubts."""

from dataclasses import replace

import numpy as np
import pytest

from reports import results
from reports.document.model import Head
from reports.figures import all_figures
from reports.figures.sources.comparisons import ComparisonResult
from reports.figures.sources.contrast_rows import LogOddsCheck, OutcomeContrasts
from reports.page.statements import statement_lines
from stats import log_odds_checks
from stats.cumulative_link import CumulativeLinkModel
from stats.reasons import Incomputable
from stats.source_model import CrossedAnswers
from studies.models import Study
from tests.reports import composed, given
from tests.reports.composed import Composed

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
SOURCES = ("A person", "A model")


def compared(study: Study) -> ComparisonResult:
    result: ComparisonResult = results.read_results(results.compute(study)).figures["comparisons"]
    return result


def answers_by_hand(made: Composed, item: str) -> CrossedAnswers:
    """What was said of one item, in the order of nothing but the answers themselves."""
    rows = [(rater, story, value) for (rater, story, key), value in made.said.items() if key == item]
    raters, stories = sorted({rater for rater, _s, _v in rows}), sorted({story for _r, story, _v in rows})
    return CrossedAnswers(
        values=np.array([float(value) for _rater, _story, value in rows]),
        source=np.array([int(story.endswith("2")) for _rater, story, _value in rows]),
        block=np.array([int(story[1:3]) for _rater, story, _value in rows]),
        rater=np.array([raters.index(rater) for rater, _story, _value in rows]),
        story=np.array([stories.index(story) for _rater, story, _value in rows]),
    )


def with_check(result: ComparisonResult, check: LogOddsCheck) -> tuple[ComparisonResult, OutcomeContrasts]:
    """The result whose first checked outcome has that check and no other."""
    first = next(outcome for outcome in result.outcomes if outcome.checks)
    changed = replace(first, checks=(check,))
    return replace(result, outcomes=tuple(changed if o is first else o for o in result.outcomes)), changed


def text_of(result: ComparisonResult) -> str:
    return "\n".join(all_figures()["comparisons"].lines(result, Head(title="T", sources=SOURCES)))


def test_of_a_scale_the_check_is_the_cumulative_link_model_of_its_answers() -> None:
    made = composed.plant()

    outcomes = {outcome.key: outcome for outcome in compared(made.study).outcomes}

    checked = {key: outcome.checks for key, outcome in outcomes.items() if outcome.checks}
    assert checked.keys() >= {"rubric/item-4"}
    assert {outcomes[key].kind for key in checked} == {"rating"}
    for key, (check,) in checked.items():
        log_odds = CumulativeLinkModel(answers_by_hand(made, key.partition("/")[2])).contrast(
            *(SOURCES.index(source) for source in (check.first, check.second))
        )
        assert check.is_clear
        assert check.value == pytest.approx(log_odds.value, abs=1e-6)
        assert check.p == pytest.approx(log_odds.p, abs=1e-6)
        assert check.interval is not None
        assert check.interval.low == pytest.approx(log_odds.value - 1.959964 * log_odds.error, abs=1e-5)


def test_only_contrasts_that_are_clear_or_planned_are_checked() -> None:
    made = composed.plant(plan="rubric/item-4")

    for outcome in compared(made.study).outcomes:
        expected = [row for row in outcome.contrasts if row.is_clear or row.is_planned]
        expected = expected if outcome.kind == "rating" else []
        assert [(check.first, check.second) for check in outcome.checks] == [
            (row.first, row.second) for row in expected
        ]


def test_no_check_changes_what_is_found() -> None:
    shown = results.read_results(results.compute(composed.plant().study))
    result: ComparisonResult = shown.figures["comparisons"]
    without = replace(result, outcomes=tuple(replace(outcome, checks=()) for outcome in result.outcomes))

    claims = [
        [(line.statement.sentence, line.statement.claims) for line in statement_lines(report)]
        for report in (shown, replace(shown, figures=shown.figures | {"comparisons": without}))
    ]

    assert claims[0] == claims[1]
    assert any(claims_of for _sentence, claims_of in claims[0])


def test_where_the_check_doubts_or_turns_a_clear_difference_it_is_said() -> None:
    result = compared(composed.plant().study)
    check = next(outcome.checks[0] for outcome in result.outcomes if outcome.checks)
    doubted, of_doubted = with_check(result, replace(check, p=0.2))
    turned, _of_turned = with_check(result, replace(check, value=-(check.value or 0)))
    not_clear, _not_clear = with_check(result, replace(check, is_clear=False, p=0.2, value=-(check.value or 0)))
    verdict = replace(of_doubted, kind="verdict")
    of_verdict = replace(doubted, outcomes=tuple(verdict if o is of_doubted else o for o in doubted.outcomes))

    texts = [text_of(part) for part in (result, doubted, turned, not_clear, of_verdict)]

    words = ("does not call this difference clear", "puts the other source ahead")
    assert [[word in text for word in words] for text in texts[:4]] == [
        [False, False],
        [True, False],
        [False, True],
        [False, False],
    ]
    assert "The logistic model does not call" in texts[4]


def test_a_source_that_all_say_yes_to_has_a_reason_and_no_number() -> None:
    study = given.closed_study(n_groups=8)
    given.verdicts(study, {"E01": "yn" * 8, "E02": "yn" * 7 + "yy", "E03": "yn" * 6 + "ynyn"})

    result = compared(study)
    (check,) = [check for outcome in result.outcomes for check in outcome.checks]

    assert check.is_clear
    assert (check.value, check.interval, check.p) == (None, None, None)
    assert check.why is not None
    assert check.why.code == "log_odds_unlimited"
    assert "Not checked by log odds. Source, prompt, rater or story settles nearly every answer" in text_of(result)


def test_more_answers_than_can_be_fitted_in_time_are_left_out_and_the_script_is_named() -> None:
    rng, n = np.random.default_rng(0), log_odds_checks.MOST_ANSWERS
    labels = [rng.integers(0, 4, n) for _column in range(4)]
    answers = CrossedAnswers(rng.integers(0, 2, n).astype(float), *labels)
    one = CrossedAnswers(*(column[:1] for column in (answers.values, *labels)))

    ((first,), nothing, (last,)) = log_odds_checks.check_contrasts(
        [(answers, [(0, 1)]), (answers, []), (one, [(0, 1)])]
    )

    assert nothing == []
    for reason in (first, last):
        assert isinstance(reason, Incomputable)
        assert "at most, here are 3001; ordinal.R and verdicts.R" in str(reason)


def test_a_scale_of_many_steps_is_not_checked() -> None:
    made = np.arange(40.0)
    answers = CrossedAnswers(made, *((made % n).astype(int) for n in (2, 10, 4, 40)))

    (((reason,)),) = log_odds_checks.check_contrasts([(answers, [(0, 1)])])

    assert isinstance(reason, Incomputable)
    assert "at most 11 steps" in str(reason)
